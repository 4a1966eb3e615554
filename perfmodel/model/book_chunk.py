"""The chapter on the best chunk: closed forms of every tensor, tried on all of them together."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import sympy

from perfmodel.model.branches import Point
from perfmodel.model.chains import Chain, chain_of
from perfmodel.model.notation import Named, Notation, Written, latex, text
from perfmodel.model.optimum import CHUNK, SHORT, Optimum, Regime, best_chunk, regimes
from perfmodel.model.tracing import Record, Trace
from perfmodel.phases._base import symbol
from perfmodel.units import render

KEY: Final = "plan.transfer.chunk"
_LIMIT: Final = "system.link.max_chunk"
_SMALLEST: Final = 1.0
_AS_GOOD: Final = 1.001  # candidates this close to the best are as good: the simplest of them is named


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A chunk worth trying: a closed form of one tensor."""

    tensor: str
    kind: str
    value: float
    formula: sympy.Expr | None
    why: str
    chain: Chain


def chunk_chapter(traced: Trace) -> dict[str, Any] | None:
    """Return the best chunk, why it is, and what it saves; None where nothing is sent in chunks."""
    found = []
    for (kind, name), records in traced.records.items():
        chunked = [record for record in records if record.keys.get(CHUNK) == KEY]
        if kind == "step" and chunked:  # the last of them sends the tensor, with what others make of its chunks
            found.append((name, [record for record in records if record.phase.name == chunked[-1].phase.name]))
    if not found:
        return None
    step, calls = found[0]
    calls = sorted((call for call in calls if call.result > 0), key=lambda call: -call.result)
    if not calls:
        return None
    written = Notation(calls[0].phase).write([calls[0].phase.expression])
    records = traced.records["step", step]
    chains = [chain_of(call, records, written) for call in calls]
    most = min(traced.bound.values[_LIMIT], max(chain.numbers["tensor_bytes"] for chain in chains))
    candidates = [
        candidate
        for call, chain in zip(calls, chains, strict=True)
        for candidate in _candidates(call, chain, written, most)
    ]
    return _chosen(traced, step, candidates, calls[0], chains[0], written)


def _candidates(call: Record, chain: Chain, written: Written, most: float) -> list[Candidate]:
    """Return the chunks at which one tensor may be sent fastest, those with the simplest formula first."""
    size, window, devices = (symbol(name) for name in ("tensor_bytes", "window", "devices"))
    bytes_sent = chain.numbers["tensor_bytes"]
    found = []
    scanned = min(most, bytes_sent / 2)  # between a half and the whole, chunks can't be taken for a smooth number
    if scanned > _SMALLEST:
        best = best_chunk(written.expressions[0], chain, _SMALLEST, scanned)
        if best.kind == "largest" and scanned == most:
            why = "the larger the better: every chunk costs its wait, and the link takes no larger one"
            found.append(Candidate(call.item_name, "largest", most, sympy.Symbol("max_chunk"), why, chain))
        elif best.kind != "largest":
            found.append(Candidate(call.item_name, best.kind, best.value, best.formula, _why(best, call, chain), chain))
    elif most < bytes_sent:
        why = "the link takes no larger one"
        found.append(Candidate(call.item_name, "largest", most, sympy.Symbol("max_chunk"), why, chain))
    if bytes_sent <= most:
        why = f"one chunk holds {call.item_name} whole: nothing is paid for more chunks"
        found.append(Candidate(call.item_name, "whole", bytes_sent, size, why, chain))
    covered = bytes_sent / (chain.numbers["window"] * chain.numbers["devices"])
    if _SMALLEST <= covered <= most and covered < bytes_sent:
        why = f"the window covers {call.item_name}: no acknowledgement is awaited"
        found.append(Candidate(call.item_name, "window", covered, size / (window * devices), why, chain))
    return found


def _why(best: Optimum, call: Record, chain: Chain) -> str:
    """Say what makes a chunk the best, in the words of the regimes on both sides."""
    if best.kind == "smallest":
        return "nothing is paid per chunk, so the smaller the better; real links pay something"
    if best.kind == "flat":
        return "the chunk does not matter: every regime's time is the same for all chunks"
    if best.kind == "interior":
        return "what chunks cost falls with their size, what the first one delays grows: both change alike here"
    sides = []
    for factor in (0.97, 1.03):
        numbers = chain.at(CHUNK, best.value * factor)
        point = Point(numbers, rounded=False)
        sides.append([each.meaning for each in call.phase.regimes if bool(point.value(each.relation))])
    if all(sides) and sides[0] != sides[1]:
        return f"below it {sides[0][0]}; above it {sides[1][0]}"
    return "two branches of the formula meet here: below it larger chunks help, above it they don't"


def _chosen(
    traced: Trace, step: str, candidates: list[Candidate], call: Record, chain: Chain, written: Written
) -> dict[str, Any]:
    """Try all candidates on all tensors together and return the best with its chapter."""
    bound = traced.bound
    now = bound.values[KEY]
    chunks = np.array([candidate.value for candidate in candidates])
    with np.errstate(all="ignore"):
        outcome = bound.run({KEY: chunks})
    times = np.broadcast_to(outcome.phases[step], chunks.shape)
    totals = np.broadcast_to(outcome.time, chunks.shape)
    best = next(place for place, time in enumerate(times) if time <= _AS_GOOD * times.min())
    chosen = candidates[best]
    most = min(bound.values[_LIMIT], max(chain.numbers["tensor_bytes"] / 2, 2 * _SMALLEST))
    return {
        "step": step,
        "tensor": chosen.tensor,
        "kind": chosen.kind,
        "value": chosen.value,
        "unit": "B",
        "formula": None if chosen.formula is None else text(chosen.formula),
        "latex": None if chosen.formula is None else latex(chosen.formula),
        "with_numbers": None if chosen.formula is None else text(chosen.formula, _values(bound, chosen.chain, written)),
        "why": chosen.why,
        "now": now,
        "transfer_time_s": float(times[best]),
        "transfer_time_now_s": traced.outcome.phases[step].value,
        "time_s": float(totals[best]),
        "time_now_s": traced.outcome.time.value,
        "regimes": [_regime(each) for each in regimes(written.expressions[0], chain, min(_SMALLEST, most / 2), most)],
        "regimes_of": call.item_name,
        "candidates": [
            {"tensor": each.tensor, "kind": each.kind, "value": each.value, "transfer_time_s": float(time)}
            for each, time in zip(candidates, times, strict=True)
        ],
    }


def _values(bound: Any, chain: Chain, written: Written) -> dict[str, Named]:
    return written.values(chain.numbers) | {"max_chunk": Named(bound.values[_LIMIT], "B")}


def _regime(found: Regime) -> dict[str, Any]:
    short = bool(found.powers) and found.time.count_ops() <= SHORT
    return {
        "low": found.low,
        "high": found.high,
        "slope": found.slope,
        "formula": text(found.time) if short else None,
        "latex": latex(found.time) if short else None,
        "with_numbers": _polynomial(found) if found.powers else None,
    }


def _polynomial(found: Regime) -> str:
    """Return a regime's time as a sum of powers of the chunk, with numbers."""
    terms = []
    for power, factor in sorted(found.powers.items(), key=lambda each: abs(each[0])):
        unit = {0: "s", 1: "s/B", -1: "s*B"}.get(power, f"s*B^{-power}")
        number = render(factor, unit) if power in (0, 1) else f"{factor:.4g} {unit}"
        terms.append(number + {0: "", 1: " * c", -1: " / c"}.get(power, f" * c^{power}"))
    return " + ".join(terms).replace("+ -", "- ")
