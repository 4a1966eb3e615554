r"""DRAM loads of an agent with direct cache access: of what arrives in the cache, what is pushed out before it is routed.

Arriving lines replace others in the share ``K`` of the cache that they may go into. Until a line is routed, the ``u`` bytes
that arrive after it each push out a random one, so that it is gone with probability

.. math:: e = 1 - e^{-u/K}, \quad L = P\,V\,(g + f)\,e

While the application sets the pace, ``u`` is the one buffer just handed over; when the agent does, all ``P w`` buffers of the
processes' rings wait.

Worked number: one buffer of 8 KiB and 5.12 MB of cache: 0.16 % is loaded from memory, 1 in 625.
"""

import sympy
from sympy.codegen.cfunctions import expm1

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._messages import remote, sorted_times, volume

(processes, ring, size, cache) = symbols("processes ring_buffers buffer_size direct_cache")
(work, emission, handing_over, routing) = symbols(
    "memory_work_time emission_time handing_over_time offloaded_routing_time"
)

application = work + emission + handing_over
waiting = sympy.Piecewise((processes * ring, routing > application), (1, True))
escaping_share = -expm1(-waiting * size / cache)

PHASE = Phase(
    name="agent_loads_direct",
    result="agent_loads",
    unit="B",
    expression=processes * volume * (sorted_times + remote) * escaping_share,
    meaning="load from memory what the cache could not keep until it was routed",
    source="ddio",
    assumption="replacement within the share for arriving data is random",
    regimes=(Condition(routing > application, "the routing threads set the pace: full rings wait in the cache"),),
)
