"""The constants that Buddy's ratios fix: what each means, where it belongs, what is physically possible.

Which number fixes which: the 1.55x fixes the rate of the application's memory work (against the DPU's memory, whose rate is
a data sheet's), the 625x the cache that arriving data may go into, the 6.2x of threads what a message costs a routing
thread, its "7 or 8" their serial share, and the 8.0x and 12.4x of buffers, together, what a transfer costs.
"""

from __future__ import annotations

from typing import Final

from calibration.fit import Constant

AGENT: Final = "devices/bluefield-3-agent"
HOST: Final = "devices/xeon-gold"

#: How many times as long a core of the DPU takes as one of the host: a BlueField-2 against a Xeon E5 compressing with zstd
#: (takashimakazuki/dpdk_compression); both of Buddy's are a generation later. The range is a guess.
SLOWER_CORE: Final = 1.55
SLOWER_CORE_RANGE: Final = (1.2, 2.0)

CONSTANTS: Final = (
    Constant(
        HOST, ("routing.work_bandwidth",), 5e9, (5e8, 1e11), "B/s",
        "memory traffic of one application process's own work",
    ),
    Constant(
        HOST, ("direct_cache",), 5e6, (2e5, 1e8), "B",
        "cache that arriving data may be written into",
    ),
    Constant(
        AGENT, ("routing.time_per_routed_message", "routing.time_per_delivered_message"), 8e-9, (5e-10, 2e-7), "s/message",
        "sorting one message, or delivering it",
    ),
    Constant(
        AGENT, ("routing.time_per_transfer",), 2.5e-7, (1e-8, 5e-6), "s",
        "sending one aggregation buffer off, and taking one in",
    ),
    Constant(
        AGENT, ("routing.serial_share",), 0.03, (1e-4, 0.3), "",
        "share of routing that threads do one after the other",
    ),
)  # fmt: skip

#: Constants that the host has too, by number: those that take the cores' ratio of the agent's, and the threads' share.
SHARED: Final = (2, 3, 4)


def followers(slower_core: float) -> tuple[tuple[int, float], ...]:
    """Return which of the agent's constants give the host's, and by what they are divided."""
    return tuple((index, slower_core if CONSTANTS[index].unit else 1.0) for index in SHARED)
