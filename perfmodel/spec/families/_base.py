"""What the workloads, systems and plans of every family have in common."""

from __future__ import annotations

from typing import Literal

from perfmodel.spec._base import NamedSpec


class FamilyWorkload(NamedSpec):
    """What is run.

    Attributes
    ----------
    family : str
        The family of models that it belongs to; a system and a plan must be of the same one.
    profile : str, optional
        Profile that calibrates some of its numbers.
    """

    family: str
    profile: str | None = None


class FamilySystem(NamedSpec):
    """What it is run on.

    Attributes
    ----------
    plan : str, optional
        The catalog's plan that it is run under where none is asked for; the family's default where left out.
    """

    family: str
    plan: str | None = None
    profile: str | None = None


class FamilyPlan(NamedSpec):
    """How it is run.

    Attributes
    ----------
    overlap : str
        ``sum`` (one after the other), ``pipelined`` (every device works on its own batch), ``overlap`` (the next batch
        is fetched while this one is computed on).
    """

    family: str
    overlap: Literal["sum", "pipelined", "overlap"] = "sum"
