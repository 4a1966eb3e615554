r"""Energy of states through the host: four link crossings with the uplink, in and out of its memory, both directions.

.. math:: E = 2 (2 s - 1)\,m\,(h b + i)\,(e_h + 2 e_l)

Worked number: 128 messages of 16 B, 4 snapshots: 28.7 kB at 65 pJ/bit are 15 uJ.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import length, message, messages

(link, memory) = symbols("link_energy host_memory_energy")

PHASE = Phase(
    name="energy_states_bounced",
    result="states_energy",
    unit="J",
    expression=2 * (2 * length - 1) * messages * message * (memory + 2 * link),
    meaning="states through the host",
    source="mdgnn2026",
)
