"""Where another placement becomes best: along one number by itself, and over two of them."""

from __future__ import annotations

from typing import Any

from perfmodel.search.clock import Clock
from perfmodel.search.explored import Explored
from perfmodel.search.question import Question
from perfmodel.spec.scenario import Scenario


def switch_points(question: Question, seen: Explored, winner: Scenario, clock: Clock) -> dict[str, Any]:
    """Return the switch points of the best plan."""
    return {}
