"""What several phases of message routing need: bytes, buffers, next hops, and how often a message is routed.

With ``N`` nodes and locality ``l`` the share ``f = 1 - l/N`` of the messages leaves its node. A message over ``h`` hops is
sorted once at its source and once at each of the ``h - 1`` nodes between, and delivered once at its target. With ``h``
hops nodes form a grid of ``h`` dimensions, so that an agent has ``N**(1/h)`` next hops, its own node among them.
"""

import sympy

from perfmodel.phases._base import symbols

(_messages, _size, _nodes, _hops, _locality, _buffer) = symbols(
    "messages message_size cluster_nodes hops locality buffer_size"
)

volume = _messages * _size  # bytes that a process sends in a run
filled = volume / _buffer  # buffers that they fill
remote = sympy.Max(1 - _locality / _nodes, 0)
sorted_times = 1 + (_hops - 1) * remote
next_hops = _nodes ** (1 / _hops)
