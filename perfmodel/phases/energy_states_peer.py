r"""Energy of states from peer to peer: two link crossings, both directions.

.. math:: E = 4 (s - 1)\,m\,(h b + i)\,e_l

Worked number: 128 messages of 16 B, 4 snapshots: 24.6 kB at 8.5 pJ/bit are 1.7 uJ.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import length, message, messages

(link,) = symbols("link_energy")

PHASE = Phase(
    name="energy_states_peer",
    result="states_energy",
    unit="J",
    expression=4 * sympy.Max(length - 1, 0) * messages * message * link,
    meaning="states from peer to peer",
    source="mdgnn2026",
)
