"""The knee of scaling: from how many devices on another one gains little, as a formula and as a number."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from perfmodel.model.bound import Bound
from perfmodel.model.compile import compiled
from perfmodel.model.notation import Notation, latex, text
from perfmodel.phases._base import all_phases

#: What another device must gain to be worth it.
LEAST_GAIN: Final = 0.05
_PHASE: Final = "scaling_knee"
_SHOWN: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def serial_share(bound: Bound) -> float:
    """Return the share of one device's time that more devices do not shorten, from two counts that share out evenly."""
    low, high = bound.family.even_counts
    key = bound.family.scaled_by
    few, many = (float(np.ravel(bound.run({key: count}).time)[0]) for count in (low, high))
    spread = max(few - many, 0.0) / (1.0 / low - 1.0 / high)
    serial = max(few - spread / low, 0.0)
    return serial / (serial + spread) if serial + spread > 0 else 1.0


def knee(bound: Bound, gain: float = LEAST_GAIN) -> float:
    """Return how many devices there are where another one gains as much as ``gain``, and fewer beyond."""
    return float(compiled()[_PHASE].function(**{"serial_share_of_one": serial_share(bound), "least_gain": gain}))


def knee_chapter(bound: Bound) -> dict[str, Any] | None:
    """Return the knee as plain values; None for a family whose work no count of devices shares out.

    Examples
    --------
    >>> import perfmodel as pm
    >>> from perfmodel.model.bound import bind
    >>> chapter = knee_chapter(bind(pm.load_scenario("dgnn-reddit", "mdgnn-m-dgnn")))
    >>> chapter["devices"] - 1 <= chapter["value"] <= chapter["devices"]
    True
    """
    if not bound.family.scaled_by:
        return None
    phase, share = all_phases()[_PHASE], serial_share(bound)
    written = Notation(phase).write([phase.expression])
    values = written.values({"serial_share_of_one": share, "least_gain": LEAST_GAIN})
    formula, value = written.expressions[0], knee(bound)
    key = bound.family.scaled_by
    times = np.broadcast_to(bound.run({key: np.array(_SHOWN, dtype=float)}).time, len(_SHOWN))
    return {
        "key": key,
        "formula": text(formula),
        "latex": latex(formula),
        "with_numbers": text(formula, values),
        "latex_with_numbers": latex(formula, values),
        "definitions": [
            {"name": each.name, "formula": text(each.formula), "value": values[each.name].value}
            for each in written.definitions
        ],
        "serial_share": share,
        "gain": LEAST_GAIN,
        "value": value,
        "devices": max(math.ceil(value), 1),
        "now": bound.values[key],
        "times": [{"devices": count, "time_s": float(time)} for count, time in zip(_SHOWN, times, strict=True)],
        "why": f"{share:.1%} of the time on one device is not shared out; whole shares of the work make steps of the curve",
    }
