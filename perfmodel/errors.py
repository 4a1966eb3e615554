"""What can go wrong, told apart: bad input is a sentence, infeasible is an answer, a bug is a traceback.

Examples
--------
>>> str(SpecError("plan.workers", "must be at least 0", "-3", nearest="0"))
'plan.workers: must be at least 0, got -3; nearest valid choice: 0'
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable


class PerfmodelError(Exception):
    """Base of every error that a user can mend; the command line prints it as one sentence, exit status 2."""


class SpecError(PerfmodelError):
    """A spec, file or argument breaks a rule.

    Parameters
    ----------
    where : str
        The file, dotted key or argument at fault.
    rule : str
        What is asked for.
    got : object
        What was there instead.
    nearest : str, optional
        The valid choice closest to what was given.
    """

    def __init__(self, where: str, rule: str, got: object, nearest: str | None = None) -> None:
        self.where, self.rule, self.got, self.nearest = where, rule, got, nearest
        sentence = f"{_short(where, 240)}: {rule}, got {_short(got)}"
        if nearest is not None:
            sentence += f"; nearest valid choice: {nearest}"
        super().__init__(sentence)


class UnknownKey(SpecError):
    """A dotted key that there is none of, or not in this scenario: no value could make it right."""


class UnitError(SpecError):
    """A value has a unit that the unit table lacks, or one of another dimension."""


class MissingCalibration(SpecError):
    """A phase needs a constant that neither the device's file nor the profile gives."""


class NoFeasiblePlan(PerfmodelError):
    """Every plan that was tried breaks a limit."""


class ModelError(RuntimeError):
    """A formula contradicts itself (dimension, domain): a bug in the program, never in the input."""


def shown(got: object) -> str:
    """Write what was given as Python would, cut short where it is long or nested deeply.

    Examples
    --------
    >>> shown("8 GB"), len(shown("x" * 1000)) < 130
    ("'8 GB'", True)
    """
    try:
        return _REPR.repr(got)
    except ValueError:  # a whole number of thousands of digits
        return f"a very long {type(got).__name__}"


def _short(got: object, most: int = 120) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in str(got))
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 110
_REPR.maxlevel = 3


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the choice that reads most like ``name``, or all of a few choices when none does.

    Examples
    --------
    >>> nearest("redit", ["reddit", "ogbn-mag"])
    'reddit'
    """
    options = sorted(choices)
    folded = {option.casefold(): option for option in options}
    wanted = name[:100].casefold()
    begun = [option for option in folded if len(wanted) > 2 and option.startswith(wanted)]
    found = sorted(begun, key=len) or difflib.get_close_matches(wanted, list(folded), n=1, cutoff=0.5)
    if found:
        return folded[found[0]]
    return " | ".join(options) if 0 < len(options) <= 12 else None
