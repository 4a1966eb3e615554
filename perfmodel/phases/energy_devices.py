r"""Energy of storage devices that are on: controller, memory, array.

.. math:: E = N P\,T

Worked number: 4 devices of 1 W for 10 ms: 40 mJ.
"""

from perfmodel.phases._base import Phase, symbols

(devices, power, total) = symbols("devices storage_power total_time")

PHASE = Phase(
    name="energy_devices",
    result="devices_energy",
    unit="J",
    expression=devices * power * total,
    meaning="storage devices that are on",
    source="mdgnn2026",
)
