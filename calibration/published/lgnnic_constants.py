"""The constants that LGNNIC's table fixes: what each means, where it belongs, what is physically possible."""

from __future__ import annotations

from typing import Final

from calibration.fit import Constant

#: How many times faster LGNNIC's host samples than its SmartNIC, without workers (section 5.3.1).
CPU_SPEEDUP: Final = (2.0, 10.0)

CONSTANTS: Final = (
    Constant(
        "links/doca-dma", ("time_per_acknowledgement",), 0.8e-3, (1e-4, 1e-2), "s",
        "one chunk's copy into the DMA buffer on the SmartNIC, polling and acknowledgement",
    ),
    Constant(
        "links/doca-dma", ("fault_time",), 0.6e-9, (1e-11, 1e-8), "s/B",
        "first touch of a freshly mapped aggregation buffer",
    ),
    Constant(
        "links/doca-dma", ("conversion.edge_index",), 0.5e-9, (1e-11, 1e-8), "s/B",
        "turning an int64 edge index into bytes",
    ),
    Constant(
        "links/lgnnic-sockets", ("bandwidth",), 65e6, (1e7, 1e9), "B/s",
        "bytes through the socket and the kernel's stack, sent and received in Python",
    ),
    Constant(
        "links/lgnnic-sockets", ("regrowth.fresh_bandwidth",), 0.9e9, (1e8, 1e10), "B/s",
        "copying what a regrown buffer holds into freshly mapped pages",
    ),
    Constant(
        "devices/bluefield-2", ("quantization.time_per_element",), 0.8e-9, (1e-11, 1e-8), "s",
        "rounding one fp32 element to fp16",
    ),
    Constant(
        "devices/bluefield-2", ("sampling.time_per_node",), 2.5e-6, (1e-7, 2e-5), "s/node",
        "finding one new node, with all that is done for each",
    ),
    Constant(
        "devices/bluefield-2", ("sampling.time_per_miss",), 1.8e-6, (1e-8, 2e-5), "s/node",
        "reaching the renaming table in memory",
    ),
    Constant(
        "devices/bluefield-2", ("sampling.time_per_fresh_edge",), 0.3e-6, (1e-9, 5e-6), "s/edge",
        "growing the edge arrays into freshly mapped pages",
    ),
    Constant(
        "workloads/ogbn-products", ("sampling.seeds.degree_bias",), 0.9, (0.05, 2.0), "",
        "best-selling products have more neighbors: seeds in proportion to degree to this power",
    ),
    Constant(
        "graphs/ogbn-products", ("common_reach",), 2000.0, (50.0, 1e6), "",
        "clustering: nodes that one seed's neighborhood leads to at a hop",
    ),
)  # fmt: skip
