r"""Drawing: choosing the edges of one relation and storing them.

.. math:: t = e\,t_e + e_c\,t_c + \max(0,\ e - L/b_e)\,t_f

A list of at most ``fanout`` neighbors is kept as it is; from a longer one ``fanout`` neighbors are chosen at random,
``e_c`` of the edges in all, which costs ``t_c`` each on top.

Edges are appended to arrays that grow. Up to ``heap_limit`` the allocator reuses pages of its heap; what grows beyond
maps fresh pages, and each faults at first touch (glibc's dynamic mmap threshold ends at 32 MiB, malloc.c
DEFAULT_MMAP_THRESHOLD_MAX): 4.19 million 8-byte entries.

Worked number: 5,194,304 edges with 8-byte entries, a million beyond 32 MiB, take 0.3 s at 0.3 us for a fresh edge.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(edges, chosen, per_edge, per_choice, per_fresh_edge, limit, entry) = symbols(
    "sampled_edges chosen_edges time_per_edge time_per_choice time_per_fresh_edge heap_limit edge_entry"
)

PHASE = Phase(
    name="drawing",
    result="drawing_time",
    unit="s",
    expression=edges * per_edge + chosen * per_choice + sympy.Max(0, edges - limit / entry) * per_fresh_edge,
    meaning="draw one relation's edges and store them",
    source="glibc_malloc",
    assumption="one array an end, grown by doubling",
    regimes=(Condition(edges * entry > limit, "the edge arrays outgrow the heap and fault in fresh pages"),),
)
