"""Up to how many devices another one pays: by the best plans of a search, beside the closed form for the last of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from perfmodel.model.bound import bind
from perfmodel.model.knee import LEAST_GAIN, knee
from perfmodel.search.clock import Clock
from perfmodel.search.explored import Explored
from perfmodel.search.families import search_family
from perfmodel.search.question import Question
from perfmodel.search.switches import best_along
from perfmodel.search.turning import numbers_of

_TIMES: Final = ("time", "time_s", "epoch_time", "epoch_time_s")


def scaling(question: Question, seen: Explored, clock: Clock) -> dict[str, Any] | None:
    """Return the count of devices beyond which another one gains too little, with the best plan tuned anew at each count.

    Counts that do not share out the work evenly make steps, so that single devices gain now nothing and now much. What
    counts is the whole way: the time times 1.05 for every device is least where they stop to pay.

    Parameters
    ----------
    question : Question
    seen : Explored
        Its plans begin.
    clock : Clock

    Returns
    -------
    dict
        ``key``, ``gain`` (of another device, below which it does not pay), ``devices``, ``closed_form`` (what
        ``perfmodel explain`` says of the best plan there), ``plan`` and ``times``. None where no number of devices shares
        out the work, or where the time is not what is minimized.
    """
    key = search_family(question.scenario).model.scaled_by
    number = next((number for number in numbers_of(question) if number.key == key and number.plain), None)
    if number is None or question.objectives[0].name not in _TIMES:
        return None
    counts, least, plans = best_along(question, seen, number, clock)
    if not np.any(np.isfinite(least)):
        return None
    at = int(np.argmin(least * (1.0 + LEAST_GAIN) ** counts))
    there = question.scenario.replace({**plans[at], key: float(counts[at])})
    times = [
        {"devices": float(count), "value": float(value)}
        for count, value in zip(counts, least, strict=True)
        if np.isfinite(value)
    ]
    return {
        "key": key,
        "gain": LEAST_GAIN,
        "devices": float(counts[at]),
        "closed_form": knee(bind(there)),
        "plan": plans[at],
        "times": times,
    }
