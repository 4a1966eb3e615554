r"""Aggregation into a buffer that is regrown chunk by chunk: all that was held is copied again for every chunk.

Before chunk ``i`` the buffer holds ``(i - 1) c`` bytes, so ``n`` chunks copy ``c n (n - 1) / 2`` bytes of old content
besides the tensor itself: quadratic in the tensor, which is why halving the bytes made LGNNIC's sockets up to 3.7 times
faster. Up to the heap limit the allocator reuses pages of its heap; beyond it every regrowth maps fresh pages, and each
page faults (glibc's dynamic mmap threshold ends at 32 MiB, malloc.c DEFAULT_MMAP_THRESHOLD_MAX).

.. math:: t = \frac{V}{B_r} + \frac{c\,m(m-1)/2}{B_{heap}} + \frac{c\,(n(n-1) - m(m-1))/2}{B_{fresh}},
          \quad m = \min(n, \lfloor L/c \rfloor)

Worked number: 100 chunks of 1 MiB above the limit copy 4,950 MiB again; at 1 GiB/s that takes 4.83 s.
"""

import sympy

from perfmodel.phases._base import Condition, Phase, symbols

(tensor_bytes, chunk, copy_bandwidth, limit, heap, fresh) = symbols(
    "tensor_bytes chunk receiver_copy_bandwidth receiver_heap_limit heap_bandwidth fresh_bandwidth"
)
chunks = sympy.ceiling(tensor_bytes / chunk)
in_heap = sympy.Min(chunks, sympy.floor(limit / chunk))
again_in_heap = chunk * in_heap * (in_heap - 1) / 2
again = chunk * chunks * (chunks - 1) / 2

PHASE = Phase(
    name="aggregation_regrown",
    result="aggregation_time",
    unit="s",
    expression=tensor_bytes / copy_bandwidth
    + sympy.Max(again_in_heap, 0) / heap
    + (sympy.Max(again, 0) - sympy.Max(again_in_heap, 0)) / fresh,
    meaning="copy all that is held again for every chunk that arrives",
    source="lgnnic2026",
    assumption="the buffer grows by exactly one chunk at a time",
    regimes=(Condition(tensor_bytes > limit, "the buffer outgrows the heap: every regrowth faults in fresh pages"),),
)
