r"""Chunk/ACK overhead: sending one tensor in chunks, each acknowledged, with a window of chunks in flight.

With ``n = ceil(V / c)`` chunks, the sender, the wire and the receiver each have a total to do, and one chunk's round
(through all three and back with its acknowledgement) takes ``C / n``:

.. math:: S = V\,t_v + V/B_s + n\,t_c,\quad W = (V + n h)/B,\quad R = t_{agg},\quad C = S + W + R + n (2 l + t_a)

.. math:: t = t_p + \frac{C}{n} + \frac{n - 1}{n} \max\!\left(S, W, R, \frac{C}{w}\right)

The first chunk passes alone; the others follow at the pace of the slowest of sender, wire, receiver and window. A window
of one is stop-and-wait and gives ``C``, whatever the bandwidth.

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

chunks = sympy.Max(sympy.ceiling(tensor_bytes / chunk), 1)
in_flight = window * devices
sender = (tensor_bytes * conversion + tensor_bytes / sender_copy + chunks * chunk_time) / devices
wire = (tensor_bytes + chunks * header) / (bandwidth * devices)
receiver = aggregation
cycle = (sender + wire) * devices + receiver + chunks * (2 * latency + acknowledgement)
pace = sympy.Max(sender, wire, receiver, cycle / in_flight)

PHASE = Phase(
    name="transfer",
    result="transfer_time",
    unit="s",
    expression=sympy.Piecewise(
        (packet_time + cycle / chunks + (chunks - 1) / chunks * pace, tensor_bytes > 0), (0, True)
    ),
    meaning="send the mini-batch's tensors chunk by chunk",
    source="lgnnic2026",
    assumption="in-order chunks, none lost; every memory node has its own link",
    valid_when=(Condition(window <= chunks, "the window is larger than the tensor has chunks"),),
    regimes=(
        Condition(cycle / in_flight >= sympy.Max(sender, wire, receiver), "waiting for acknowledgements sets the pace"),
        Condition(wire >= sympy.Max(sender, receiver, cycle / in_flight), "the link's bandwidth sets the pace"),
        Condition(sender >= sympy.Max(wire, receiver, cycle / in_flight), "the sender's copies set the pace"),
        Condition(receiver >= sympy.Max(sender, wire, cycle / in_flight), "the receiver's copies set the pace"),
    ),
)
