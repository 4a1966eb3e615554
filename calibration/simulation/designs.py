"""Random machines and loads over broad ranges, each with what the simulation makes of it: closed forms are held against them.

Same count and seed, same design and results, to the last bit.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from calibration.simulation.cache import Counts, SlidingWindow, lru, pinned
from calibration.simulation.flash import Flash, Load, Loop, batch_time, closed_loop
from calibration.simulation.recurrent_chain import Chain, Timeline, makespan
from calibration.simulation.switch import Completion, Switch, Traffic, completion

Setting = TypeVar("Setting")
Outcome = TypeVar("Outcome")


@dataclasses.dataclass(frozen=True)
class Case(Generic[Setting, Outcome]):
    """A machine with its load, and the simulated result."""

    setting: Setting
    outcome: Outcome


class _Draw:
    """Draws from ranges, by a seed."""

    def __init__(self, *seed: int) -> None:
        self._random = np.random.default_rng(list(seed))

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self._random.integers(len(choices)))]

    def between(self, low: float, high: float) -> float:
        """Draw evenly in the logarithm, to three digits."""
        return float(f"{np.exp(self._random.uniform(np.log(low), np.log(high))):.3g}")

    def whole(self, low: float, high: float) -> int:
        return round(self.between(low, high))


def _flash(draw: _Draw, **fixed: Any) -> Flash:
    return Flash(
        **{
            "channels": draw.one((2, 4, 8, 16, 32)),
            "packages": draw.one((1, 2, 4)),
            "dies": draw.one((1, 2, 4)),
            "planes": draw.one((1, 2, 4)),
            "page": draw.one((4096.0, 8192.0, 16384.0)),
            "array_read": draw.between(3e-6, 80e-6),
            "array_program": draw.between(80e-6, 800e-6),
            "channel_bandwidth": draw.between(2e8, 2.4e9),
            "firmware_cores": draw.one((1, 2, 4, 8)),
            "firmware_time": draw.one((0.0, draw.between(2e-7, 5e-6))),
            "stack_time": draw.one((0.0, 10e-6)),
            "independent_planes": draw.one((True, False)),
            **fixed,
        }
    )


@functools.cache
def flash_reads(count: int = 48, seed: int = 0) -> list[Case[tuple[Flash, Load], Loop]]:
    """Return random reads at depths from one to a multiple of the units, of whole pages and of parts."""
    draw = _Draw(seed, 1)
    cases = []
    for number in range(count):
        flash = _flash(draw, cache_register=draw.one((False, True)))
        transfer = flash.page * draw.one((1.0, 1.0, 0.5, 0.125, 0.03125))
        load = Load(draw.whole(1, 1024), transfer)
        cases.append(Case((flash, load), closed_loop(flash, load, 4000, seed=number)))
    return cases


@functools.cache
def flash_writes(count: int = 40, seed: int = 0) -> list[Case[tuple[Flash, Load], Loop]]:
    """Return striped writes alone, and with reads between them."""
    draw = _Draw(seed, 2)
    cases = []
    for number in range(count):
        flash = _flash(draw)
        load = Load(draw.whole(1, 512), write_share=draw.one((1.0, 1.0, 0.1, 0.3, 0.5)))
        cases.append(Case((flash, load), closed_loop(flash, load, 4000, seed=number)))
    return cases


@functools.cache
def flash_batches(count: int = 40, seed: int = 0) -> list[Case[tuple[Flash, tuple[int, ...], int, bool], float]]:
    """Return the reads of mini-batches, with hops that wait for one another and with hops that don't."""
    draw = _Draw(seed, 3)
    cases = []
    for number in range(count):
        flash = _flash(draw)
        targets, fanouts = draw.one((16, 64, 128)), draw.one(((2,), (5,), (2, 3), (3, 3), (10,), (2, 2, 2)))
        hops = tuple(targets * int(np.prod(fanouts[:hop])) for hop in range(len(fanouts) + 1))
        setting = flash, hops, draw.whole(1, 512), draw.one((True, False))
        cases.append(Case(setting, batch_time(flash, hops, setting[2], setting[3], seed=number)))
    return cases


@functools.cache
def switch_traffic(count: int = 48, seed: int = 0) -> list[Case[tuple[Switch, Traffic], Completion]]:
    """Return every pattern through a switch and over a shared uplink."""
    draw = _Draw(seed, 4)
    cases = []
    for _ in range(count):
        link = draw.between(2e9, 3.2e10)
        switch = Switch(
            devices=draw.one((2, 3, 4, 8, 16)),
            link_bandwidth=link,
            host_bandwidth=link * draw.one((0.5, 1.0, 2.0, 4.0)),
            hop_latency=draw.between(1e-7, 1e-6),
            message_time=draw.one((0.0, draw.between(1e-7, 1e-5))),
            topology=draw.one(("switch", "switch", "shared-uplink")),
        )
        pattern = draw.one(("chain", "all-to-one", "host-reads"))
        traffic = Traffic(pattern, draw.between(64, 4e6), draw.one((1, 4, 16)), draw.one((1, 4, 16)))
        cases.append(Case((switch, traffic), completion(switch, traffic)))
    return cases


@functools.cache
def recurrent_chains(count: int = 60, seed: int = 0) -> list[Case[Chain, Timeline]]:
    """Return frames on one device and on many, from graph-bound to exchange-bound."""
    draw = _Draw(seed, 5)
    cases = []
    for _ in range(count):
        devices = draw.one((1, 2, 3, 4, 6, 8, 16))
        cell, graph = draw.between(2e-6, 2e-3), draw.between(5e-5, 5e-3)
        chain = Chain(
            snapshots=devices * draw.one((1, 2, 3)) + draw.one((0, 0, 1)),
            devices=devices,
            layers=draw.one((1, 2, 4, 8, 16)),
            distribution=draw.one(("round-robin", "blocks")),
            gnn_time=graph,
            backward_gnn_time=graph * draw.one((1.0, 2.0)),
            cell_time=cell,
            backward_cell_time=cell * draw.one((1.0, 2.0)),
            exchange=draw.one(("host", "peer")),
            messages=draw.one((1, 4, 16, 64)),
            message_bytes=draw.between(12, 65536),
            software_time=draw.between(1e-6, 2e-5),
            link_bandwidth=draw.between(2e9, 3.2e10),
            link_latency=draw.between(2e-7, 2e-6),
            peer_message_time=draw.between(5e-8, 2e-6),
            doorbell_time=draw.between(1e-7, 5e-6),
            order=draw.one(("wavefront", "wavefront", "serial")),
            gnn_first=draw.one((True, True, False)),
        )
        cases.append(Case(chain, makespan(chain)))
    return cases


@functools.cache
def cache_windows(count: int = 60, seed: int = 0) -> list[Case[tuple[SlidingWindow, str, int], Counts]]:
    """Return scans and skewed draws through caches from a tenth of the window's footprint to more than all of it."""
    draw = _Draw(seed, 6)
    policies: dict[str, Callable[..., Counts]] = {"lru": lru, "pinned": pinned}
    cases = []
    for number in range(count):
        window, items = draw.one((2, 3, 4, 6, 8)), draw.whole(200, 1500)
        scanned = draw.one((True, False, False))
        trace = SlidingWindow(
            snapshots=window + 12,
            window=window,
            items=items,
            draws=None if scanned else draw.whole(0.3 * items, 3 * items),
            skew=0.0 if scanned else draw.one((0.0, 0.6, 0.8, 1.0, 1.2)),
            shared=draw.one((0.0, 0.0, 0.2, 0.5, 0.9)),
        )
        policy, capacity = draw.one(("lru", "pinned")), draw.whole(0.1 * window * items, 1.3 * window * items)
        counts = policies[policy](trace.visits(number), capacity, skip=3)
        cases.append(Case((trace, policy, capacity), counts))
    return cases
