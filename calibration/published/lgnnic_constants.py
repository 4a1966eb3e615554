"""The constants that LGNNIC's table fixes: what each means, where it belongs, what is physically possible."""

from __future__ import annotations

from typing import Final

from calibration.fit import Constant

#: How many times faster LGNNIC's host samples than its SmartNIC, without workers (section 5.3.1).
CPU_SPEEDUP: Final = (2.0, 10.0)

CONSTANTS: Final = (
    Constant(
        "links/doca-dma", ("time_per_acknowledgement",), 1.2e-3, (1e-4, 1e-2), "s",
        "one 1 MiB chunk's copies into and out of the DMA buffers, polling and acknowledgement",
    ),
    Constant(
        "links/doca-dma", ("conversion.edge_index",), 0.7e-9, (1e-11, 1e-8), "s/B",
        "turning an int64 edge index into bytes",
    ),
    Constant(
        "links/lgnnic-sockets", ("time_per_acknowledgement",), 1e-2, (1e-3, 1e-1), "s",
        "one 1 MiB chunk through the socket, in Python, with its acknowledgement",
    ),
    Constant(
        "links/lgnnic-sockets", ("regrowth.fresh_bandwidth",), 1e9, (1e8, 1e10), "B/s",
        "copying what a regrown buffer holds into freshly mapped pages",
    ),
    Constant(
        "devices/bluefield-2", ("quantization.time_per_element",), 0.8e-9, (1e-11, 1e-8), "s",
        "rounding one fp32 element to fp16 on a Cortex-A72 and widening it on the host",
    ),
    Constant(
        "devices/bluefield-2", ("sampling.time_per_batch",), 2e-2, (1e-4, 2e-1), "s", "the loader's fixed cost",
    ),
    Constant(
        "devices/bluefield-2", ("sampling.time_per_edge",), 0.25e-6, (1e-8, 2e-6), "s/edge",
        "drawing one edge and renaming its ends",
    ),
    Constant(
        "devices/bluefield-2", ("sampling.time_per_node",), 2e-6, (1e-8, 1e-5), "s/node", "adding one node",
    ),
    Constant(
        "workloads/ogbn-products", ("sampling.seeds.degree_bias",), 0.8, (0.05, 2.0), "",
        "best-selling products have more neighbors: seeds in proportion to degree to this power",
    ),
)  # fmt: skip
