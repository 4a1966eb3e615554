r"""The formula book as one LaTeX document that needs nothing beyond the base collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfmodel.model.notation import escaped, latex_name, latex_quantity
from perfmodel.units import render

Chapter = Mapping[str, Any]

_PREAMBLE: Final = r"""\documentclass[a4paper]{article}
\usepackage[margin=20mm]{geometry}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage{longtable}
\usepackage{url}
\setlength{\parindent}{0pt}
\newsavebox{\formulabox}
% a formula, made smaller where it is wider than the page
\newcommand{\formula}[1]{\par\smallskip\savebox{\formulabox}{$\displaystyle #1$}%
  \ifdim\wd\formulabox>\linewidth\resizebox{\linewidth}{!}{\usebox{\formulabox}}%
  \else\usebox{\formulabox}\fi\par}
\newcommand{\words}[1]{\texttt{#1}}
\begin{document}"""


def book_latex(book: Chapter) -> str:
    """Return a book as a complete LaTeX document.

    Parameters
    ----------
    book : mapping
        From ``perfmodel.model.book.explain``.
    """
    name = escaped(f"{book['workload']} on {book['system']}, plan {book['plan_name']}")
    lines = [
        _PREAMBLE, rf"\section*{{{name}}}", f"{_value(book['time_s'], 's')} per {escaped(book['unit'])}.",
        *_total(book["total"], book["policy"]), *_steps(book["steps"]), *_memory(book["memory"]),
        *_elasticities(book["elasticities"], book["settling"]), *_best_chunk(book["best_chunk"]),
        *_break_even(book["break_even"]), *_knee(book["knee"]), *_sources(book["sources"]),
        r"\end{document}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _value(value: float, unit: str) -> str:
    return f"${latex_quantity(value, unit)}$"


def _equation(name: str, entry: Chapter, value: float, unit: str) -> Iterator[str]:
    yield rf"\formula{{{latex_name(name)} = {entry['latex']}}}"
    if entry["with_numbers"] != render(value, unit):
        yield rf"\formula{{{{}} = {entry['latex_with_numbers']}}}"
    yield rf"\formula{{{{}} = {latex_quantity(value, unit)}}}"


def _total(total: Chapter, policy: str) -> Iterator[str]:
    yield rf"\section*{{Total (policy {escaped(policy)})}}"
    yield from _equation("time", total, total["value"], total["unit"])
    for stage in total["stages"]:
        names = " + ".join(latex_name(name) for name in stage["steps"])
        stage_time = latex_name(stage["name"] + "_time")
        yield rf"\formula{{{stage_time} = {names} = {latex_quantity(stage['value'], 's')}}}"


def _steps(steps: Sequence[Chapter]) -> Iterator[str]:
    yield r"\section*{Steps}"
    for step in steps:
        share = f"{step['share']:.1%}"
        yield rf"\subsection*{{{escaped(step['name'])} on {escaped(step['where'])}}}"
        yield f"{_value(step['value'], 's')}, {escaped(share)} of the time."
        for entry in (*step["uses"], step):
            yield from _entry(entry)


def _memory(needs: Sequence[Chapter]) -> Iterator[str]:
    yield r"\section*{Memory}"
    for need in needs:
        kept = "fits" if need["fits"] else "does not fit"
        yield rf"\subsection*{{{escaped(need['name'])}}}"
        yield f"{_value(need['value'], 'B')} of {_value(need['capacity_bytes'], 'B')}: {kept}."
        for entry in (*need["uses"], need):
            yield from _entry(entry)


def _entry(entry: Chapter) -> Iterator[str]:
    """Yield one phase: formula, numbers, parts, arguments, regimes, domain."""
    yield rf"\paragraph{{{escaped(entry['phase'])}}} {escaped(entry['meaning'])} [{escaped(entry['source'])}]."
    if entry["item"]:
        others = f"; {entry['others']} others take less" if entry["others"] else ""
        yield escaped(f"Shown: {entry['item']}{others}.")
    yield from _equation(entry["result"], entry, entry["item_value"], entry["unit"])
    if entry["definitions"]:
        yield r"\par with"
    for definition in entry["definitions"]:
        yield from _equation(definition["name"], definition, definition["value"], definition["unit"])
    yield from _arguments(entry["arguments"])
    if entry["assumption"]:
        yield rf"\par Assumes {escaped(entry['assumption'])}."
    for regime in entry["regimes"]:
        yield from _regime(regime)
    for limit in entry["domain"]:
        yield rf"\par Valid while ({'kept' if limit['holds'] else 'broken: ' + escaped(limit['meaning'])}):"
        yield rf"\formula{{{limit['latex']}}}"


def _arguments(arguments: Mapping[str, Chapter]) -> Iterator[str]:
    if not arguments:
        return
    yield r"\par\smallskip{\footnotesize\begin{longtable}{@{}p{0.28\linewidth}p{0.16\linewidth}p{0.46\linewidth}@{}}"
    for name, argument in arguments.items():
        source = escaped(f"{argument['meaning']} ({argument['source'].split(':')[0]})")
        yield rf"${latex_name(name)}$ & {_value(argument['value'], argument['unit'])} & {source} \\"
    yield r"\end{longtable}}"


def _regime(regime: Chapter) -> Iterator[str]:
    state = "holds now" if regime["holds"] else "does not hold now"
    yield rf"\par\smallskip\emph{{{escaped(regime['meaning'])}}} ({state}) when"
    yield rf"\formula{{{regime['latex']}}}"
    for threshold in regime["thresholds"]:
        formula = "" if threshold["latex"] is None else f" {threshold['latex']} ="
        value = latex_quantity(threshold["value"], threshold["unit"])
        sign = ">" if threshold["holds"] == "above" else "<"
        yield rf"\formula{{\text{{i.e. }} {latex_name(threshold['key'])} {sign}{formula} {value}}}"


def _elasticities(found: Sequence[Chapter], settling: str | None) -> Iterator[str]:
    yield r"\section*{Elasticities}"
    yield r"Percent of the mini-batch's time per percent of each number; others are smaller."
    if settling:
        yield rf"\par {escaped(settling[0].upper() + settling[1:])}.\par"
    yield r"\begin{longtable}{@{}rll@{}}"
    for each in found:
        if abs(each["elasticity"]) >= 5e-4:
            key, value = escaped(each["key"]), _value(each["value"], each["unit"])
            yield rf"${each['elasticity']:+.3f}$ & \words{{\small {key}}} & {value} \\"
    yield r"\end{longtable}"


def _best_chunk(chapter: Chapter | None) -> Iterator[str]:
    yield r"\section*{Best chunk}"
    if chapter is None:
        yield "Nothing is sent in chunks."
        return
    value = latex_quantity(chapter["value"], "B")
    formula = "" if chapter["latex"] is None else f" {chapter['latex']} ="
    yield rf"\formula{{\mathrm{{chunk}} ={formula} {value}}}"
    yield escaped(chapter["why"]) + "."
    yield (
        f"The transfer takes {_value(chapter['transfer_time_s'], 's')} with it, "
        f"{_value(chapter['transfer_time_now_s'], 's')} with {_value(chapter['now'], 'B')} now."
    )
    for regime in chapter["regimes"]:
        if regime["latex"] is not None:
            low, high = (_value(regime[end], "B") for end in ("low", "high"))
            yield rf"\par From {low} to {high} ({regime['slope']}):"
            yield rf"\formula{{{latex_name('transfer_time')} = {regime['latex']}}}"


def _break_even(chapter: Chapter | None) -> Iterator[str]:
    if chapter is None:
        return
    yield r"\section*{Break-even ratio of memory traffic to communication}"
    if chapter["value"] is not None:
        yield from _equation("ratio", chapter, chapter["value"], "")
    if "over_numbers" in chapter:
        yield from _equation("ratio", chapter["over_numbers"], chapter["value"], "")
    yield escaped(chapter["why"][0].upper() + chapter["why"][1:]) + "."


def _knee(chapter: Chapter | None) -> Iterator[str]:
    if chapter is None:
        return
    yield rf"\section*{{Devices beyond which another one gains less than {chapter['gain'] * 100:.0f}\,\%}}"
    yield from _equation("knee_devices", chapter, chapter["value"], "")
    yield escaped(f"{chapter['devices']} devices; {chapter['why']}") + "."


def _sources(sources: Mapping[str, str]) -> Iterator[str]:
    yield r"\section*{Sources}"
    for key, words in sources.items():
        yield rf"\par [{escaped(key)}] {escaped(words)}"
