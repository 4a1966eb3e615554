"""The constants that M-DGNN's published numbers fix: what each means, where it belongs, what is physically possible."""

from __future__ import annotations

from typing import Final

from calibration.fit import Constant

CONSTANTS: Final = (
    Constant(
        "devices/mdgnn-host", ("stack.passes",), 3.0, (1.0, 16.0), "",
        "messages that the host's software passes on at a time",
    ),
    Constant(
        "devices/mdgnn-host", ("stack.reads",), 4.0, (1.0, 32.0), "",
        "block reads that go through the host's software at a time, for each drive",
    ),
    Constant(
        "devices/mdgnn-csd", ("peer.time_per_message",), 1.8e-6, (3e-7, 1e-5), "s",
        "setting up and sending one message to a peer",
    ),
    Constant(
        "devices/mdgnn-csd", ("graph.time_per_node",), 1e-7, (1e-8, 1e-6), "s",
        "sampling and bookkeeping of one node by the device's cores",
    ),
    Constant(
        "devices/mdgnn-host", ("pool.share",), 0.65, (0.2, 0.98), "",
        "share of a window's distinct rows that the pinned pool is provisioned for",
    ),
    Constant(
        "devices/mdgnn-csd", ("power",), 1.0, (0.1, 25.0), "W",
        "controller and memory of a drive that is on, beside its flash; with or without an array in it",
    ),
)  # fmt: skip
#: What is set with a fitted constant: the constant's index and the other entry.
FOLLOWERS: Final = ((5, "devices/mdgnn-ssd"),)
