r"""Renaming: giving each new node of one type its place in the mini-batch.

.. math:: t = n \left(t_n + t_m\,(1 - (1 - d) \min(1,\ L/T))\right),
          \quad T = b_a N \text{ where } N < N_a,\ b_h n \text{ elsewhere}

A sampler looks every drawn neighbor up in a table of the nodes it has. Here, for types of fewer than a million nodes the
table is an array over the graph (8 bytes a node), above it a hash map of the mini-batch (17 bytes a slot, half full), as
pyg-lib's ``csrc/sampler/cpu/mapper.h`` has it. Versions differ in when they take the array (newer ones nearly always,
torch-sparse never), and which one a system ran is rarely said: ``array_nodes`` is an assumption. What of
the table lies beyond the last cache level, or was displaced from it (``d``), costs a trip to memory.

Worked number: 100,000 nodes of 900,000 (an array of 7.2 MB) over a cache of 3.6 MB take 0.3 s at 2 us a node
and 2 us a miss.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols
from perfmodel.phases._displaced import kept

(nodes, all_nodes, per_node, per_miss, cache) = symbols("sampled_nodes all_nodes time_per_node time_per_miss cache")
(array_entry, array_nodes, hash_slot) = symbols("array_entry array_nodes hash_slot")

is_array = all_nodes < array_nodes
table = sympy.Piecewise((array_entry * all_nodes, is_array), (hash_slot * nodes, True))
cached = sympy.Piecewise((nodes * cache / (array_entry * all_nodes), is_array), (cache / hash_slot, True))
kept_share = kept()

PHASE = Phase(
    name="renaming",
    result="renaming_time",
    unit="s",
    expression=nodes * per_node + (nodes - kept_share * sympy.Min(nodes, cached)) * per_miss,
    meaning="enter one type's new nodes into the renaming table",
    source="pyglib_mapper",
    assumption="the table is reached at random; the cache holds nothing else",
    regimes=(Condition(table > cache, "the renaming table outgrows the last cache level"),),
)
