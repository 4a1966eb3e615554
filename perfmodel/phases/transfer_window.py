r"""Transfers in flight: a process may have so many on the network, each for a hop's round trip.

.. math:: t = \frac{f\,h}{w}\left(s\,2 l + \frac{V + s\,H}{B}\right)

Worked number: 10,000 transfers, all remote, a round trip of 6 us, 64 in flight: 0.94 ms.
"""

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._messages import remote, volume

(transfers, outstanding, header, hops, bandwidth, latency) = symbols(
    "transfers outstanding header_bytes hops link_bandwidth link_latency"
)

PHASE = Phase(
    name="transfer_window",
    result="transfer_window_time",
    unit="s",
    expression=hops * remote * (2 * transfers * latency + (volume + transfers * header) / bandwidth) / outstanding,
    meaning="wait for transfers to be acknowledged",
    source="buddy2026",
    assumption="acknowledgements are short and processed at once",
)
