r"""What of a phase's state the caches have lost by the time that it comes round again.

Between two mini-batches other phases, and on a shared host other tenants, displace what a phase left in the caches: after
``T`` the share ``d = 1 - exp(-T / tau)``. What is displaced comes from memory once more: code and interpreter (a phase's
restart), tables and buffers. On a virtual machine of two cores ``tau`` was about 10 ms.
"""

import sympy
from sympy.codegen.cfunctions import expm1

from perfmodel.phases._base import symbol


def displaced(displacement_time: str = "displacement_time") -> sympy.Expr:
    """Return the share of a phase's state that is displaced between two mini-batches."""
    return -expm1(-symbol("batch_time") / symbol(displacement_time))


def kept() -> sympy.Expr:
    """Return the share of a phase's state that is still there after a mini-batch."""
    return sympy.exp(-symbol("batch_time") / symbol("displacement_time"))
