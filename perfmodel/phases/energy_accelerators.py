r"""Energy of accelerators that are on, each with its share of the host.

.. math:: E = N P\,T

Worked number: 4 of 10 W for 20 ms: 0.8 J.
"""

from perfmodel.phases._base import Phase, symbols

(devices, power, total) = symbols("devices accelerator_power total_time")

PHASE = Phase(
    name="energy_accelerators",
    result="accelerators_energy",
    unit="J",
    expression=devices * power * total,
    meaning="accelerators that are on",
    source="mdgnn2026",
)
