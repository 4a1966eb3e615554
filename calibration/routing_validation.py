"""Predicted against measured on this machine: routing messages inline and on the spare core, in runs nothing was fitted to.

A balanced design of configurations, and some more over a range of ratios of memory work to messages, to find where the spare
core begins to gain. All are run in rounds in random order, inline and on the spare core in turns. As with the kernels, what
counts are runs between two pulses at full speed, here of both cores; a configuration with too few of them is run again, for
a while. Where they stay too few, all runs of both placements count: two cores are hardly ever undisturbed together, so that
the faster runs would compare an undisturbed core with two disturbed ones. Sizes of messages and buffers, ratios and partners
are others than those of the kernels.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from scipy import optimize

from calibration.disturbance import calm, disturbed_share, full_speed, undisturbed
from calibration.measurements import relative_spread
from calibration.pipeline.message_routing.configuration import Placement, RoutingConfiguration
from calibration.pipeline.message_routing.engine import Engine, RoutingTimes
from calibration.routing_constants import ROUTING_GROUPS
from calibration.routing_tables import sentences, tables
from calibration.validation import Row, balanced, by_quantity, summary
from perfmodel.errors import MissingCalibration
from perfmodel.estimate import predict
from perfmodel.model.break_even import break_even_chapter
from perfmodel.spec.scenario import Scenario, load_scenario

__all__ = ["design", "run_design", "searches", "sentences", "tables", "validate"]

MEDIAN_BOUND: Final = 0.15
BREAK_EVEN_BOUND: Final = 1.3  # factor, of the median
CONFIGURATIONS, CONFIGURATIONS_QUICK = 48, 12
LEAST_CALM, MOST_ROUNDS = 8, 40
LONGEST: Final = 120.0  # seconds after which disturbed configurations are not run again
RUN: Final = 4e-3  # seconds that a run is timed for, about: shorter than most disturbances
#: Of the design that is run: the model was developed on that of seed 0.
SEED: Final = 20261203

INLINE: Final = "application-core"
SPARE: Final = "spare-core"
_PLACEMENTS: Final[tuple[Placement, ...]] = (INLINE, SPARE)
_LEVELS: Final[Mapping[str, Sequence[Any]]] = {
    "ratio": (0.5, 1.0, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0),
    "message": (24, 40, 96, 160),
    "buffer": (4 << 10, 8 << 10, 12 << 10, 32 << 10, 48 << 10),
    "buffers": (1, 2, 4, 8),
    "partners": (4, 10, 16),
}
#: Ratios at which speedups are measured to find where they cross one.
RATIOS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
#: Message, buffer and partners of the searches for the break-even ratio; with one buffer handing over is never hidden.
_SEARCHES: Final = (
    (24, 8 << 10, 4), (40, 12 << 10, 10), (96, 4 << 10, 16), (96, 32 << 10, 10), (160, 12 << 10, 4), (160, 48 << 10, 16)
)  # fmt: skip
_SEARCHES_QUICK: Final = _SEARCHES[1::2]

Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True)
class Compared:
    """One configuration, inline and on the spare core.

    Attributes
    ----------
    asked : RoutingConfiguration
    inline, spare : float
        Time of one buffer: median over undisturbed runs, or over all where too few are [s].
    inline_of_all, spare_of_all : float
        Medians over all runs [s].
    spread : float
        Relative deviation of the speedup between rounds (robust), over the root of the undisturbed runs.
    calm : int
        Undisturbed runs, of the placement that has fewer.
    messages : int
        That were routed, each of which arrived exactly once.
    """

    asked: RoutingConfiguration
    inline: float
    spare: float
    inline_of_all: float
    spare_of_all: float
    spread: float
    calm: int
    messages: int

    @property
    def speedup(self) -> float:
        """Return how many times faster the spare core makes a buffer."""
        return self.inline / self.spare


def design(count: int, seed: int = 0) -> list[RoutingConfiguration]:
    """Return configurations in which every level of every factor comes about equally often.

    Examples
    --------
    >>> len(design(48))
    48
    """
    return [_asked(chosen) for chosen in balanced(_LEVELS, count, seed)]


def searches(quick: bool) -> list[list[RoutingConfiguration]]:
    """Return configurations that differ by their ratio alone, one list for each search."""
    return [
        [
            _asked({"ratio": ratio, "message": message, "buffer": buffer, "buffers": 1, "partners": partners})
            for ratio in RATIOS
        ]
        for message, buffer, partners in (_SEARCHES_QUICK if quick else _SEARCHES)
    ]


def _asked(chosen: Mapping[str, Any]) -> RoutingConfiguration:
    """Return a configuration whose partners gather as much as a buffer holds, as in the model."""
    return RoutingConfiguration(**chosen, aggregation=chosen["buffer"])


def scenario(asked: RoutingConfiguration, profile: str | Mapping[str, Any] | None = None) -> Scenario:
    """Return a configuration as a scenario of the model on the calibrated machine: a run of a thousand buffers."""
    size = float(asked.messages * asked.message)
    workload = {
        "name": "messages", "family": "message-routing", "messages": 1000.0 * asked.messages,
        "message_size": float(asked.message), "memory_ratio": asked.memory_bytes / size, "locality": 0.0,
    }  # fmt: skip
    changes = {
        "plan.placement.routing": asked.placement, "plan.nodes": float(asked.partners), "plan.buffer_size": size,
        "plan.buffers": float(asked.partners), "plan.window": float(asked.buffers),
    }  # fmt: skip
    return load_scenario(workload, "this-machine-routing", "route-one-spare-core", profile, changes)


def run_design(
    configurations: Sequence[RoutingConfiguration], seed: int = 0, progress: Progress | None = None
) -> tuple[list[Compared], float]:
    """Run configurations in random order, inline and on the spare core, until enough runs were undisturbed.

    Returns
    -------
    list of Compared
        In the order of the configurations.
    disturbed : float
        Share of the runs that were disturbed.

    Raises
    ------
    PipelineError
        A process ended, or a message did not arrive exactly once.
    """
    rng = np.random.default_rng([seed, 1])
    found: list[dict[str, list[RoutingTimes]]] = [{INLINE: [], SPARE: []} for _ in configurations]
    visits, done, fast = list(range(len(configurations))) * LEAST_CALM, 0, np.nan
    until = time.monotonic() + LONGEST
    with Engine() as engine:
        while visits:
            for number in rng.permutation(visits):
                both = [dataclasses.replace(configurations[number], placement=place) for place in _PLACEMENTS]
                for index in rng.permutation(len(both)):
                    before = found[number][both[index].placement]
                    before.append(engine.run(both[index], _buffers(both[index], before)))
                done += 1
                if progress is not None:
                    progress(done, max(done, len(visits)))
            fast = _full_speed(found)
            again = [
                number
                for number, runs in enumerate(found)
                if len(runs[SPARE]) < MOST_ROUNDS and time.monotonic() < until
            ]
            visits = [number for number in again if _calm(found[number], fast) < LEAST_CALM]
    share = disturbed_share([run.pulse for runs in found for placed in runs.values() for run in placed])
    return [_condensed(asked, runs, fast) for asked, runs in zip(configurations, found, strict=True)], share


def _buffers(asked: RoutingConfiguration, before: Sequence[RoutingTimes]) -> int:
    """Return how many buffers are timed, from what one took before."""
    each = before[-1].total if before else 6e-5
    return max(4 * asked.buffers, min(400, round(RUN / each)))


def _full_speed(found: Iterable[Mapping[str, Sequence[RoutingTimes]]]) -> float:
    return full_speed([run.pulse for runs in found for placed in runs.values() for run in placed])


def _pulses(runs: Sequence[RoutingTimes]) -> list[float]:
    """Return the pulses of runs; one in which a core was given to another program counts as disturbed without end."""
    return [np.inf if run.preempted else run.pulse for run in runs]


def _calm(runs: Mapping[str, Sequence[RoutingTimes]], fast: float) -> int:
    """Return how many runs of a configuration are undisturbed, of the placement that has fewer."""
    return min(int(calm(_pulses(placed), fast).sum()) for placed in runs.values())


def _condensed(asked: RoutingConfiguration, runs: Mapping[str, Sequence[RoutingTimes]], fast: float) -> Compared:
    times = {place: [run.total for run in placed] for place, placed in runs.items()}
    kept = times
    if _calm(runs, fast) >= LEAST_CALM:
        kept = {
            place: [times[place][k] for k in undisturbed(times[place], _pulses(placed), fast, LEAST_CALM)]
            for place, placed in runs.items()
        }
    middle = {place: float(np.median(own)) for place, own in kept.items()}
    every = {place: float(np.median(own)) for place, own in times.items()}
    spread = np.hypot(*[relative_spread(own) / np.sqrt(len(own)) for own in kept.values()])
    routed = sum(run.buffers for placed in runs.values() for run in placed) * asked.messages
    return Compared(
        asked, middle[INLINE], middle[SPARE], every[INLINE], every[SPARE], float(spread), _calm(runs, fast), routed
    )  # fmt: skip


def rows_of(run: Compared, profile: str | None) -> list[Row]:
    """Return the speedup and both times of a buffer, predicted against measured."""
    inline, spare = (scenario(dataclasses.replace(run.asked, placement=place), profile) for place in _PLACEMENTS)
    offloaded, alone = predict(spare, inline), predict(inline)
    if offloaded.against is None:
        raise AssertionError("a comparison was asked for")
    quantities = (
        ("speedup", run.speedup, offloaded.against.speedup, offloaded.against.speedup_interval),
        ("inline", run.inline, alone.time_s / 1000, tuple(bound / 1000 for bound in alone.interval_s)),
        ("spare core", run.spare, offloaded.time_s / 1000, tuple(bound / 1000 for bound in offloaded.interval_s)),
    )
    return [
        Row(_inputs(run.asked), name, measured, predicted, (interval[0], interval[1]), run.spread * measured)
        for name, measured, predicted, interval in quantities
    ]


def _inputs(asked: RoutingConfiguration) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in _LEVELS}


@dataclasses.dataclass(frozen=True)
class BreakEven:
    """Where the spare core begins to gain.

    Attributes
    ----------
    asked : RoutingConfiguration
        But for its ratio.
    speedups : sequence of float
        Measured, at ``RATIOS``.
    measured, predicted : float or None
        Ratio at which the speedup is one; zero where it is above from the first ratio on, None where it never is.
    """

    asked: RoutingConfiguration
    speedups: Sequence[float]
    measured: float | None
    predicted: float | None

    @property
    def factor(self) -> float | None:
        """Return how many times larger one of the two is than the other; None where one is not there to compare."""
        if not self.measured or not self.predicted:
            return None
        return float(np.exp(abs(np.log(self.predicted / self.measured))))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        inputs = {name: value for name, value in _inputs(self.asked).items() if name != "ratio"}
        speedups = dict(zip(map(str, RATIOS), self.speedups, strict=True))
        return {
            **inputs, "measured": self.measured, "predicted": self.predicted, "factor": self.factor,
            "speedups": speedups,
        }  # fmt: skip


def crossing(ratios: Sequence[float], speedups: Sequence[float]) -> float | None:
    """Return the ratio at which speedups cross one, between two points in proportion to the logs.

    Speedups grow with the ratio up to where they are well above one; where noise has it otherwise, neighbors are taken
    together (isotonic regression). Zero where all are above one, None where all are below.

    Examples
    --------
    >>> crossing([1.0, 4.0, 16.0], [0.8, 0.8, 1.25])
    8.0
    >>> crossing([1.0, 4.0], [1.1, 1.3]), crossing([1.0, 4.0], [0.7, 0.9])
    (0.0, None)
    """
    logs = optimize.isotonic_regression(np.log(np.asarray(speedups))).x
    above = int(np.argmax(logs > 0))
    if above == 0:
        return 0.0 if logs[0] > 0 else None
    low, high = logs[above - 1], logs[above]
    share = -low / (high - low)
    return round(float(np.exp(np.log(ratios[above - 1]) * (1 - share) + np.log(ratios[above]) * share)), 12)


def break_even(runs: Sequence[Compared], profile: str | None) -> BreakEven:
    """Return where the runs of a search break even, by measurement and by the model."""
    chapter = break_even_chapter(scenario(dataclasses.replace(runs[0].asked, placement=SPARE), profile)) or {}
    speedups = [run.speedup for run in runs]
    return BreakEven(runs[0].asked, speedups, crossing(RATIOS, speedups), chapter["value"])


def validate(
    profile: str | None = None, quick: bool = False, progress: Progress | None = None, seed: int = SEED
) -> dict[str, Any]:
    """Run the design and the searches, and hold the predictions against them; returns the JSON document.

    Raises
    ------
    MissingCalibration
        The machine was not measured yet.
    """
    drawn, over_ratios = design(CONFIGURATIONS_QUICK if quick else CONFIGURATIONS, seed), searches(quick)
    example = _calibrated(scenario(drawn[0], profile))
    runs, disturbed = run_design([*drawn, *(asked for search in over_ratios for asked in search)], seed, progress)
    rows = [row for run in runs[: len(drawn)] for row in rows_of(run, profile)]
    found = [
        break_even(runs[start : start + len(RATIOS)], profile) for start in range(len(drawn), len(runs), len(RATIOS))
    ]
    return document(runs, rows, found, disturbed, example)


def _calibrated(example: Scenario) -> Scenario:
    """Return a scenario whose constants were all measured.

    Raises
    ------
    MissingCalibration
        The profile was made without the kernels of message routing.
    """
    try:
        predict(example)
    except MissingCalibration as error:
        kernels = dict.fromkeys(kernel for group in ROUTING_GROUPS for kernel in group.kernels)
        run = " ".join(f"--only {kernel}" for kernel in kernels)
        rule = "must be measured on this machine"
        raise MissingCalibration(error.where, rule, "a profile without it", f"perfmodel calibrate {run}") from None
    return example


def document(
    runs: Sequence[Compared], rows: Sequence[Row], found: Sequence[BreakEven], disturbed: float, example: Scenario
) -> dict[str, Any]:
    """Return the JSON document of a validation."""
    speedups = [row for row in rows if row.quantity == "speedup"]
    factors = [each.factor for each in found if each.factor is not None]
    errors = summary(speedups)
    of_all = [run.inline_of_all / run.spare_of_all for run in runs[: len(speedups)]]
    shortfalls = missed(float(errors["median_ape"] or 0.0), factors, len(found))
    return {
        "suite": "machine",
        "pipeline": "message-routing",
        "inputs": dict(sorted(example.inputs.items())),
        "columns": list(_LEVELS),
        "rows": [{**row.to_dict(), "noise": row.resolution / row.measured} for row in rows],
        "summary": errors,
        "by_quantity": by_quantity(rows),
        "median_ape_of_all_runs": float(
            np.median([abs(row.predicted / one - 1) for row, one in zip(speedups, of_all, strict=True)])
        ),
        "break_even": [each.to_dict() for each in found],
        "break_even_factor": {"median": float(np.median(factors)), "max": max(factors)} if factors else None,
        "disturbed": disturbed,
        "least_undisturbed": LEAST_CALM,
        "rarely_undisturbed": sum(run.calm < LEAST_CALM for run in runs),
        "messages": sum(run.messages for run in runs),
        "fitted_parameters": sum(p.fitted for each in example.profiles.values() for p in each.parameters),
        "conflicts": [],
        "missed": shortfalls,
        "within_bounds": not shortfalls,
    }


def missed(median: float, factors: Sequence[float], searched: int) -> list[str]:
    """Return a sentence for every bound that is missed."""
    found = []
    if median > MEDIAN_BOUND:
        found.append(f"speedup: median error {median:.1%}, asked for {MEDIAN_BOUND:.0%}")
    if len(factors) < searched / 2:
        found.append(f"break-even ratio: found by both in {len(factors)} of {searched} searches")
    elif np.median(factors) > BREAK_EVEN_BOUND:
        found.append(f"break-even ratio: off by a factor of {np.median(factors):.2f}, asked for {BREAK_EVEN_BOUND:g}")
    return found
