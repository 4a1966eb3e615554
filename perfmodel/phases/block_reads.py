r"""Pages read by the host: its software, the device's flash, its link, or the uplink that all share, whichever is slowest.

.. math:: t = \frac{s + k - 1}{s} \max\!\left(\frac{z\,n\,t_p}{c_b},\ t_F,\ \frac{z\,r_F\,P}{B},\ \frac{N z\,r_F\,P}{B_u}\right)

A node's pages lie together, so that one request reads them: ``t_p`` of software, ``c_b`` at a time for each device.
Where a frame's snapshots pass through ``k`` stages in step, it takes ``k - 1`` turns more until the last snapshot is
through.

Worked number: 5,120 nodes, 10 us each, 4 at a time are 12.8 ms; through three stages with 4 snapshots, half as much
again.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(turns, nodes, reads, pass_time, at_once, flash, page, length, stages) = symbols(
    "device_turns hop_nodes flash_reads pass_time block_reads_at_once flash_time page frame_length pipeline_stages"
)
(link, uplink, devices) = symbols("link_bandwidth uplink_bandwidth devices")
pages = turns * reads
software = turns * nodes * pass_time / at_once
wire = sympy.Max(pages * page / link, devices * pages * page / uplink)

PHASE = Phase(
    name="block_reads",
    result="block_time",
    unit="s",
    expression=sympy.Max(software, flash, wire) * (length + stages - 1) / length,
    meaning="a frame's pages from flash into the host's memory",
    source="mdgnn2026",
    assumption="one software queue for each device; a frame drains before the next one starts",
    regimes=(
        Condition(software >= sympy.Max(flash, wire), "the host's block layer is the bottleneck of reading"),
        Condition(flash > sympy.Max(software, wire), "flash is the bottleneck of reading"),
        Condition(wire > sympy.Max(software, flash), "the links to the host are the bottleneck of reading"),
    ),
)
