"""Predicted against measured on this machine: real pipeline runs that no constant was fitted to.

A balanced design of configurations, run in random order, each several times. Graphs, widths and batches are others than
those of the kernels. As with the kernels, what counts are mini-batches between two pulses at full speed; a configuration
that has too few of them is run again, some times. Where they stay too few, its total is put together from its parts: on a
busy host each phase is undisturbed now and then, but hardly ever all of them in one mini-batch.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from calibration.disturbance import calm, disturbed_share, full_speed, undisturbed
from calibration.machine_tables import sentences, tables
from calibration.measurements import relative_spread
from calibration.pipeline.clock import BatchTimes
from calibration.pipeline.configuration import Configuration, SyntheticGraph
from calibration.pipeline.run import Pipeline
from calibration.validation import Row, balanced, by_quantity, summary
from perfmodel.estimate import interval_of
from perfmodel.spec.scenario import Scenario

__all__ = ["compared", "design", "document", "ordered", "run_design", "sentences", "tables", "validate"]

Array = NDArray[np.float64]

MEDIAN_BOUND, TAIL_BOUND, PHASE_BOUND, COVERAGE_BOUND, ORDER_BOUND = 0.10, 0.25, 0.15, 0.80, 0.95
DIFFERENT: Final = 0.20  # measured times that differ by more than this have an order to get right

_GRAPHS: Final = (
    SyntheticGraph(9000, 14.0, 0.9, seed=101),
    SyntheticGraph(35_000, 20.0, 1.1, seed=102),
    SyntheticGraph(110_000, 11.0, 1.0, seed=103),
    SyntheticGraph(320_000, 8.0, 0.8, seed=104),
)
_LEVELS: Final[Mapping[str, Sequence[Any]]] = {
    "graph": _GRAPHS,
    "fanout": ((10, 5), (12, 8), (6, 5, 4), (20,)),
    "batch": (96, 192, 384, 768),
    "dimension": (20, 48, 120, 260),
    "hidden": (24, 48),
    "classes": (10, 30),
    "precision": ("fp32", "fp32", "fp16", "bf16", "int8", "int4"),
    "chunk": (32 << 10, 128 << 10, 512 << 10, 1024 << 10),
    "window": (1, 2, 4),
    "mechanism": ("tcp", "shared-memory"),
    "placement": ("memory-node", "memory-node", "memory-node", "compute-node"),
    "workers": (0, 0, 1, 2),
}
_MOST_SEEDS_OF_NEIGHBORHOODS: Final = 96  # whole neighborhoods of more would be most of the graph
CONFIGURATIONS, CONFIGURATIONS_QUICK = 60, 12
REPEATS, BATCHES = 3, 9
LEAST_BATCHES: Final = 7  # undisturbed; a configuration with fewer is run again
MOST_REPEATS: Final = 12
#: Of the design that is run: the model was developed on that of seed 0.
SEED: Final = 20261201

Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True)
class Run:
    """What one configuration took.

    Attributes
    ----------
    asked : Configuration
    medians : mapping of quantity to float
        ``total`` and each phase: median over all its undisturbed mini-batches [s]; a total without enough of them is the
        sum of the phases' and of the median of what lies between phases.
    spread : mapping of quantity to float
        Relative deviation between the repeats' medians (robust); of one repeat, between its mini-batches.
    pulses : sequence of float
        Beside all its mini-batches [s].
    nodes, edges : float
        Median of a mini-batch.
    seconds : float
        Time that all its mini-batches took [s].
    """

    asked: Configuration
    medians: Mapping[str, float]
    spread: Mapping[str, float]
    pulses: Sequence[float]
    nodes: float
    edges: float
    seconds: float


def design(count: int, seed: int = 0) -> list[Configuration]:
    """Return configurations in which every level of every factor comes about equally often.

    Examples
    --------
    >>> len(set(design(60)))
    60
    """
    return [_runnable(chosen) for chosen in balanced(_LEVELS, count, seed)]


def _runnable(chosen: dict[str, Any]) -> Configuration:
    """Keep neighborhoods small where they are sent whole; a plan without a sampler on the memory node has no workers."""
    if chosen["placement"] == "compute-node":
        chosen = {**chosen, "workers": 0, "batch": min(chosen["batch"], _MOST_SEEDS_OF_NEIGHBORHOODS)}
        chosen["fanout"] = chosen["fanout"][:2]
    return Configuration(**chosen)


def run_design(
    configurations: Sequence[Configuration],
    repeats: int = REPEATS,
    batches: int = BATCHES,
    seed: int = 0,
    progress: Progress | None = None,
    most_repeats: int = MOST_REPEATS,
) -> list[Run]:
    """Run configurations in random order, each some times and disturbed ones again; returns them in their own order.

    Raises
    ------
    PipelineError
        A process of the pipeline ended.
    """
    found: list[list[Sequence[BatchTimes]]] = [[] for _ in configurations]
    rng = np.random.default_rng([seed, 1])
    visits = [number for _ in range(repeats) for number in range(len(configurations))]
    done, fast = 0, np.nan
    with Pipeline() as pipeline:
        while visits:
            for number in rng.permutation(visits):
                first = 1000 * len(found[number])
                found[number].append(pipeline.run(configurations[number], batches, first))
                done += 1
                if progress is not None:
                    progress(done, max(done, len(configurations) * repeats))
            fast = _full_speed(found)
            again = [number for number, of_it in enumerate(found) if len(of_it) < most_repeats]
            visits = [number for number in again if _calm(found[number], fast) < LEAST_BATCHES]
    return [_condensed(asked, of_it, fast) for asked, of_it in zip(configurations, found, strict=True)]


def _full_speed(found: Sequence[Sequence[Sequence[BatchTimes]]]) -> float:
    flat = itertools.chain.from_iterable(itertools.chain.from_iterable(found))
    return full_speed([pulse for batch in flat for pulse in batch.pulses.values()])


def _calm(repeats: Sequence[Sequence[BatchTimes]], fast: float) -> int:
    """Return how many mini-batches are undisturbed as a whole."""
    every = list(itertools.chain.from_iterable(repeats))
    return int(calm([batch.pulses["total"] for batch in every], fast).sum())


def _condensed(asked: Configuration, repeats: Sequence[Sequence[BatchTimes]], fast: float) -> Run:
    every = [(number, batch) for number, repeat in enumerate(repeats) for batch in repeat]
    medians, spread = {}, {}
    pulses = [batch.pulses["total"] for _, batch in every]
    between = [batch.total - sum(batch.phases.values()) for _, batch in every]
    parts = {name: [batch.phases[name] for _, batch in every] for name in repeats[0][0].phases}
    for name, times in {"total": [batch.total for _, batch in every], **parts}.items():
        kept = undisturbed(times, [batch.pulses[name] for _, batch in every], fast, LEAST_BATCHES)
        medians[name] = float(np.median([times[place] for place in kept]))
        spread[name] = _uncertainty([times[place] for place in kept], [every[place][0] for place in kept])
    if int(calm(pulses, fast).sum()) < LEAST_BATCHES:
        kept = undisturbed(between, pulses, fast, LEAST_BATCHES)
        medians["total"] = sum(medians[name] for name in parts) + float(np.median([between[place] for place in kept]))
    return Run(
        asked,
        medians,
        spread,
        pulses,
        float(np.median([batch.nodes for _, batch in every])),
        float(np.median([batch.edges for _, batch in every])),
        float(sum(batch.total for _, batch in every)),
    )


def _uncertainty(times: Sequence[float], repeats: Sequence[int]) -> float:
    """Return the relative deviation between repeats; where all times are of one repeat, that of the times."""
    groups = [
        [time for time, of in zip(times, repeats, strict=True) if of == repeat] for repeat in sorted(set(repeats))
    ]
    return relative_spread([float(np.median(group)) for group in groups] if len(groups) > 1 else times)


def compared(run: Run, scenario: Scenario) -> list[Row]:
    """Return the total and every phase of a run, predicted against measured."""
    phases = [name for name in run.medians if name != "total"]

    def quantities(steps: Mapping[str, Any]) -> Array:
        total = sum(steps.values())
        return np.array(np.broadcast_arrays(total, *[steps[name] for name in phases]))

    points, intervals = interval_of(scenario, quantities)
    return [
        Row(
            run.asked.inputs(),
            name,
            run.medians[name],
            float(points[k]),
            intervals[k],
            run.spread[name] * run.medians[name],
        )
        for k, name in enumerate(("total", *phases))
    ]


def ordered(rows: Sequence[Row]) -> tuple[float, int]:
    """Return which share of the pairs with an order to get right the model orders right, and how many there are.

    Examples
    --------
    >>> fast, slow = (Row({}, "total", time, time, (0.0, 9.0)) for time in (1.0, 2.0))
    >>> ordered([fast, slow])
    (1.0, 1)
    """
    right = pairs = 0
    for first, second in itertools.combinations(rows, 2):
        if max(first.measured, second.measured) > (1.0 + DIFFERENT) * min(first.measured, second.measured):
            pairs += 1
            right += (first.measured < second.measured) == (first.predicted < second.predicted)
    return (right / pairs if pairs else 1.0), pairs


def validate(
    profile: str | None = None,
    quick: bool = False,
    progress: Progress | None = None,
    seed: int = SEED,
    loader: Literal["plain", "pyg"] = "plain",
) -> dict[str, Any]:
    """Run the design and hold the predictions against it; returns the JSON document.

    Raises
    ------
    MissingCalibration
        The machine was not measured yet.
    """
    drawn = design(CONFIGURATIONS_QUICK if quick else CONFIGURATIONS, seed)
    configurations = [dataclasses.replace(asked, loader=loader) for asked in drawn]
    scenarios = [asked.scenario(profile) for asked in configurations]
    runs = run_design(configurations, seed=seed, progress=progress)
    rows = [row for run, scenario in zip(runs, scenarios, strict=True) for row in compared(run, scenario)]
    return document(runs, rows, scenarios)


def document(runs: Sequence[Run], rows: Sequence[Row], scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Return the JSON document of a validation."""
    quantities: dict[str, dict[str, Any]] = {}
    for name, found in by_quantity(rows).items():
        of_it = [row for row in rows if row.quantity == name]
        floor = float(np.median([run.spread[name] for run in runs if name in run.spread]))
        quantities[name] = {
            **found,
            "p90_ape": float(np.quantile([row.ape for row in of_it], 0.9)),
            "noise_floor": floor,
        }
    share, pairs = ordered([row for row in rows if row.quantity == "total"])
    profiles = {name: found for scenario in scenarios for name, found in scenario.profiles.items()}
    fitted = sum(parameter.fitted for found in profiles.values() for parameter in found.parameters)
    return {
        "suite": "machine",
        "pipeline": "sampled-training",
        "inputs": {name: digest for scenario in scenarios for name, digest in sorted(scenario.inputs.items())},
        "columns": list(runs[0].asked.inputs()),
        "rows": [{**row.to_dict(), "noise": row.resolution / row.measured} for row in rows],
        "summary": summary(rows),
        "by_quantity": quantities,
        "disturbed": disturbed_share([pulse for run in runs for pulse in run.pulses]),
        "least_undisturbed": LEAST_BATCHES,
        "ordered_pairs": {"share": share, "pairs": pairs, "different_by": DIFFERENT},
        "fitted_parameters": fitted,
        "conflicts": [],
        "missed": missed(quantities, share),
        "within_bounds": not missed(quantities, share),
    }


def missed(quantities: Mapping[str, Mapping[str, Any]], share: float) -> list[str]:
    """Return a sentence for every bound that is missed; noise counts for the run, not against the model."""
    found = []
    for name, errors in quantities.items():
        floor = float(errors["noise_floor"])
        bounds = {"median_ape": PHASE_BOUND} if name != "total" else {"median_ape": MEDIAN_BOUND, "p90_ape": TAIL_BOUND}
        for statistic, bound in bounds.items():
            if errors[statistic] > max(bound, floor):
                found.append(
                    f"{name}: {statistic} {errors[statistic]:.1%}, asked for {bound:.0%}, noise floor {floor:.1%}"
                )
        if errors["coverage_90"] < COVERAGE_BOUND:
            found.append(
                f"{name}: {errors['coverage_90']:.0%} inside the 90 % interval, asked for {COVERAGE_BOUND:.0%}"
            )
    if share < ORDER_BOUND:
        found.append(f"{share:.1%} of the pairs ordered right, asked for {ORDER_BOUND:.0%}")
    return found
