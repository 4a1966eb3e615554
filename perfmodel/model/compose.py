"""How phases make up the steps of a family: chains of phase files, run once or for every one of some items."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Part:
    """A chain of phase files, each using the results of those before it.

    Attributes
    ----------
    chain : tuple of str
    each : str
        What the family gives items for, such as ``node_type``, ``relation``, ``table`` or ``tensor``: run for every one
        and added up; empty: run once.
    counted : str
        Result that counts towards the bytes that are sent, by the items' kind; empty where nothing is sent.
    anew : tuple of str
        Results that the chain finds step by step, each step from the one before, and the first from zero.
    """

    chain: tuple[str, ...]
    each: str = ""
    counted: str = ""
    anew: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Step:
    """One phase of a plan as results show it.

    Attributes
    ----------
    name : str
        Name in results.
    parts : tuple of Part
        A part uses the added-up results of those before it; the last one gives the step's time.
    where : str
        Role of the device that runs it (``{where}`` in the nomenclature).
    stage : str
        Which device is busy meanwhile, for the overlap policies.
    batch : str
        What it works on (``{batch}``).
    """

    name: str
    parts: tuple[Part, ...]
    where: str
    stage: str
    batch: str = "batch"


def once(name: str, phase: str, where: str, stage: str, batch: str = "batch") -> Step:
    """Return a step that runs one phase once."""
    return Step(name, (Part((phase,)),), where, stage, batch)
