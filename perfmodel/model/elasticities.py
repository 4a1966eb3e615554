"""Elasticities: by how many percent the time of a mini-batch changes per percent of each number of the scenario.

Numbers that enter phases, such as those of the system and of the plan, have exact derivatives. Numbers of a workload
that change the expected mini-batch, which no formula gives, have a central difference of the whole model.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from pydantic import BaseModel

from perfmodel.errors import SpecError
from perfmodel.model.bound import bind
from perfmodel.model.tracing import Trace, Traced
from perfmodel.spec._base import Within, within
from perfmodel.spec.scenario import Scenario

#: Half width of a central difference, of the log: wide, so that the stairs of whole chunks even out.
STEP: Final = 0.05
_WHOLE: Final = {
    "plan.workers", "plan.devices", "plan.transfer.window",
    "plan.nodes", "plan.processes", "plan.threads", "plan.hops", "plan.buffers", "plan.window", "plan.outstanding",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Elasticity:
    """What one number does to the time of a mini-batch.

    Attributes
    ----------
    key : str
        Dotted key of the scenario.
    value : float
    unit : str
    elasticity : float
        Percent of time per percent of the number; 0 for one that is zero or infinite now.
    slope : float or None
        Seconds per unit of the number; None where only whole numbers make sense.
    method : str
        ``derivative`` or ``difference``.
    discrete : bool
        Takes whole numbers only; the elasticity is that of the trend.
    used_by : tuple of str
        Steps, memory needs and limits that the number enters.
    """

    key: str
    value: float
    unit: str
    elasticity: float
    slope: float | None
    method: str
    discrete: bool
    used_by: tuple[str, ...]


def elasticities(scenario: Scenario, trace: Trace) -> list[Elasticity]:
    """Return the elasticity of every number of a scenario, largest first.

    Numbers that no formula of the plan holds are in the list with elasticity 0 and an empty ``used_by``.
    """
    found = [*_derivatives(trace), *_differences(scenario)]
    return sorted(found, key=lambda each: (-abs(each.elasticity), each.key))


def _derivatives(trace: Trace) -> Iterator[Elasticity]:
    """Yield the exact elasticities of the numbers of system and plan."""
    bound, time = trace.bound, trace.outcome.time
    if not isinstance(time, Traced):
        return
    users: dict[str, list[str]] = {}
    for (kind, step), records in trace.records.items():
        name = step if kind == "step" else f"{kind} of {step}"
        for key in {key for record in records for key in record.keys.values()}:
            users.setdefault(key, []).append(name)
    for limit in trace.outcome.limits:
        for number in (limit.need, limit.limit):
            for key in number.slopes if isinstance(number, Traced) else ():
                users.setdefault(key, []).append(f"limit {limit.rule}")
    for key, mark in bound.numbers.items():
        value, slope = bound.values[key], time.slopes.get(key, 0.0)
        discrete = key in _WHOLE or key.endswith(".cores")
        changes = math.isfinite(value) and value != 0 and slope != 0 and time.value > 0
        elasticity = slope * value / time.value if changes else 0.0
        yield Elasticity(
            key, value, mark.unit, elasticity, slope, "derivative", discrete, tuple(sorted(set(users.get(key, []))))
        )


def _differences(scenario: Scenario) -> Iterator[Elasticity]:
    """Yield the elasticities of the workload's numbers that no formula takes as they are."""
    workload = scenario.workload
    if "workload" in bind(scenario).family.flattened:
        return
    for key, value, mark, wrap in _workload_numbers("workload", workload):
        low, high = (min(max(value * math.exp(sign * STEP), mark.low), mark.high) for sign in (-1.0, 1.0))
        if value == 0:
            low, high = max(-STEP, mark.low), min(STEP, mark.high)
        ends = _allowed(scenario, value, (low, high), wrap) if math.isfinite(value) and low < high else {}
        if len(ends) < 2:
            yield Elasticity(key, value, mark.unit, 0.0, None, "difference", False, ())
            continue
        times = [_time(changed) for changed in ends.values()]
        low, high = ends
        slope = (times[1] - times[0]) / (high - low)
        elasticity = _relative(times, (low, high)) if value else 0.0
        yield Elasticity(key, value, mark.unit, elasticity, slope, "difference", False, ("mini-batch",))
    yield from _fanouts(scenario)


def _allowed(scenario: Scenario, value: float, ends: Sequence[float], wrap: Any) -> dict[float, Scenario]:
    """Return the scenario at both ends, as it is in place of one that breaks a rule: no more seeds than there are nodes."""
    found = {}
    for end in ends:
        try:
            found[end] = scenario.replace(wrap(end))
        except SpecError:
            found[value] = scenario
    return found


def _fanouts(scenario: Scenario) -> Iterator[Elasticity]:
    """Yield the elasticity of each hop's fanout, by one neighbor more and less; a hop that keeps all has none."""
    fanout = scenario.workload.sampling.fanout
    for hop, neighbors in enumerate(fanout):
        if neighbors < 1:
            continue
        ends = (max(neighbors - 1, 1), neighbors + 1)
        times = [
            _time(scenario.replace({"workload.sampling.fanout": [*fanout[:hop], end, *fanout[hop + 1 :]]}))
            for end in ends
        ]
        elasticity = _relative(times, ends)
        key = f"workload.sampling.fanout.{hop}"
        yield Elasticity(key, float(neighbors), "", elasticity, None, "difference", True, ("mini-batch",))


def _time(scenario: Scenario) -> float:
    with np.errstate(all="ignore"):
        return float(bind(scenario).run({}).time)


def _relative(times: Sequence[float], values: Sequence[float]) -> float:
    """Return the percent of time per percent of a number between two of its values, 0 where a time isn't a number."""
    if not all(0 < time < math.inf for time in times):
        return 0.0
    return math.log(times[1] / times[0]) / math.log(values[1] / values[0])


def _workload_numbers(prefix: str, spec: Any) -> Iterator[tuple[str, float, Within, Any]]:
    """Yield key, value, bounds and what makes the change for every number of the workload, lists included."""
    for name, field in type(spec).model_fields.items():
        key, value, mark = f"{prefix}.{name}", getattr(spec, name), within(field)
        if isinstance(value, BaseModel):
            yield from _workload_numbers(key, value)
        elif isinstance(value, Mapping):
            for inner, part in value.items():
                if isinstance(part, BaseModel):
                    yield from _workload_numbers(f"{key}.{inner}", part)
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            yield from _listed(key, value)
        elif mark is not None and isinstance(value, float):
            yield key, value, mark, _change(key)


def _change(key: str) -> Any:
    return lambda end: {key: end}


def _listed(key: str, parts: tuple[BaseModel, ...]) -> Iterator[tuple[str, float, Within, Any]]:
    """Yield the numbers within a list of tables, which is replaced as a whole."""
    for position, part in enumerate(parts):
        for name, field in type(part).model_fields.items():
            value, mark = getattr(part, name), within(field)
            if mark is not None and isinstance(value, float):

                def wrap(end: float, position: int = position, name: str = name) -> dict[str, Any]:
                    tables = [each.model_dump() for each in parts]
                    tables[position][name] = end
                    return {key: tables}

                yield f"{key}.{position}.{name}", value, mark, wrap
