r"""Loss, update and dispatch of a frame's snapshots.

.. math:: t = z\,t_o

Worked number: 0.25 snapshots of 0.5 ms each are 125 us.
"""

from perfmodel.phases._base import Phase, symbols

(turns, each) = symbols("device_turns time_per_snapshot")

PHASE = Phase(
    name="snapshot_overhead",
    result="overhead_time",
    unit="s",
    expression=turns * each,
    meaning="loss, update and dispatch",
    source="mdgnn2026",
)
