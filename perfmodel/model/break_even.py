"""The ratio of memory traffic to communication at which an agent breaks even with routing inline, as formula and number.

With an agent the slowest of several stages sets the pace, inline everything on the application's core adds up:

    inline = memory work + emission + routing inline
    agent  = max(memory work + emission + handing over, slowest other stage)

So an agent gains where routing inline takes longer than handing over, and only from the ratio on at which

    memory work = slowest other stage - emission - routing inline

The largest gain lies where both sides of the maximum are equal; beyond it, it falls as memory work grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import sympy

from perfmodel.model.bound import Bound, Outcome, bind
from perfmodel.model.branches import Branch
from perfmodel.model.chains import without_extremes
from perfmodel.model.notation import Named, latex, text
from perfmodel.model.tracing import Record, trace
from perfmodel.phases._base import symbol
from perfmodel.spec.scenario import Scenario
from perfmodel.symbols import NOMENCLATURE

Chapter = dict[str, Any]

RATIO: Final = "workload.memory_ratio"
PLACE: Final = "plan.placement.routing"
_APPLICATION: Final = "application"
_LARGEST: Final = 1e6
_HALVINGS: Final = 200
_CLOSE: Final = 1e-6
_NEVER: Final = "handing messages over takes the application as long as routing them: an agent never gains"
_WITHOUT: Final = (
    "without an agent there is nothing to break even with; at this ratio memory work takes as long as routing inline, above it "
    "the host dominates, and no agent can double the pace"
)
_BELOW: Final = (
    "sets the pace with an agent, and takes longer than all that the application does inline; above it the application's core "
    "is relieved of more than it waits for"
)
_RATIO: Final = symbol("memory_ratio")
_REMOTE: Final = sympy.Symbol("remote_share", nonnegative=True)  # of the messages, that leave their node
#: Quantities that differ between the two sides: the host's have a name of their own in formulas.
_OF_DEVICE: Final = "system.{where}."


def break_even_chapter(scenario: Scenario) -> Chapter | None:
    """Return where an agent breaks even, None where the scenario routes no messages.

    Examples
    --------
    >>> import perfmodel as pm
    >>> chapter = break_even_chapter(pm.load_scenario("sssp", "buddy-dpu"))
    >>> 0.56 < chapter["value"] < 1.5
    True
    """
    if scenario.workload.family != "message-routing":
        return None
    inline = bind(scenario.replace({PLACE: "application"}))
    now = scenario.workload.memory_ratio
    if scenario.system.agent is None:
        return {"now": now, "agent": False} | _balance(inline)
    agent = bind(scenario.replace({PLACE: "agent"}))
    speedup = _speedup(inline, agent, now)
    found: Chapter = {"now": now, "agent": True, "speedup": speedup, "gains": bool(speedup > 1.0)}
    found["largest"] = _largest(inline, agent)
    ratio = _crossing(inline, agent)
    if ratio is None:
        return found | {"value": None, "formula": None, "why": _NEVER}
    return found | {"value": ratio} | _formula(inline, agent, ratio)


def _at(bound: Bound, ratio: float) -> Outcome:
    with np.errstate(all="ignore"):
        return bound.run({RATIO: ratio})


def _speedup(inline: Bound, agent: Bound, ratio: float) -> float:
    return float(_at(inline, ratio).time / _at(agent, ratio).time)


def _stages(outcome: Outcome) -> dict[str, float]:
    """Return the time of each stage."""
    found: dict[str, float] = {}
    for name, time in outcome.phases.items():
        found[outcome.stages[name]] = found.get(outcome.stages[name], 0.0) + float(time)
    return found


def _slowest(outcome: Outcome) -> str:
    """Return the slowest stage beside the application's."""
    stages = {name: time for name, time in _stages(outcome).items() if name != _APPLICATION}
    return max(stages, key=lambda name: stages[name])


def _crossing(inline: Bound, agent: Bound) -> float | None:
    """Return the least ratio from which on the agent gains, by bisection; None where it never does."""
    if _speedup(inline, agent, 0.0) > 1.0:
        return 0.0
    high = float(_largest(inline, agent)["ratio"])
    if not _speedup(inline, agent, high) > 1.0:
        return None
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if _speedup(inline, agent, middle) > 1.0 else (middle, high)
    return high


def _largest(inline: Bound, agent: Bound) -> dict[str, float]:
    """Return the ratio at which the application takes as long as the slowest other stage, and the speedup there."""

    def waits(ratio: float) -> bool:
        stages = _stages(_at(agent, ratio))
        return stages[_APPLICATION] < max(time for name, time in stages.items() if name != _APPLICATION)

    low, high = 0.0, _LARGEST
    if not waits(low):
        return {"ratio": low, "speedup": _speedup(inline, agent, low)}
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if waits(middle) else (low, middle)
    return {"ratio": high, "speedup": _speedup(inline, agent, high)}


def _balance(inline: Bound) -> Chapter:
    """Return the ratio at which memory work takes as long as routing inline: all that can be said without an agent."""
    words = _words(inline)
    routing, work = (words[name].value for name in ("inline_routing_time", "memory_work_time_at_ratio_1"))
    short = sympy.Symbol("inline_routing_time") / sympy.Symbol("memory_work_time_at_ratio_1")
    return {
        "value": routing / work if work > 0 else None, "formula": text(short), "latex": latex(short),
        "with_numbers": text(short, words), "latex_with_numbers": latex(short, words), "why": _WITHOUT,
    }  # fmt: skip


def _formula(inline: Bound, agent: Bound, ratio: float) -> Chapter:
    """Return the ratio in closed form: over the times of the steps, and over the numbers of the scenario."""
    slowest = _slowest(_at(agent, ratio))
    sides = [_traced(bound, ratio) for bound in (inline, agent)]
    numbers = {name: number for side in sides for _, values in side.values() for name, number in values.items()}
    steps = [step.step.name for step in agent.steps if step.step.stage == slowest]
    other = sympy.Add(*(sides[1][name][0] for name in steps))
    work, emission, routing = (sides[0][name][0] for name in ("memory_work", "emission", "routing"))
    at_none = work.subs(_RATIO, 0)
    parts = [_per_byte(part, numbers) for part in (other, emission + at_none, routing, work.subs(_RATIO, 1) - at_none)]
    closed = (parts[0] - parts[1] - parts[2]) / parts[3]
    values = {name: Named(number, _unit(name)) for name, number in numbers.items()}
    values |= {_REMOTE.name: Named(1 - numbers["locality"] / numbers["cluster_nodes"], "")}
    words = _words(inline) | {f"{slowest}_time": Named(_stages(_at(agent, ratio))[slowest], "s")}
    words["inline_routing_time"] = Named(float(_at(inline, ratio).phases["routing"]), "s")
    short = sympy.Symbol(f"{slowest}_time") - sympy.Symbol("emission_time") - sympy.Symbol("inline_routing_time")
    short = short / sympy.Symbol("memory_work_time_at_ratio_1")
    return {
        "bottleneck": slowest,
        "formula": text(short),
        "latex": latex(short),
        "with_numbers": text(short, words),
        "latex_with_numbers": latex(short, words),
        "over_numbers": {
            "formula": text(closed),
            "latex": latex(closed),
            "with_numbers": text(closed, values),
            "latex_with_numbers": latex(closed, values),
            "definitions": {_REMOTE.name: text(1 - symbol("locality") / symbol("cluster_nodes"))},
        },
        "why": f"below it {slowest} {_BELOW}",
    }


def _per_byte(time: sympy.Expr, numbers: Mapping[str, float]) -> sympy.Expr:
    """Return a run's time for each byte that a process sends, without what is zero or infinite now."""
    count, size = (symbol(name) for name in ("messages", "message_size"))
    fixed = time.subs(count, 0)
    whole = (time - fixed).subs(count, 1 / size) + fixed / (count * size)
    apart = sympy.Max(1 - symbol("locality") / symbol("cluster_nodes"), 0).args
    leaves = next(part for part in apart if part.free_symbols)
    short = without_extremes(whole.subs(leaves, _REMOTE), numbers)
    ones = {number: sympy.Integer(1) for number in short.atoms(sympy.Float) if abs(number - 1) < _CLOSE}  # full buffers
    return sympy.factor_terms(short.xreplace(ones))


def _words(inline: Bound) -> dict[str, Named]:
    """Return the times inline that short formulas are over."""
    none, one = (_at(inline, ratio).phases for ratio in (0.0, 1.0))
    return {
        "emission_time": Named(float(none["emission"]), "s"),
        "inline_routing_time": Named(float(none["routing"]), "s"),
        "memory_work_time_at_ratio_1": Named(float(one["memory_work"] - none["memory_work"]), "s"),
    }


def _traced(bound: Bound, ratio: float) -> dict[str, tuple[sympy.Expr, dict[str, float]]]:
    """Return each step's time over the scenario's numbers, on the branch that is active at a ratio, with the numbers."""
    moved = bind(bound.family.scenario.replace({RATIO: ratio}))
    records = trace(moved).records
    return {name: _whole(calls) for (kind, name), calls in records.items() if kind == "step"}


def _whole(calls: list[Record]) -> tuple[sympy.Expr, dict[str, float]]:
    """Put the formulas of a step's calls into each other; the host's rates get names of their own."""
    results: dict[sympy.Symbol, sympy.Expr] = {}
    numbers: dict[str, float] = {}
    whole: sympy.Expr = sympy.Integer(0)
    for call in calls:
        active = Branch(call.numbers, rounded=False).of(call.phase.expression)
        names = {symbol: sympy.Symbol(_own_name(symbol.name, call), nonnegative=True) for symbol in active.free_symbols}
        numbers |= {
            names[symbol].name: call.numbers[symbol.name] for symbol in active.free_symbols if symbol not in results
        }
        whole = active.xreplace({symbol: results.get(symbol, names[symbol]) for symbol in active.free_symbols})
        results[sympy.Symbol(call.phase.result, nonnegative=True)] = whole
    return whole, numbers


def _own_name(name: str, call: Record) -> str:
    """Return a quantity's name, with the host's in front where the agent has the same."""
    shared = name in NOMENCLATURE and NOMENCLATURE[name].key.startswith(_OF_DEVICE)
    return f"host_{name}" if shared and call.keys.get(name, "").startswith("system.host.") else name


def _unit(name: str) -> str:
    return NOMENCLATURE[name.removeprefix("host_")].unit if name not in NOMENCLATURE else NOMENCLATURE[name].unit
