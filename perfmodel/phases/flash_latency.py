r"""One read alone: firmware, array, bus.

.. math:: L_0 = t_f + t_R + t_x

Worked number: 12 us of array and 5.12 us of bus, without firmware, are 17.12 us.
"""

from perfmodel.phases._base import Phase, symbols

(firmware, array_read, bus) = symbols("firmware_time array_read_time bus_time")

PHASE = Phase(
    name="flash_latency",
    result="flash_latency",
    unit="s",
    expression=firmware + array_read + bus,
    meaning="one flash read by itself",
    source="mqsim2018",
)
