"""Parts that the flash phases share: the units that read, what they are held for, and how full the fullest of them gets."""

import sympy

from perfmodel.phases._base import symbols

(channels, packages, dies, planes, alone) = symbols("channels packages dies planes planes_read_alone")
(array_read, command, register, bus, cores, firmware) = symbols(
    "array_read_time command_time holds_next_page bus_time firmware_cores firmware_time"
)

units = channels * packages * dies * (1 + alone * (planes - 1))
held = register * sympy.Max(array_read + command, bus - command) + (1 - register) * (array_read + bus)


def fullest(reads: sympy.Expr, places: sympy.Expr) -> sympy.Expr:
    """Return how many of some reads the fullest of equal places gets, each read falling on one at random.

    The largest of so many normal numbers (Cramer 1946), with the Poisson law's skew; never fewer than one, nor more than all.
    """
    many = sympy.Max(places, 2)
    spread = sympy.sqrt(2 * sympy.log(many))
    largest = spread - (sympy.log(sympy.log(many)) + sympy.log(4 * sympy.pi)) / (2 * spread) + sympy.EulerGamma / spread
    mean = reads / places
    above = largest * sympy.sqrt(mean * (1 - 1 / many)) + (largest**2 - 1) / 6
    few = sympy.Max(mean + sympy.Min(above, mean * (places - 1), evaluate=False), 1, evaluate=False)
    return sympy.Min(few, reads, evaluate=False)


def beyond_first(reads: sympy.Expr) -> sympy.Expr:
    """Return what a batch of reads, all in flight from the start, takes beyond a single one [s]."""
    queues = (
        (fullest(reads, units) - 1) * held,
        (fullest(reads, channels) - 1) * bus,
        (sympy.ceiling(reads / cores) - 1) * firmware,
    )
    return sympy.Max(*queues, evaluate=False)
