"""What the nomenclature says of one quantity."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One quantity of the nomenclature.

    Attributes
    ----------
    name : str
        Its one name in formulas, docs and results.
    unit : str
        SI unit, in the unit table's words; empty for a pure number.
    meaning : str
        What it is, in one line.
    key : str
        Dotted key of the scenario that holds it; empty for the result of a phase.
    """

    name: str
    unit: str
    meaning: str
    key: str = ""
