"""``perfmodel search``: the best plan, how good it is, why it wins, and where another one would."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from perfmodel.cli.options import json_option, parsed_changes, scenario_options
from perfmodel.cli.output import duration, warn, write_json, write_line, write_table
from perfmodel.errors import NoFeasiblePlan, SpecError

if TYPE_CHECKING:
    from perfmodel.search.result import PlanFound, SearchResult
    from perfmodel.search.run import Progress

_SHOWN = 20  # rows of a front
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@click.command("search")
@scenario_options
@click.option("--space", metavar="FILE", help="What to search, as TOML [default: the family's own space].")
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    metavar="NAME,...",
    default=("time",),
    help="What to minimize: time, energy, cost or an expression of results; several give a front [default: time].",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="TEXT",
    help='What to keep, e.g. --constraint "time <= 50 ms". May be repeated.',
)
@click.option("--method", metavar="METHOD", default="auto", help="auto, optuna or exhaustive [default: auto].")
@click.option("--trials", metavar="N", default="500", help="Plans that Optuna may try [default: 500].")
@click.option("--timeout", metavar="S", help="Answer with the best so far after so long.")
@click.option("--storage", metavar="URL", help="Keep Optuna's trials: a journal file or a database.")
@click.option("--study", metavar="NAME", help="Name of the study; one that the storage has is carried on.")
@click.option("--seed", metavar="N", default="0", help="Same seed, same answer [default: 0].")
@click.option("--sampler", metavar="NAME", default="tpe", help="Optuna's: tpe, random, nsgaii, qmc [default: tpe].")
@click.option("--robust", metavar="Q", help="Optimize this quantile of the uncertainty, e.g. 0.9.")
@click.option("--against", metavar="PLAN", help="Explain the winner against this plan of yours.")
@click.option("--no-explain", "brief", is_flag=True, help="Leave out why the plan wins.")
@click.option("--csv", "csv_file", metavar="FILE", help="Write the plans that were looked at, a row a plan.")
@click.option("--out", metavar="PLAN.toml", help="Write the best plan for predict --plan.")
@json_option
def command(
    workload: str, system: str, plan: str | None, changes: tuple[str, ...], profile: str | None, space: str | None,
    objectives: tuple[str, ...], constraints: tuple[str, ...], method: str, trials: str, timeout: str | None,
    storage: str | None, study: str | None, seed: str, sampler: str, robust: str | None, against: str | None,
    brief: bool, csv_file: str | None, out: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Find the best plan for WORKLOAD on a system, with proof of how good it is.

    \b
    perfmodel search ogbn-products --system lgnnic-doca-dma
    perfmodel search reddit --system lgnnic-sockets --objective time,cost --constraint "cost <= 20000 USD"
    perfmodel search ogbn-mag --system lgnnic-doca-dma --space space.toml --storage study.journal --study night
    """  # noqa: D301
    from perfmodel.search.plan_file import check_out, plan_text, write_text
    from perfmodel.search.run import search
    from perfmodel.spec.scenario import load_scenario

    for name, option in ((out, "--out"), (csv_file, "--csv")):
        if name is not None:
            check_out(name, option)
    settled = parsed_changes(changes)
    scenario = load_scenario(workload, system, plan, profile, settled)
    kept = {key: value for key, value in settled.items() if not key.startswith("plan.")}
    other = None if against is None else load_scenario(workload, system, against, profile, kept)
    with _progress() as watch:
        found = search(
            scenario, space, list(objectives),
            constraints=constraints, method=method, trials=_whole(trials, "--trials"), timeout=_seconds(timeout),
            storage=storage, study=study, seed=_whole(seed, "--seed"), robust=_number(robust, "--robust"),
            sampler=sampler, against=other, explain=not brief, progress=watch,
        )  # fmt: skip
    if csv_file is not None:
        write_text(csv_file, _csv(found), "--csv")
    if found.best is not None and out is not None:
        write_text(out, plan_text(found.best))
    if as_json:
        write_json(found.to_dict())
    elif found.best is not None:
        _write(found, found.best)
        if out is not None:
            write_line(f"plan written to {out}")
    for warning in (*found.warnings, *(found.estimate.warnings if found.estimate else ())):
        warn(warning)
    if found.best is None:
        raise NoFeasiblePlan(_why_not(found))


def _whole(text: str, option: str) -> int:
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise SpecError(option, "must be a whole number", repr(text), "100") from None


def _number(text: str | None, option: str) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise SpecError(option, "must be a number", repr(text), "0.9") from None


def _seconds(text: str | None) -> float | None:
    from perfmodel.units import parse

    return None if text is None else parse(text, "s", "--timeout")


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Draw how far a search is, on stderr and only where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[found]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("searching", total=None, found="")

        def watch(progress: Any) -> None:
            speed = bar.tasks[0].speed
            best = "" if progress.best is None else f"best {progress.best:.4g}, "
            share = progress.feasible / progress.done if progress.done else 0.0
            rate = "" if not speed else f", {speed:,.0f}/s"
            text = f"{best}{share:.0%} feasible{rate}"
            bar.update(task, description=progress.doing, completed=progress.done, total=progress.total, found=text)

        yield watch


def _write(found: SearchResult, best: PlanFound) -> None:
    values = ", ".join(f"{name} {_value(value, found.units[name])}" for name, value in best.objectives.items())
    write_line(f"{found.workload} on {found.system}: {values}")
    assert found.estimate is not None
    low, high = found.estimate.interval_s
    write_line(
        f"{found.estimate.interval_level:.0%} interval of a {found.estimate.unit}: {duration(low)} to {duration(high)}; "
        f"bottleneck {found.estimate.bottleneck}"
    )
    shares = found.importance
    rows = [[key, _plain(value), f"{shares.get(key, 0.0):.1%}"] for key, value in best.parameters.items()]
    write_table("best plan", ["parameter", "value", "share of the spread"], rows, numbers=(2,))
    _write_proof(found)
    if len(found.pareto) > 1:
        _write_front(found)
    for one in found.explanation.get("comparisons", ()):
        _write_comparison(one)
    _write_binding(found)
    _write_switches(found.explanation)
    if found.explanation.get("scaling"):
        _write_scaling(found.explanation["scaling"])
    if found.robust is not None:
        _write_robust(found)


def _write_proof(found: SearchResult) -> None:
    size = "" if found.size is None else f" of {found.size:,}"
    write_line(
        f"{found.method}: {found.evaluated:,}{size} plans evaluated in {found.seconds:.3g} s "
        f"({found.evaluations_per_s:,.0f}/s), {found.feasible:,} feasible; {found.ended}"
    )
    for rule, plans in found.infeasible_by_rule.items():
        write_line(f"infeasible: {plans:,} by {rule}")
    gap = "" if found.gap is None else f"gap {found.gap:.2%}; "
    write_line(f"proof: {found.proof.kind}; {gap}{found.proof.note}")
    if found.study is not None:
        study = found.study
        write_line(f"study {study.name} in {study.storage}: {study.trials} trials, {study.sampler}, seed {study.seed}")


def _write_front(found: SearchResult) -> None:
    varied = [key for key in found.pareto[0].parameters if len({str(p.parameters.get(key)) for p in found.pareto}) > 1]
    rows = [
        [_value(value, found.units[name]) for name, value in plan.objectives.items()]
        + [_plain(plan.parameters.get(key, "-")) for key in varied]
        for plan in found.pareto[:_SHOWN]
    ]
    title = f"Pareto front, {len(found.pareto)} plans" + (f", the first {_SHOWN}" if len(found.pareto) > _SHOWN else "")
    write_table(title, [*found.objectives, *varied], rows, numbers=range(len(found.objectives)))
    if found.hypervolume is not None:
        write_line(f"hypervolume {found.hypervolume['value']:.6g}")


def _write_comparison(one: Mapping[str, Any]) -> None:
    if "error" in one:
        write_line(f"against {one['with']}: {one['error']}")
        return
    low, high = one["speedup_interval"]
    infeasible = "" if one["feasible"] else ", and infeasible"
    title = f"against {one['with']}: {duration(one['time_s'])}, speedup {one['speedup']:.2f} ({low:.2f} to {high:.2f})"
    rows = [
        [phase["name"], duration(phase["winner_s"]), duration(phase["other_s"]), _saved(phase["saved_s"])]
        for phase in one["phases"]
    ]
    write_table(title + infeasible, ["phase", "winner", one["with"], "saved"], rows, numbers=(1, 2, 3))
    changed = one["changed"].items()
    write_line("differs in " + ", ".join(f"{key} {_plain(v['other'])} -> {_plain(v['winner'])}" for key, v in changed))


def _saved(seconds: float) -> str:
    return "-" + duration(-seconds) if seconds < 0 else duration(seconds)


def _write_binding(found: SearchResult) -> None:
    from perfmodel.units import render

    name = found.objectives[0]
    for one in found.explanation.get("binding", ()):
        gain = "" if one["gain"] is None else f" ({one['gain']:.1%} better)"
        write_line(
            f"limit that binds: {one['rule']}; at {render(one['need'], one['unit'])} in place of "
            f"{render(one['limit'], one['unit'])} {name} would be {_value(one['value'], found.units[name])}{gain}"
        )


def _write_switches(explanation: Mapping[str, Any]) -> None:
    """Write where another placement becomes best."""
    from perfmodel.units import render

    points = explanation.get("switch_points", ())
    if points:
        rows = [[one["what"], render(one["value"], one["unit"]), one["below"], one["above"]] for one in points]
        write_table("where another placement becomes best", ["number", "at", "below", "above"], rows, wrapped=(2, 3))
    for one in explanation.get("steady", ()):
        write_line(
            f"{one['what']}: {one['placement']} stays best from {render(one['low'], one['unit'])} "
            f"to {render(one['high'], one['unit'])}"
        )
    if explanation.get("regime_map"):
        _write_map(explanation["regime_map"])


def _write_scaling(found: Mapping[str, Any]) -> None:
    """Write up to how many devices another one pays."""
    write_line(
        f"another device gains {found['gain']:.0%} or more up to {found['devices']:.0f}, the plan tuned anew at each count; "
        f"in closed form for the plan there: {found['closed_form']:.3g}"
    )


def _write_map(found: Mapping[str, Any]) -> None:
    """Write which placement is best over two numbers, a letter a place; a dot where nothing is feasible."""
    from perfmodel.units import render

    if len(found["placements"]) < 2:
        return
    x, y = found["x"], found["y"]
    write_line(f"# best over {x['what']} (across) and {y['what']} (up)")
    for value, row in reversed(list(zip(y["values"], found["best"], strict=True))):
        letters = "".join(_LETTERS[place % len(_LETTERS)] if place is not None else "." for place in row)
        write_line(f"{letters} {render(value, y['unit'])}")
    write_line(f"{render(x['values'][0], x['unit'])} to {render(x['values'][-1], x['unit'])}")
    for place, name in enumerate(found["placements"]):
        write_line(f"{_LETTERS[place % len(_LETTERS)]}: {name}")


def _write_robust(found: SearchResult) -> None:
    robust = found.robust
    assert robust is not None
    if not robust.differs:
        write_line(f"at the {robust.quantile:.0%} quantile the choice is that of the expected values")
    elif robust.expected is not None and found.best is not None:
        name, value = next(iter(robust.expected.objectives.items()))
        other = {
            key: value for key, value in robust.expected.parameters.items() if found.best.parameters.get(key) != value
        }
        write_line(
            f"at the {robust.quantile:.0%} quantile the choice differs: expected values choose "
            f"{', '.join(f'{key} {_plain(each)}' for key, each in other.items())}, "
            f"with {name} {_value(value, found.units[name])} at that quantile"
        )


def _why_not(found: SearchResult) -> str:
    """Return the sentence of a search without a feasible plan."""
    from perfmodel.units import render

    tried = f"{found.workload} on {found.system}: no feasible plan among {found.evaluated:,}"
    if found.closest is None:
        reasons = ", ".join(f"{plans:,} break {rule}" for rule, plans in found.infeasible_by_rule.items())
        return f"{tried}: {reasons or found.ended}"
    near = found.closest
    return (
        f"{tried}; {near.rule} comes closest, passed {near.excess:.4g}-fold: {render(near.need, near.unit)} "
        f"where the limit is {render(near.limit, near.unit)}"
    )


def _csv(found: SearchResult) -> str:
    import csv
    import io

    text = io.StringIO()
    names = list(dict.fromkeys(name for row in found.rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in found.rows)
    return text.getvalue()


def _value(value: float, unit: str) -> str:
    from perfmodel.units import render

    return duration(value) if unit == "s" else render(value, unit)


def _plain(value: Any) -> str:
    """Return a value as people and ``--set`` write it."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
