r"""A snapshot's visit to its pages where all that are read are kept, as by LRU: pages that are there, and pages to read.

.. math:: t = t_v + h\,n\,(p_h + P\,b_h) + (1 - h)\,n\,(p_k + P\,b_k) + n P m\,b_m, \quad
          m = \left(1 - \frac{L}{2 s n P}\right)^+

Bytes of the whole window lie where they come from and where they are brought together; what the cores' outer cache of
``L`` bytes doesn't hold comes from memory.

Worked number: 440 pages of 4,096 B, half of them held, at 1 us and 0.1 ns a byte, others 3 us and 0.2 ns a byte: 1.15 ms.
"""

from perfmodel.phases._base import Phase
from perfmodel.phases._visits import found, hits, read

PHASE = Phase(
    name="visits_kept",
    result="visit_time",
    unit="s",
    expression=hits * found + (1 - hits) * read,
    meaning="bringing a snapshot's pages together, and keeping them",
    source="mdgnn2026",
)
