"""``perfmodel plan``: which fleet meets the targets as jobs grow, at what cost, with what probability."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

import perfmodel
from perfmodel.cli.options import json_option, parsed_changes
from perfmodel.cli.output import duration, progress_bar, warn, write_json, write_line, write_table
from perfmodel.errors import NoFeasiblePlan, SpecError

if TYPE_CHECKING:
    from perfmodel.plan.result import CapacityPlan, Period
    from perfmodel.plan.what_if import BreakEven, Point

_DAY = 86400.0
_KILOWATT_HOUR = 3.6e6  # J


@click.command("plan")
@click.argument("fleet", metavar="FILE")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change one value, e.g. --set devices.0.price="2500 USD". May be repeated.',
)
@click.option(
    "--sweep", metavar="KEY=LOW..HIGH:POINTS", help="Plan for each value, e.g. jobs.0.growth.edges=1.2..3.0:10."
)
@click.option(
    "--tornado", metavar="SHARE", help="What each input does to cost, lower and higher by this share, e.g. 20%."
)
@click.option("--break-even", "between", metavar="A,B", help="With --sweep: where device A starts to beat device B.")
@click.option(
    "--timeout", metavar="S", default="60", help="Longest proof; the best fleet so far after that [default: 60]."
)
@click.option(
    "--csv",
    "csv_file",
    metavar="FILE",
    help="Write a row a period, or a point of a sweep.",
)
@json_option
def command(
    fleet: str, changes: tuple[str, ...], sweep: str | None, tornado: str | None, between: str | None, timeout: str,
    csv_file: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Find the cheapest fleet that meets the targets of all jobs in FILE as they grow, period by period.

    \b
    perfmodel plan three-jobs
    perfmodel plan three-jobs --sweep jobs.products.growth.nodes=1.2..3.0:10
    perfmodel plan three-jobs --sweep devices.host.price=5000..60000 --break-even smartnic,host
    """  # noqa: D301
    from perfmodel.plan.capacity import planned
    from perfmodel.plan.planner import Demands
    from perfmodel.plan.read import fleet_of, read_table
    from perfmodel.search.plan_file import check_out, write_text
    from perfmodel.units import parse

    if csv_file is not None:
        check_out(csv_file, "--csv")
    if sum(each is not None for each in (sweep, tornado)) > 1 or (between is not None and sweep is None):
        raise SpecError(
            "--break-even" if between else "--tornado", "goes with" if between else "goes without", "--sweep"
        )
    limit = parse(timeout, "s", "--timeout")
    if limit <= 0:
        raise SpecError("--timeout", "must be above 0 s", timeout, "60")
    table, inputs = read_table(fleet)
    table = _with(table, parsed_changes(changes))
    known = Demands()
    if sweep is not None or tornado is not None:
        document, rows = _what_if(table, sweep, tornado, between, known, as_json)
        if csv_file is not None:
            write_text(csv_file, _csv([_headed(row) for row in rows]), "--csv")
        if as_json:
            write_json(
                {"schema": 1, "perfmodel": perfmodel.__version__, **document, "inputs": {**inputs, **known.inputs}}
            )
        return
    with progress_bar("evaluating jobs on devices") as progress:
        found = planned(fleet_of(table), known, limit, progress)
    found = dataclasses.replace(found, inputs={**inputs, **found.inputs})
    if csv_file is not None:
        write_text(csv_file, _csv(_rows(found)), "--csv")
    if as_json:
        write_json(found.to_dict())
    else:
        _write(found)
    for warning in found.warnings:
        warn(warning)
    if found.missing is not None:
        raise NoFeasiblePlan(_why_not(found))


def _with(table: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the table with ``--set`` laid over it, checked as a whole."""
    from perfmodel.plan.read import changed, fleet_of

    table = changed(table, changes)
    fleet_of(table)
    return table


def _what_if(
    table: dict[str, Any], swept: str | None, tornado: str | None, between: str | None, known: Any, as_json: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the question; returns its document and its rows, and writes them where people read."""
    from perfmodel.plan import what_if

    if swept is None:
        assert tornado is not None
        from perfmodel.units import parse

        share = parse(tornado, "", "--tornado")
        if not 0.0 < share < 1.0:
            raise SpecError("--tornado", "must be above 0 and below 1", tornado, "20%")
        with progress_bar("varying inputs") as progress:
            bars = what_if.tornado(table, share, known, progress)
        rows = [_bar(bar) for bar in bars]
        if not as_json:
            _write_rows(f"lower and higher by {share:.0%}", rows)
        return {"tornado": rows, "share": share}, rows
    key, values = what_if.sweep_of(swept)
    if between is not None:
        names = [name.strip() for name in between.split(",")]
        if len(names) != 2:
            raise SpecError("--break-even", "must be two types of device", repr(between), "A,B")
        with progress_bar("comparing options") as progress:
            ends = [what_if.number_of(table, key, value) for value in (values[0], values[-1])]
            even = what_if.break_even(table, key, ends[0], ends[1], names[0], names[1], known, progress)
        rows = _costs(even)
        if not as_json:
            _write_even(even, rows)
        return {"break_even": dataclasses.asdict(even)}, rows
    with progress_bar("planning") as progress:
        points = what_if.sweep(table, key, values, known, progress)
    rows = [_swept(key, point) for point in points]
    if not as_json:
        _write_rows("", rows)
    return {"sweep": {"key": key, "points": [dataclasses.asdict(point) for point in points]}}, rows


def _bar(bar: Any) -> dict[str, Any]:
    return {
        "input": bar.key,
        "value": bar.value,
        "cost_low": bar.low.cost,
        "cost_high": bar.high.cost,
        "swing": bar.swing,
        "first_failing_low": bar.low.first_failing,
        "first_failing_high": bar.high.first_failing,
    }


def _swept(key: str, point: Point) -> dict[str, Any]:
    return {key: point.value, "cost": point.cost, "first_failing": point.first_failing, **point.fleet}


def _costs(even: BreakEven) -> list[dict[str, Any]]:
    columns = zip(even.values, even.costs_one, even.costs_other, strict=True)
    return [{even.key: value, f"cost_{even.one}": one, f"cost_{even.other}": other} for value, one, other in columns]


def _write_even(even: BreakEven, rows: list[dict[str, Any]]) -> None:
    _write_rows("", rows)
    for each in even.crossings:
        write_line(f"at {even.key} = {each.value:.5g}: below it {each.below} is cheaper, above it {each.above}")
    if not even.crossings:
        write_line(f"no break-even between {even.values[0]:g} and {even.values[-1]:g}")


def _write_rows(title: str, rows: list[dict[str, Any]]) -> None:
    header = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name)) for name in header] for row in rows]
    write_table(title, header, cells, numbers=range(1, len(header)))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return (
        f"{value:,.6g}"
        if isinstance(value, float) and abs(value) < 1e6
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )


def _write(found: CapacityPlan) -> None:
    write_line(
        f"{found.name}: {found.cost:,.0f} USD for {len(found.periods)} periods, {found.capital:,.0f} for devices and "
        f"{found.energy_cost:,.0f} for energy; targets met with {found.confidence:.0%} or more"
    )
    if found.periods:
        names = [name for name in found.periods[0].fleet if any(period.fleet[name] for period in found.periods)]
        rows = [_period(period, names) for period in found.periods]
        header = ["period", "from", *names, "devices", "energy", "limiting", "used", "least sure target"]
        write_table("fleet in service, USD", header, rows, numbers=(0, *range(2, len(names) + 4)))
        _write_jobs(found.periods[-1])
    if found.orders:
        rows = [
            [order.name, str(order.units), _day(order.order_s), _day(order.arrives_s), f"{order.price:,.0f}"]
            for order in found.orders
        ]
        write_table("orders", ["what", "units", "order by day", "serves from day", "USD"], rows, numbers=(1, 2, 3, 4))
    if found.proof is not None:
        proof = found.proof
        what = "no fleet is cheaper" if proof.gap == 0 else f"gap {proof.gap:.2%}"
        write_line(
            f"proof: {what} at the {found.quantile:.0%} quantile of demand; {proof.nodes} nodes, {proof.seconds:.3g} s"
        )


def _period(period: Period, names: list[str]) -> list[str]:
    limiting = next(each for each in period.resources if each.name == period.limiting)
    job = min(period.p_meets_target, key=lambda name: period.p_meets_target[name])
    fleet = [str(period.fleet[name]) for name in names]
    money = [f"{period.capital:,.0f}", f"{period.energy_cost:,.0f}"]
    odds = f"{job} {period.p_meets_target[job]:.0%}"
    return [
        str(period.period),
        f"day {_day(period.start_s)}",
        *fleet,
        *money,
        limiting.name,
        f"{limiting.utilization:.0%}",
        odds,
    ]


def _write_jobs(period: Period) -> None:
    rows = [
        [
            run.job,
            str(run.instances),
            run.device,
            f"{run.copies} x {run.share:g}" if run.shared else f"{run.copies} of its own",
            duration(run.epoch_time_s),
            duration(run.target_s),
            f"{run.p_meets_target:.1%}",
        ]
        for run in period.jobs
    ]
    header = ["job", "jobs", "on", "units each", "epoch", "target", "met with"]
    write_table(f"jobs in period {period.period}", header, rows, numbers=(1, 4, 5, 6))


def _day(seconds: float) -> str:
    return f"{seconds / _DAY:.0f}"


def _why_not(found: CapacityPlan) -> str:
    lacking = found.missing
    assert lacking is not None
    dropped = f"; by priority {', '.join(lacking.dropped)} would go unserved" if lacking.dropped else ""
    return (
        f"{found.name}: no fleet meets all targets from period {lacking.period} on ({lacking.rule}): {lacking.message}; "
        f"at most {lacking.share_met:.0%} of each target can be met{dropped}"
    )


def _rows(found: CapacityPlan) -> list[dict[str, Any]]:
    """Return a row a period: money and energy, then what is in service, new and to be ordered, then how full and how sure."""
    spent, rows = 0.0, []
    for period in found.periods:
        spent += period.cost
        names = list(period.fleet)
        due = {order.name: order.order_s / _DAY for order in found.orders if order.period == period.period}
        rows.append(
            {
                "period": period.period,
                "start [d]": period.start_s / _DAY,
                "length [d]": period.length_s / _DAY,
                "devices [USD]": period.capital,
                "energy [USD]": period.energy_cost,
                "cost [USD]": period.cost,
                "cost so far [USD]": spent,
                "energy [kWh]": period.energy_j / _KILOWATT_HOUR,
                **{f"{name} in service [units]": period.fleet[name] for name in names},
                **{f"{name} bought [units]": period.bought[name] for name in names},
                **{f"{name} order by [d]": due.get(name) for name in names},
                "limiting": period.limiting,
                **{f"{each.name} used [%]": 100.0 * each.utilization for each in period.resources},
                **{f"{job} met with [%]": 100.0 * odds for job, odds in period.p_meets_target.items()},
                "all met with [%]": 100.0 * period.p_all,
            }
        )
    return rows


def _headed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a what-if question with money's unit in its header; inputs are in SI, devices in units."""
    money = {name for name in row if name in ("cost", "swing") or name.startswith("cost_")}
    return {f"{name} [USD]" if name in money else name: value for name, value in row.items()}


def _csv(rows: list[dict[str, Any]]) -> str:
    import csv
    import io

    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
