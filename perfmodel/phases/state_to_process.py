r"""A state from process to process over a pipe, whose receiver sleeps until it comes.

.. math:: t = (1 - q)\,w(c) + q\,w(c'), \quad w = t_w + m\,t_m + b\,t_b, \quad
          q = \begin{cases} 1 & K = 1 \\ 1/N & K \mid N - 1 \\ 0 & \text{else} \end{cases}

``N`` processes take turns on ``K`` cores: neighbors lie on other cores, but for the last and the first where ``N - 1`` is a
multiple of ``K``.

Worked number: 3 processes on 2 cores: one way of three stays on its core; 60 us there and 30 us beside it are 50 us.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._processes import cores, devices, messages, state

(wake, each, byte) = symbols("wake_time way_message_time way_byte_time")
(near_wake, near_each, near_byte) = symbols("near_wake_time near_message_time near_byte_time")
same = sympy.Piecewise(
    (1, cores <= 1), (1 / devices, sympy.Eq(sympy.floor((devices - 1) / cores) * cores, devices - 1)), (0, True)
)
across = wake + messages * each + state * byte
near = near_wake + messages * near_each + state * near_byte

PHASE = Phase(
    name="state_to_process",
    result="exchange_time",
    unit="s",
    expression=(1 - same) * across + same * near,
    meaning="a state straight to the next snapshot's process",
    source="mdgnn2026",
    assumption="processes are bound to cores in turn",
)
