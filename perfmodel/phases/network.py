r"""Network: a node's bytes at its link's rate, and the hops of the last transfer.

.. math:: t = \frac{b}{B} + h\,l

Worked number: 3.5 GB at 10 GB/s take 0.35 s.
"""

from perfmodel.phases._base import Phase, symbols

(sent, hops, bandwidth, latency) = symbols("sent_bytes hops link_bandwidth link_latency")

PHASE = Phase(
    name="network",
    result="network_time",
    unit="s",
    expression=sent / bandwidth + hops * latency,
    meaning="send transfers over the node's link",
    source="buddy2026",
    assumption="a node sends and receives at once; no link within the network is narrower",
)
