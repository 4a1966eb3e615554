"""``perfmodel predict``: the time of one plan with its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from perfmodel.cli.options import json_option, parsed_changes, scenario_options
from perfmodel.cli.output import duration, warn, write_json, write_line, write_table

if TYPE_CHECKING:
    from perfmodel.estimate import Estimate
    from perfmodel.spec.scenario import Scenario


@click.command("predict")
@scenario_options
@click.option("--against", metavar="PLAN_OR_SYSTEM", help="Compare with another plan, or with another system.")
@json_option
def command(
    workload: str,
    system: str,
    plan: str | None,
    changes: tuple[str, ...],
    profile: str | None,
    against: str | None,
    as_json: bool,
) -> None:
    """Predict the time of a mini-batch (a frame, a run) of WORKLOAD, where it goes, and how sure that is.

    \b
    perfmodel predict ogbn-products --system lgnnic-doca-dma --against no-offload
    perfmodel predict reddit --system lgnnic-sockets --set plan.precision.features=fp16
    """  # noqa: D301
    from perfmodel.estimate import predict
    from perfmodel.spec.scenario import load_scenario

    settled = parsed_changes(changes)
    scenario = load_scenario(workload, system, plan, profile, settled)
    other = None if against is None else _other(against, workload, system, plan, profile, settled)
    estimate = predict(scenario, other)
    if as_json:
        write_json(estimate.to_dict())
        return
    _write(estimate)


def _other(
    against: str, workload: str, system: str, plan: str | None, profile: str | None, changes: dict[str, Any]
) -> Scenario:
    """Return the scenario to compare with: changes of the workload hold for both, others for what they belong to."""
    from perfmodel.spec.catalog import kind_of, names
    from perfmodel.spec.scenario import load_scenario

    is_system = against.casefold() in names("systems")  # which brings the plan of its name along
    kind = "systems" if is_system else kind_of(against, ("plans", "systems"), "--against")
    kept = "system." if kind == "plans" else "plan."
    shared = {key: value for key, value in changes.items() if key.startswith(("workload.", kept))}
    if kind == "plans":
        return load_scenario(workload, system, against, profile, shared)
    return load_scenario(workload, against, plan, profile, shared)


def _write(estimate: Estimate) -> None:
    from perfmodel.units import render

    low, high = estimate.interval_s
    write_line(
        f"{estimate.workload} on {estimate.system}: {duration(estimate.time_s)} per {estimate.unit}, "
        f"{duration(estimate.epoch_time_s)} per epoch"
    )
    write_line(f"{estimate.interval_level:.0%} interval of a {estimate.unit}: {duration(low)} to {duration(high)}")
    rows = [
        [phase.name, duration(phase.time_s), f"{phase.share:.1%}", phase.where, phase.source]
        for phase in estimate.phases
    ]
    write_table("", ["phase", "time", "share", "where", "source"], rows, numbers=(1, 2))
    sizes = ", ".join(f"{kind} {render(size, 'B')}" for kind, size in estimate.bytes.items())
    if estimate.nodes is not None and estimate.edges is not None:
        write_line(f"{estimate.unit}: {estimate.nodes:,.0f} nodes, {estimate.edges:,.0f} edges")
    if estimate.bytes["total"]:
        write_line(f"sent: {sizes}")
    for need in estimate.memory:
        share = need.need_bytes / need.capacity_bytes
        write_line(
            f"memory of {need.where}: {render(need.need_bytes, 'B')} of {render(need.capacity_bytes, 'B')} "
            f"({share:.1%})"
        )
    if estimate.energy_j is not None:
        write_line(f"energy: {render(estimate.energy_j, 'J')}")
    if estimate.against is not None:
        other = estimate.against
        slow, fast = other.speedup_interval
        write_line(
            f"against {other.name}: {duration(other.time_s)}, speedup {other.speedup:.2f} "
            f"({slow:.2f} to {fast:.2f}){'' if other.feasible else '; that plan is infeasible'}"
        )
    for violation in estimate.violations:
        write_line(f"infeasible ({violation.rule}): {violation.message}")
    for warning in estimate.warnings:
        warn(warning)
