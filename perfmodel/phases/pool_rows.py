r"""Rows of a snapshot, for the host's pool.

.. math:: n = V

Worked number: one row for each of 37.3 million nodes.
"""

from perfmodel.phases._base import Phase, symbols

(nodes,) = symbols("snapshot_nodes")

PHASE = Phase(
    name="pool_rows",
    result="cache_rows",
    unit="",
    expression=nodes,
    meaning="rows of a snapshot that the host may keep",
    source="mdgnn2026",
)
