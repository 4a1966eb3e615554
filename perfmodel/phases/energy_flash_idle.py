r"""Energy of flash that waits, and of the dies' sampling logic while reads go on.

.. math:: E = N \left(C P_I\,T + D P_S\,t_F\right)

Worked number: 16 channels at 16.5 mW and 128 dies at 5.23 mW: 0.26 W all the time and 0.67 W while reading.
"""

from perfmodel.phases._base import Phase, symbols

(devices, channels, packages, dies, idle, sampler, total, flash) = symbols(
    "devices channels packages dies idle_power sampler_power total_time flash_time"
)

PHASE = Phase(
    name="energy_flash_idle",
    result="idle_energy",
    unit="J",
    expression=devices * channels * (idle * total + packages * dies * sampler * flash),
    meaning="flash that waits, and samples",
    source="mdgnn2026",
)
