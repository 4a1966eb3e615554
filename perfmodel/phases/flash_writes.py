r"""Pages of a new snapshot into flash, striped over channels and planes, spread over the frames of a window.

.. math:: t = \frac{\chi\,b\,p}{N_c} \max\!\left(\frac{t_c + P/B_c + t_P}{U},\ \frac{t_c + P/B_c}{C},\ \frac{t_f}{F},\
          \frac{t_f + t_c + P/B_c + t_P}{q}\right)

A share ``chi`` of the nodes is written anew, with all ``p`` pages of each. A window has a frame for every ``b`` targets.
Nothing waits by chance where writes go round in turn. Chunks share out the pages to ``N_c`` devices.

Worked number: 1 % of 128 nodes of 2 pages, 100 us of programming and 5.12 us of bus over 256 planes in 16 channels: 2.56
pages, 0.41 us each: 1.05 us.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
from perfmodel.phases._flash import channels, command, cores, firmware, units

(changed, targets, page, bandwidth, program, depth, devices, by_chunk) = symbols(
    "changed_share batch_targets page channel_bandwidth array_program_time queue_depth devices by_chunk"
)
(nodes, edges, dimension, row_width, id_bytes) = symbols(
    "snapshot_nodes snapshot_edges feature_dimension row_width id_bytes"
)
pages = changed * targets * sympy.ceiling((dimension * row_width + edges / nodes * id_bytes) / page)
bus = command + page / bandwidth
pace = sympy.Max((bus + program) / units, bus / channels, firmware / cores, (firmware + bus + program) / depth)

PHASE = Phase(
    name="flash_writes",
    result="write_time",
    unit="s",
    expression=pages * pace / (1 + by_chunk * (devices - 1)),
    meaning="a new snapshot's pages into flash",
    source="mqsim2018",
    assumption="writes go round channels and planes in turn; no page is collected as garbage meanwhile",
)
