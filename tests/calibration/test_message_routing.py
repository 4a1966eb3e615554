"""The message-routing engine: every message arrives exactly once, and a run that can't go on says why."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.pipeline.message_routing.agent import RoutingAgent
from calibration.pipeline.message_routing.application import Emitter


@settings(deadline=None, max_examples=60)
@given(
    messages=st.integers(1, 300),
    words=st.integers(1, 12),
    partners=st.integers(1, 40),
    bins=st.sampled_from([1, 2, 64, 1024]),
    gathered=st.integers(1, 200),
    buffers=st.integers(0, 25),
    seed=st.integers(0, 5),
)
def test_every_message_arrives_exactly_once(
    messages: int, words: int, partners: int, bins: int, gathered: int, buffers: int, seed: int
) -> None:
    emit = Emitter(messages, words, partners * bins, seed)
    agent = RoutingAgent(messages, words, partners, bins, gathered)
    buffer = np.zeros((messages, words), np.uint64)
    sent = []
    for _ in range(buffers):
        emit(buffer)
        sent.append(buffer.copy())
        agent.route(buffer)
        buffer[:] = 0  # it may be overwritten once it is routed
    agent.flush()
    assert agent.partners.ledger.differs(emit.expected()) == ""
    everything = np.concatenate([np.zeros((0, words), np.uint64), *sent])
    counted = np.bincount((everything[:, 0] & np.uint64(0xFFFFFFFF)).astype(int), minlength=partners * bins)
    assert np.array_equal(agent.partners.ledger.histogram, counted)
