"""The formula book as plain text, at most 100 columns wide."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from perfmodel.units import render

WIDTH: Final = 100
_JOINT = "\N{NO-BREAK SPACE}"
_SHOWN_THRESHOLDS: Final = 4
_SHOWN_ELASTICITIES: Final = 25
_SMALL: Final = 5e-4  # elasticities below are left to JSON

Chapter = Mapping[str, Any]


def book_text(book: Chapter) -> str:
    """Return a book as text.

    Parameters
    ----------
    book : mapping
        From ``perfmodel.model.book.explain``.
    """
    sections = (
        _head(book), _total(book["total"], book["policy"]), _steps(book), _memory(book["memory"]),
        _elasticities(book["elasticities"], book["settling"], book["unit"]), _best_chunk(book["best_chunk"]),
        _break_even(book["break_even"]), _knee(book["knee"]), _sources(book["sources"]),
    )  # fmt: skip
    return "\n".join(line.rstrip() for section in sections for line in section) + "\n"


def _head(book: Chapter) -> Iterator[str]:
    yield f"{book['workload']} on {book['system']}, plan {book['plan_name']}"
    yield f"{render(book['time_s'], 's')} per {book['unit']}"


def _title(words: str) -> Iterator[str]:
    yield ""
    yield words.upper()


def _wrapped(words: str, first: str, rest: str | None = None) -> list[str]:
    """Return text in lines that keep a number and its unit together."""
    joined = re.sub(r"(?<=[\d.]) (?=[A-Za-z]+(?:/[A-Za-z]+)?(?:[ ,;)]|$))", _JOINT, words)
    hanging = " " * len(first) if rest is None else rest
    lines = textwrap.wrap(
        joined, WIDTH, initial_indent=first, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_JOINT, " ") for line in lines or [first]]


def _equation(name: str, entry: Chapter, value: float, unit: str, indent: str) -> Iterator[str]:
    """Yield a formula, the same with numbers, and what it comes to."""
    left = f"{indent}{name} = "
    again = " " * len(f"{indent}{name} ") + "= "
    if len(left) > WIDTH // 3:
        again = f"{indent}    = "
    hanging = again[:-2] + "    "
    result = render(value, unit)
    yield from _wrapped(entry["formula"], left, hanging)
    if entry["with_numbers"] not in (result, entry["formula"]):
        yield from _wrapped(entry["with_numbers"], again, hanging)
    yield again + result


def _total(total: Chapter, policy: str) -> Iterator[str]:
    yield from _title(f"Total (policy {policy})")
    yield from _equation("time", total, total["value"], total["unit"], "  ")
    for stage in total["stages"]:
        yield f"  {stage['name']}_time: {' + '.join(stage['steps'])} = {render(stage['value'], 's')}"
    if "batches_per_epoch" in total["formula"]:
        yield f"  batches_per_epoch = {total['batches_per_epoch']:g}"


def _steps(book: Chapter) -> Iterator[str]:
    yield from _title("Steps")
    for number, step in enumerate(book["steps"], 1):
        yield ""
        yield f"{number}. {step['name']} on {step['where']}: {render(step['value'], 's')}, {step['share']:.1%}"
        for entry in (*step["uses"], step):
            yield from _entry(entry)


def _memory(needs: Sequence[Chapter]) -> Iterator[str]:
    yield from _title("Memory")
    for need in needs:
        kept = "fits" if need["fits"] else "DOES NOT FIT"
        yield ""
        yield f"{need['name']}: {render(need['value'], 'B')} of {render(need['capacity_bytes'], 'B')}, {kept}"
        for entry in (*need["uses"], need):
            yield from _entry(entry)


def _entry(entry: Chapter) -> Iterator[str]:
    """Yield one phase: formula, numbers, parts, arguments, regimes, domain, origin."""
    yield from _wrapped(f"{entry['phase']}: {entry['meaning']} [{entry['source']}]", "  ", "    ")
    if entry["item"]:
        others = f"; {entry['others']} others take less" if entry["others"] else ""
        yield from _wrapped(f"shown: {entry['item']}{others}", "    ", "      ")
    yield from _equation(entry["result"], entry, entry["item_value"], entry["unit"], "    ")
    for definition in entry["definitions"]:
        yield from _equation(definition["name"], definition, definition["value"], definition["unit"], "      ")
    yield from _arguments(entry["arguments"])
    if entry["assumption"]:
        yield from _wrapped(f"assumes {entry['assumption']}", "    ")
    for regime in entry["regimes"]:
        yield from _regime(regime, entry)
    for limit in entry["domain"]:
        state = "valid while" if limit["holds"] else f"OUTSIDE ITS DOMAIN ({limit['meaning']}): valid while"
        yield from _wrapped(f"{state} {limit['formula']}: {limit['with_numbers']}", "    ", "      ")


def _arguments(arguments: Mapping[str, Chapter]) -> Iterator[str]:
    """Yield the numbers that a formula takes from the scenario, with their origin."""
    for name, argument in arguments.items():
        value = render(argument["value"], argument["unit"])
        origin = argument["source"].split(":")[0]
        place = argument["key"] or argument["source"].split(": ")[-1]
        yield from _wrapped(f"{name} = {value}  ({origin}; {place})", "      . ", "        ")


def _regime(regime: Chapter, entry: Chapter) -> Iterator[str]:
    mark = "holds now" if regime["holds"] else "not now"
    count = entry["others"] + 1
    among = f", for {regime['holds_for']} of {count}" if count > 1 else ""
    yield from _wrapped(f"{regime['meaning']} ({mark}{among})", "    > ", "      ")
    yield from _wrapped(f"when {regime['formula']}", "      ", "        ")
    yield from _wrapped(f"now {regime['with_numbers']}", "      ", "        ")
    nearest = sorted(regime["thresholds"], key=_effort)
    for threshold in nearest[:_SHOWN_THRESHOLDS]:
        formula = f" = {threshold['formula']}" if threshold["formula"] else ""
        value, now = (render(threshold[name], threshold["unit"]) for name in ("value", "now"))
        yield from _wrapped(f"{threshold['holds']} {threshold['key']}{formula} = {value} (now {now})", "      - ")
    if len(nearest) > _SHOWN_THRESHOLDS:
        yield f"      - and {len(nearest) - _SHOWN_THRESHOLDS} more: --format json"


def _effort(threshold: Chapter) -> tuple[bool, float, str]:
    """Rank thresholds by how far the number would have to be turned; those of the plan come first."""
    now, value = threshold["now"], threshold["value"]
    far = abs(math.log(value / now)) if now > 0 and math.isfinite(now) and value > 0 else math.inf
    return not threshold["key"].startswith("plan."), far, threshold["key"]


def _elasticities(found: Sequence[Chapter], settling: str | None, unit: str) -> Iterator[str]:
    yield from _title(f"Elasticities: percent of the {unit}'s time per percent of ...")
    yield from _wrapped(settling, "  ") if settling else ()
    felt = [each for each in found if abs(each["elasticity"]) >= _SMALL]
    for each in felt[:_SHOWN_ELASTICITIES]:
        notes = [render(each["value"], each["unit"])]
        notes += ["by difference"] if each["method"] == "difference" else []
        notes += ["whole numbers only"] if each["discrete"] else []
        yield from _wrapped(f"{each['key']} ({', '.join(notes)})", f"  {each['elasticity']:+8.3f}  ", " " * 12)
    left = len(found) - len(felt[:_SHOWN_ELASTICITIES])
    yield f"  {left} others are smaller, or zero here: --format json"


def _best_chunk(chapter: Chapter | None) -> Iterator[str]:
    yield from _title("Best chunk")
    if chapter is None:
        yield "  nothing is sent in chunks"
        return
    if chapter["formula"] is None:
        yield f"  chunk = {render(chapter['value'], 'B')}"
    else:
        yield from _equation("chunk", chapter, chapter["value"], "B", "  ")
    yield from _wrapped(chapter["why"], "  ")
    yield from _wrapped(
        f"{chapter['step']} takes {render(chapter['transfer_time_s'], 's')} with it, "
        f"{render(chapter['transfer_time_now_s'], 's')} with {render(chapter['now'], 'B')} now; "
        f"the mini-batch {render(chapter['time_s'], 's')} and {render(chapter['time_now_s'], 's')}",
        "  ",
    )
    yield from _wrapped(
        f"transfer time of {chapter['regimes_of']} as a function of the chunk c, ceil(x) taken as x:", "  "
    )
    for regime in chapter["regimes"]:
        span = f"{render(regime['low'], 'B')} to {render(regime['high'], 'B')}"
        formula = regime["with_numbers"] or "no sum of powers of c"
        yield from _wrapped(f"{span}: {formula}, {regime['slope']}", "  - ")


def _break_even(chapter: Chapter | None) -> Iterator[str]:
    """Yield the ratio of memory traffic to communication at which an agent breaks even, where there are messages."""
    if chapter is None:
        return
    yield from _title("Break-even ratio of memory traffic to communication")
    if chapter["value"] is not None:
        yield from _equation("ratio", chapter, chapter["value"], "", "  ")
    if "over_numbers" in chapter:
        yield from _equation("ratio", chapter["over_numbers"], chapter["value"], "", "  ")
        for name, words in chapter["over_numbers"]["definitions"].items():
            yield f"    {name} = {words}"
    yield from _wrapped(chapter["why"], "  ")
    if chapter["agent"]:
        largest = chapter["largest"]
        yield from _wrapped(
            f"now {chapter['now']:g}: the agent is {chapter['speedup']:.3g} times as fast as routing inline; at most "
            f"{largest['speedup']:.3g} times, at a ratio of {largest['ratio']:.3g}", "  ",
        )  # fmt: skip
    else:
        yield f"  now {chapter['now']:g}"


def _sources(sources: Mapping[str, str]) -> Iterable[str]:
    yield from _title("Sources")
    for key, words in sources.items():
        yield from _wrapped(f"[{key}] {words}", "  ", "    ")


def _knee(chapter: Chapter | None) -> Iterator[str]:
    """Yield the devices beyond which another one gains little, where devices share out the work."""
    if chapter is None:
        return
    yield from _title(f"Knee: devices beyond which another one gains less than {chapter['gain']:.0%}")
    yield from _equation("knee_devices", chapter, chapter["value"], "", "  ")
    yield from _wrapped(f"{chapter['devices']} devices; {chapter['now']:g} now; {chapter['why']}", "  ")
    yield from _wrapped(
        "; ".join(f"{each['devices']}: {render(each['time_s'], 's')}" for each in chapter["times"]), "  "
    )
