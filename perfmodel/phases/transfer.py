r"""Chunk/ACK overhead: sending one tensor in chunks, each acknowledged, with a window of chunks in flight.

A full chunk takes ``a = c (t_v + 1/B_s) + t_c`` at the sender, ``b = (c + h)/B`` on the wire, ``r`` at the receiver (its
share of the aggregation) and ``L = 2 l + t_a`` until its acknowledgement is back: a round of ``T = a + b + r + L``. The
``m`` full chunks before the last go out in rounds, one for each memory node, at the pace ``s = max(a, b, D r)`` of the
slowest; whenever a node has ``w`` chunks out it waits for the rest of the round, ``X = T - w s``. The last chunk, smaller
(``a'``, ``b'``, ``r'``), is received after the chunk before it and after it has crossed the wire itself:

.. math:: t = t_p + L + r' + \max(R_{m-1},\ b' + \max(R_{m-D} - r,\ A)), \quad
          R_i = a + b + r + \lfloor i/D \rfloor s + (i \bmod D)\,r + \lfloor \lfloor i/D \rfloor / w \rfloor X^+

with ``A`` when the sender is done with it. A window of one is stop-and-wait: all that each chunk takes, added up.

Worked number: 10 chunks of 1 MB at 1 GB/s with 1 ms for each acknowledgement take 20 ms with a window of 1 and 11 ms
with a window of 2, when copies and headers are free.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(tensor_bytes, chunk, window, devices) = symbols("tensor_bytes chunk window devices")
(bandwidth, latency, header, chunk_time, acknowledgement, packet_time) = symbols(
    "link_bandwidth link_latency header_bytes chunk_time acknowledgement_time packet_time"
)
(conversion, sender_copy, aggregation) = symbols("conversion_time sender_copy_bandwidth aggregation_time")

before = sympy.Max(sympy.ceiling(tensor_bytes / chunk), 1) - 1
full = sympy.Min(chunk, tensor_bytes)
last = tensor_bytes - before * chunk
per_byte = aggregation / sympy.Max(tensor_bytes, chunk)  # of a full chunk; the last has what is left

sender, last_sender = (size * conversion + size / sender_copy + chunk_time for size in (full, last))
wire, last_wire = ((size + header) / bandwidth for size in (full, last))
receiver = per_byte * chunk
last_receiver = aggregation - before * receiver
waiting = 2 * latency + acknowledgement
cycle = sender + wire + receiver + waiting
pace = sympy.Max(sender, wire, devices * receiver)
stall = cycle - window * pace


def received(number: sympy.Expr) -> sympy.Expr:
    """Return when the receiver is done with a full chunk."""
    rounds = sympy.floor(number / devices)
    beside = number - rounds * devices
    waits = sympy.floor(rounds / window) * sympy.Max(stall, 0)
    return sender + wire + receiver + rounds * pace + beside * receiver + waits


rounds = sympy.floor(before / devices)
beside = before - rounds * devices
acknowledged = (
    rounds * pace + beside * receiver + sympy.floor(rounds / window) * sympy.Max(stall, 0) + sympy.Min(stall, 0)
)
sent = last_sender + sympy.Max(rounds * sender, sympy.Piecewise((acknowledged, rounds >= window), (0, True)))
arrived = last_wire + sympy.Max(received(before - devices) - receiver, sent)

PHASE = Phase(
    name="transfer",
    result="transfer_time",
    unit="s",
    expression=sympy.Piecewise(
        (packet_time + waiting + last_receiver + sympy.Max(received(before - 1), arrived), tensor_bytes > 0), (0, True)
    ),
    meaning="send the mini-batch's tensors chunk by chunk",
    source="lgnnic2026",
    assumption="in-order chunks, none lost; every memory node has its own link; the receiver's work is even along a tensor",
    regimes=(
        Condition(stall >= 0, "waiting for acknowledgements sets the pace"),
        Condition((stall < 0) & (wire >= sympy.Max(sender, devices * receiver)), "the link's bandwidth sets the pace"),
        Condition((stall < 0) & (sender >= sympy.Max(wire, devices * receiver)), "the sender's copies set the pace"),
        Condition((stall < 0) & (devices * receiver >= sympy.Max(sender, wire)), "the receiver's copies set the pace"),
    ),
)
