"""The formula book of one scenario: every formula with its numbers in place, its regimes, and what would change them.

Everything is taken from the phases' expressions and from one traced run of the model; nothing is written down again.
The book is plain data, which ``book_text`` and ``book_latex`` turn into documents.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import sympy

import perfmodel
from perfmodel.errors import SpecError
from perfmodel.model.book_chunk import chunk_chapter
from perfmodel.model.bound import Bound, bind
from perfmodel.model.branches import Point
from perfmodel.model.break_even import break_even_chapter
from perfmodel.model.chains import Chain, chain_of
from perfmodel.model.compile import model_hash
from perfmodel.model.elasticities import elasticities
from perfmodel.model.knee import knee_chapter
from perfmodel.model.notation import Named, Notation, Written, latex, text
from perfmodel.model.policies import POLICIES
from perfmodel.model.references import reference
from perfmodel.model.thresholds import Threshold, thresholds
from perfmodel.model.tracing import Record, Trace, earlier, trace
from perfmodel.phases._base import all_phases
from perfmodel.phases._comparisons import quick_comparisons
from perfmodel.spec.catalog import flattened
from perfmodel.spec.scenario import Scenario
from perfmodel.symbols import NOMENCLATURE

SCHEMA: Final = 1
_SETTLING: Final = (
    "a longer mini-batch displaces more of the caches, which makes it longer still: times and elasticities are those that "
    "this settles at; thresholds, and times over the chunk, take batch_time as it is"
)
Chapter = dict[str, Any]


@quick_comparisons()
def explain(scenario: Scenario) -> Chapter:
    """Return the book of a scenario as plain values, ready for JSON.

    Raises
    ------
    MissingCalibration
        Where a phase needs a constant that neither the catalog nor a profile gives.
    SpecError
        Where a step's time is not finite.

    Examples
    --------
    >>> import perfmodel as pm
    >>> book = explain(pm.load_scenario("reddit", "lgnnic-doca-dma"))
    >>> [step["name"] for step in book["steps"]][:3]
    ['sampling', 'quantization', 'transfer']
    """
    bound = bind(scenario)
    traced = trace(bound)
    for name, phase_time in traced.outcome.phases.items():
        if not math.isfinite(phase_time.value):
            raise SpecError(f"scenario: {name}", "must take a finite time", "values too small or too large for it")
    writer = _Writer(scenario, bound)
    time = traced.outcome.time.value
    steps = [_step(writer, traced, position) for position in range(len(bound.steps))]
    memory = [_memory(writer, traced, position) for position in range(len(bound.memory_steps))]
    keys = {entry["source"] for chapter in (*steps, *memory) for entry in (chapter, *chapter["uses"])}
    return {
        "schema": SCHEMA,
        "perfmodel": perfmodel.__version__,
        "model": model_hash(),
        "inputs": dict(scenario.inputs),
        "workload": scenario.workload.name,
        "system": scenario.system.name,
        "plan": flattened(scenario.plan.model_dump(exclude={"name", "sources", "title"})),
        "plan_name": scenario.plan.name,
        "time_s": time,
        "unit": bound.family.unit,
        "policy": scenario.plan.overlap,
        "total": _total(bound, traced),
        "settling": _SETTLING if bound.displaces else None,
        "steps": steps,
        "memory": memory,
        "elasticities": [_elasticity(scenario, each) for each in elasticities(scenario, traced)],
        "best_chunk": chunk_chapter(traced),
        "break_even": break_even_chapter(scenario),
        "knee": knee_chapter(bound),
        "sources": {key: reference(key) for key in sorted(keys)},
    }


def _elasticity(scenario: Scenario, found: Any) -> Chapter:
    return dataclasses.asdict(found) | {"source": scenario.source_of(found.key)}


class _Writer:
    """Writes the entry of one phase: the call that takes longest, and what holds for the others."""

    def __init__(self, scenario: Scenario, bound: Bound) -> None:
        self.scenario, self.bound = scenario, bound

    def entry(self, calls: Sequence[Record], records: Sequence[Record]) -> Chapter:
        """Return the entry of a phase, from its calls (one for each item) and all calls of the step."""
        shown = max(calls, key=lambda record: record.result)
        phase = shown.phase
        conditions = [condition.relation for condition in (*phase.regimes, *phase.valid_when)]
        written = Notation(phase).write([phase.expression, *conditions])
        values = written.values(shown.numbers)
        return {
            "phase": phase.name,
            "result": phase.result,
            "unit": phase.unit,
            "item": shown.item_name,
            "item_value": shown.result,
            "others": len(calls) - 1,
            "items": [{"name": record.item_name, "value": record.result} for record in calls],
            **_formula(written.expressions[0], values),
            "definitions": [
                {
                    "name": definition.name,
                    **_formula(definition.formula, values),
                    "value": values[definition.name].value,
                    "unit": values[definition.name].unit,
                }
                for definition in written.definitions
            ],
            "meaning": phase.meaning,
            "assumption": phase.assumption,
            "source": phase.source,
            "arguments": {name: self._argument(name, number, shown) for name, number in shown.numbers.items()},
            "regimes": self._regimes(shown, calls, records, written, values),
            "domain": self._domain(shown, written, values),
        }

    def _argument(self, name: str, number: float, record: Record) -> Chapter:
        key = record.keys.get(name, "")
        quantity = NOMENCLATURE[name]
        if key in self.bound.numbers:
            source = self.scenario.source_of(key)
        else:
            maker = next((phase.name for phase in all_phases().values() if phase.result == name), "")
            source = f"analytic: result of {maker}" if maker and not key else "analytic: derived from the scenario"
        return {"value": number, "unit": quantity.unit, "key": key, "source": source, "meaning": quantity.meaning}

    def _regimes(
        self,
        shown: Record,
        calls: Sequence[Record],
        records: Sequence[Record],
        written: Written,
        values: Mapping[str, Named],
    ) -> list[Chapter]:
        found = []
        chain = chain_of(shown, records, written)
        keys = {name: key for record in (*earlier(shown, records), shown) for name, key in record.keys.items()}
        for condition, formula in zip(shown.phase.regimes, written.expressions[1:], strict=False):
            holds = [bool(Point(record.numbers).value(condition.relation)) for record in calls]
            found.append(
                {
                    **_formula(formula, values),
                    "holds": holds[calls.index(shown)],
                    "holds_for": sum(holds),
                    "meaning": condition.meaning,
                    "thresholds": [
                        self._threshold(each, keys[name], chain, written)
                        for name in sorted(keys)
                        if keys[name] in self.bound.numbers
                        for each in self._flips(formula, chain, name, keys[name])
                    ],
                }
            )
        return found

    def _flips(self, formula: sympy.Basic, chain: Chain, name: str, key: str) -> list[Threshold]:
        names = {symbol.name for symbol in formula.free_symbols}
        if not names & {name, *chain.depends(name)}:
            return []
        mark = self.bound.numbers[key]
        return thresholds(formula, chain, name, mark.low, mark.high)

    def _threshold(self, found: Threshold, key: str, chain: Chain, written: Written) -> Chapter:
        shown = {} if found.formula is None else written.values(chain.numbers)
        return {
            "name": found.name,
            "key": key,
            "value": found.value,
            "now": self.bound.values[key],
            "unit": self.bound.numbers[key].unit,
            "holds": found.holds,
            "formula": None if found.formula is None else text(found.formula),
            "latex": None if found.formula is None else latex(found.formula),
            "with_numbers": None if found.formula is None else text(found.formula, shown),
        }

    def _domain(self, shown: Record, written: Written, values: Mapping[str, Named]) -> list[Chapter]:
        count = len(shown.phase.regimes)
        return [
            {
                **_formula(formula, values),
                "holds": bool(Point(shown.numbers).value(condition.relation)),
                "meaning": condition.meaning,
            }
            for condition, formula in zip(shown.phase.valid_when, written.expressions[1 + count :], strict=True)
        ]


def _formula(expression: sympy.Basic, values: Mapping[str, Named]) -> Chapter:
    return {
        "formula": text(expression),
        "latex": latex(expression),
        "with_numbers": text(expression, values),
        "latex_with_numbers": latex(expression, values),
    }


def _entries(writer: _Writer, records: Sequence[Record]) -> list[Chapter]:
    """Return an entry for each phase of a step, in order; the last is the step's own."""
    phases = dict.fromkeys((record.part, record.phase.name) for record in records)
    return [
        writer.entry([record for record in records if (record.part, record.phase.name) == place], records)
        for place in phases
    ]


def _step(writer: _Writer, traced: Trace, position: int) -> Chapter:
    step = traced.bound.steps[position].step
    records = traced.records["step", step.name]
    *uses, own = _entries(writer, records)
    value = traced.outcome.phases[step.name].value
    total = sum(time.value for time in traced.outcome.phases.values())
    sizes = {record.item_name: record.numbers["tensor_bytes"] for record in records if "tensor_bytes" in record.numbers}
    tensors = [{**item, "bytes": sizes[item["name"]]} for item in own["items"] if item["name"] in sizes]
    return {
        "name": step.name, "where": step.where, "stage": step.stage, "value": value,
        "share": value / total if total else 0.0, **own, "tensors": tensors, "uses": uses,
    }  # fmt: skip


def _memory(writer: _Writer, traced: Trace, position: int) -> Chapter:
    step = traced.bound.memory_steps[position].step
    *uses, own = _entries(writer, traced.records["memory", step.name])
    value, capacity = traced.outcome.memory[step.name].value, traced.bound.values[f"system.{step.where}.memory"]
    return {
        "name": step.name, "where": step.where, "value": value, "capacity_bytes": capacity,
        "fits": value <= capacity, **own, "uses": uses,
    }  # fmt: skip


def _total(bound: Bound, traced: Trace) -> Chapter:
    """Return how the stages add up under the plan's policy."""
    stages: dict[str, list[str]] = {}
    for step in bound.steps:
        stages.setdefault(step.step.stage, []).append(step.step.name)
    times = {stage: sum(traced.outcome.phases[name].value for name in names) for stage, names in stages.items()}
    symbols = {stage: sympy.Symbol(f"{stage}_time", nonnegative=True) for stage in stages}
    batches = sympy.Symbol("batches_per_epoch", positive=True)
    formula = POLICIES[bound.plan.overlap](symbols, batches, sympy.Max, bound.family.fetch)
    values = {symbols[stage].name: Named(time, "s") for stage, time in times.items()}
    values[batches.name] = Named(bound.batches_per_epoch, "")
    return {
        **_formula(formula, values),
        "value": traced.outcome.time.value,
        "unit": "s",
        "batches_per_epoch": bound.batches_per_epoch,
        "stages": [{"name": stage, "steps": names, "value": times[stage]} for stage, names in stages.items()],
    }
