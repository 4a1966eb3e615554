r"""Energy of page reads: every page is one array read.

.. math:: E = s\,r_F\,P_R\,t_R

Worked number: 5,120 pages at 3.3 V and 32 mA for 12 us: 1.27 uJ each, 6.5 mJ for a snapshot.
"""

from perfmodel.phases._base import Phase, symbols

(length, reads, power, time) = symbols("frame_length flash_reads reading_power array_read_time")

PHASE = Phase(
    name="energy_reads",
    result="read_energy",
    unit="J",
    expression=length * reads * power * time,
    meaning="pages read from the flash arrays",
    source="mdgnn2026",
)
