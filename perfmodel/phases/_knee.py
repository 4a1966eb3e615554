"""What the phases of the flash's knee share: waits at planes and buses, and the slowest station's quadratic equation."""

import sympy

from perfmodel.phases._base import symbols
from perfmodel.phases._flash import bus, channels, cores, firmware, held, units

(latency, throughput) = symbols("flash_latency flash_throughput")

enough = sympy.Max(1 - 1 / sympy.Max(throughput * latency, 1), 0)
plane_wait = held / latency * (1 - 1 / units) * enough
bus_wait = bus / latency * (1 - 1 / channels) * enough
plane_load = held / units * throughput
bus_load = bus / channels * throughput
firmware_load = firmware / cores * throughput
is_planes = sympy.And(plane_load >= bus_load, plane_load >= firmware_load)
is_bus = sympy.And(bus_load > plane_load, bus_load >= firmware_load)
own_wait = sympy.Piecewise((plane_wait, is_planes), (bus_wait, is_bus), (0, True))


def reached(others: sympy.Expr) -> sympy.Expr:
    """Return the share of the throughput at the knee, with so much waited elsewhere for each latency."""
    root = sympy.sqrt((2 + others) ** 2 - 4 * (1 + others - own_wait / 2))
    return 2 / (2 + others + root)


def waited(share: sympy.Expr) -> sympy.Expr:
    """Return the waits at all stations but the slowest, as a share of the latency."""
    loads = sympy.Min(plane_load * share, 0.999), sympy.Min(bus_load * share, 0.999)
    planes, buses = (wait * load / (2 * (1 - load)) for wait, load in zip((plane_wait, bus_wait), loads, strict=True))
    return sympy.Piecewise((0, is_planes), (planes, True)) + sympy.Piecewise((0, is_bus), (buses, True))
