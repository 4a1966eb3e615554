r"""Graph work of a frame on the busiest device.

.. math:: t = z\,t_g

Worked number: 0.25 snapshots of 1.3 ms each are 0.33 ms.
"""

from perfmodel.phases._base import Phase, symbols

(turns, snapshot) = symbols("device_turns snapshot_time")

PHASE = Phase(
    name="graph_work",
    result="graph_work_time",
    unit="s",
    expression=turns * snapshot,
    meaning="sampling and graph layers of a frame",
    source="mdgnn2026",
)
