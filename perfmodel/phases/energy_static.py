r"""Energy of devices of one kind that are on, storage with its controller and memory, or accelerators.

.. math:: E = N P\,T

Worked number: 4 devices of 1 W for 10 ms: 40 mJ.
"""

from perfmodel.phases._base import Phase, symbols

(devices, power, total) = symbols("devices device_power total_time")

PHASE = Phase(
    name="energy_static",
    result="static_energy",
    unit="J",
    expression=devices * power * total,
    meaning="devices that are on",
    source="mdgnn2026",
)
