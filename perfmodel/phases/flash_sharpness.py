r"""How sharp the knee of the closed-loop law is, from the queues of a device whose pages lie at random.

At the knee, ``q = X L_0`` reads in flight would just fill the slowest station ``b`` if none ever waited. With the waits
of M/D/1 queues at stations of ``s_i`` each, ``M_i`` of them, busy ``\rho_i u`` of the time, a share ``u`` of the
throughput is reached:

.. math:: 1 = u \left(1 + \sum_i \frac{s_i g_i}{L_0} \frac{\rho_i u}{2 (1 - \rho_i u)}\right), \quad
          g_i = (1 - 1/M_i)(1 - 1/(X L_0))^+, \quad p = \frac{\ln 2}{-\ln u}

The equation is quadratic in ``u`` but for the waits elsewhere, which start at none and are put in twice, the first time
by half.

Worked number: planes alone, as many reads as planes: ``u = 2 - \sqrt 2``, ``p = 1.296``.
"""

import sympy

from perfmodel.phases._base import Phase, symbols
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


first = reached(sympy.Integer(0))
second = (first + reached(waited(first))) / 2
share = sympy.Min(reached(waited(second)), 0.99, evaluate=False)

PHASE = Phase(
    name="flash_sharpness",
    result="flash_sharpness",
    unit="",
    expression=sympy.log(2) / -sympy.log(share),
    meaning="exponent of the closed-loop law of flash reads",
    source="baskett1976",
    assumption="pages lie at random; every service takes as long each time",
)
