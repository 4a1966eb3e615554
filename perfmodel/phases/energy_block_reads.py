r"""Energy of pages and rows through the host: block layer, gathering, copy to the accelerators.

.. math:: E = s \left(r_F P (3 e_h + 2 e_l) + n (f + i)(3 e_h + 2 e_l)\right)

A page crosses two links, is written to the page cache, read and written again by the program; a row is read, written to
its place in the batch and read by the accelerator's copy over two links.

Worked number: 5,120 pages of 4,096 B at 161 pJ/bit are 27 mJ for a snapshot.
"""

from perfmodel.phases._base import Phase, symbols

(length, reads, page, nodes, dimension, row_width, id_bytes, link, memory) = symbols(
    "frame_length flash_reads page hop_nodes feature_dimension row_width id_bytes link_energy host_memory_energy"
)
pages = reads * page
rows = nodes * (dimension * row_width + id_bytes)

PHASE = Phase(
    name="energy_block_reads",
    result="host_energy",
    unit="J",
    expression=length * (pages + rows) * (3 * memory + 2 * link),
    meaning="pages and rows through the host's memory and links",
    source="mdgnn2026",
    assumption="buffered block reads: pages are copied out of the page cache",
)
