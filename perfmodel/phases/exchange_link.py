r"""What the exchange of one state holds of a device's link.

.. math:: t = m\,w

Worked number: 128 messages of 16 B at 25.5 GB/s hold it for 80 ns.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._chain import message, messages

(link,) = symbols("link_bandwidth")

PHASE = Phase(
    name="exchange_link",
    result="exchange_pace",
    unit="s",
    expression=messages * message / link,
    meaning="one state over a device's link",
    source="mdgnn2026",
)
