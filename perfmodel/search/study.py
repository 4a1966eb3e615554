"""Optuna's part of a search: it proposes plans in batches, remembers them, and shares them with other workers.

A trial is a plan; what the plan breaks is told as constraints of its trial. Most of a batch are changes of good plans,
enqueued as trials (``proposals``); the rest comes from the sampler. Batches are small, as each one steps from what the one
before it found. A plan that is known already is told again from memory, and another one is tried in its place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
import pathlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import optuna
from optuna.storages import journal
from optuna.trial import TrialState

from perfmodel.errors import SpecError, nearest, shown
from perfmodel.search.evaluator import Evaluator
from perfmodel.search.grid import Point
from perfmodel.search.memory import Memory, Remembered
from perfmodel.search.naming import Naming, in_short
from perfmodel.search.proposals import Proposals
from perfmodel.search.storage import Place, StorageGone, insist, mend_journal, wrong_storage

T = TypeVar("T")

SAMPLERS: Final = ("tpe", "random", "nsgaii", "qmc")
_ASKED: Final = 4  # times a batch's size that Optuna is asked before a batch is taken as it is
_GROWTH: Final = 40  # plans that are known for each of a batch, beyond the settings' size
_LARGEST: Final = 20  # times the settings' size, at most
_STALE: Final = datetime.timedelta(minutes=10)  # running for longer: its worker is gone
_WORST: Final = 1e6  # by what factor a rule is said to be broken at most
_ABOUT: Final = "perfmodel"


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a study searches.

    Attributes
    ----------
    trials : int
        Plans to evaluate, at most.
    sampler : str
        ``tpe``, ``random``, ``nsgaii`` or ``qmc``.
    seed : int
    patience : int
        Stop after so many plans without a gain.
    batch : int
        Plans that are evaluated together at first; batches grow as more is known.
    near : float
        Share of a batch that changes good plans.
    """

    trials: int = 500
    sampler: str = "tpe"
    seed: int = 0
    patience: int = 250
    batch: int = 5
    near: float = 0.8


@dataclasses.dataclass(frozen=True)
class Studied:
    """What a study knows at its end.

    Attributes
    ----------
    memory : Memory
    name : str
    trials : int
        Finished ones, of all workers.
    ended : str
        Why it stopped.
    """

    memory: Memory
    name: str
    trials: int
    ended: str


def study(
    evaluator: Evaluator,
    place: Place,
    name: str | None,
    settings: Settings,
    warm: Sequence[Point] = (),
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Memory], None] = lambda memory: None,
) -> Studied:
    """Search with Optuna.

    Parameters
    ----------
    evaluator : Evaluator
    place : Place
        Where trials are kept.
    name : str, optional
        Of the study; one that the place has is carried on.
    settings : Settings
    warm : sequence of Point
        Plans to try first.
    stop : callable
        Asked between plans.
    progress : callable
        Told what is known, between batches.

    Raises
    ------
    SpecError
        Where the place can't be opened, holds another search under this name, or goes away.
    """
    if settings.sampler not in SAMPLERS:
        rule = f"must be one of {', '.join(SAMPLERS)}"
        raise SpecError("sampler", rule, shown(settings.sampler), nearest(str(settings.sampler), SAMPLERS))
    with _quiet():
        kept = _Kept(evaluator, place, name, settings, stop)
        worker = _Worker(evaluator, kept, settings, stop)
        try:
            worker.run(warm, progress)
        except StorageGone as gone:
            raise gone.after(len(worker.memory), worker.memory.value) from None
        finally:
            kept.close()
    return Studied(worker.memory, worker.kept.name, len(worker.told), worker.ended)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna's log and its notes on experimental options to itself."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


class _Kept:
    """A study in its place; every call is tried again for a while where the place fails."""

    def __init__(
        self, evaluator: Evaluator, place: Place, name: str | None, settings: Settings, stop: Callable[[], bool]
    ) -> None:
        self.place, self._stop = place, stop
        self._failures = _failures(place)
        self.naming = Naming(evaluator.grid)
        about = _about(evaluator)
        self.name = name or f"{about['workload']} on {about['system']}"
        sampler = make_sampler(settings, evaluator, settings.seed)
        self._storage: optuna.storages.BaseStorage | None = None
        try:
            self._storage = _storage(place)
            self.study = optuna.create_study(
                storage=self._storage,
                sampler=sampler,
                study_name=self.name,
                directions=["minimize"] * len(evaluator.objectives),
                load_if_exists=True,
            )
            self._claim(about)
        except SpecError:
            self.close()
            raise
        except Exception as error:  # whatever a broken file, a wrong URL or a silent server brings up
            self.close()
            raise wrong_storage(place, error) from None

    def close(self) -> None:
        """Close the connections to a server."""
        if isinstance(self._storage, optuna.storages.RDBStorage):
            with contextlib.suppress(Exception):  # a server that is gone can't be told goodbye
                self._storage.remove_session()
            self._storage.engine.dispose()

    @property
    def shared(self) -> bool:
        """Whether others may add trials."""
        return self.place.kind != "memory"

    def call(self, call: Callable[[], T]) -> T:
        """Return what a call gives."""
        return call() if not self.shared else insist(call, self._failures, self.place, self.name, self._stop)

    def trials(self, *states: TrialState) -> list[optuna.trial.FrozenTrial]:
        """Return the trials in these states."""
        return self.call(lambda: self.study.get_trials(deepcopy=False, states=states))

    def _claim(self, about: Mapping[str, Any]) -> None:
        """Write down what a new study is of; refuse one that is of something else."""
        known = self.study.user_attrs.get(_ABOUT)
        if known is None and not self.study.get_trials(deepcopy=False):
            self.study.set_user_attr(_ABOUT, dict(about))
            return
        other = [key for key in about if (known or {}).get(key) != about[key]]
        if other:
            rule = "must be a study of the same search, or a new name"
            raise SpecError(f"--study {self.name}", rule, f"one with other {', '.join(other)}", f"{self.name} 2")


def _storage(place: Place) -> optuna.storages.BaseStorage | None:
    if place.kind == "memory":
        return None
    if place.kind == "journal":
        mend_journal(pathlib.Path(place.address))
        lock = journal.JournalFileSymlinkLock(place.address, grace_period=10)
        return optuna.storages.JournalStorage(journal.JournalFileBackend(place.address, lock))
    try:
        kept = {"pool_pre_ping": True}
        waiting = {"connect_args": {"connect_timeout": 10}} if place.address.startswith("postgresql") else {}
        return optuna.storages.RDBStorage(place.address, engine_kwargs={**kept, **waiting})
    except ImportError as error:
        raise SpecError(f"--storage {place}", "needs its driver", error, "pip install 'perfmodel[postgres]'") from None


def _failures(place: Place) -> tuple[type[BaseException], ...]:
    """Return what a place raises where it fails."""
    if place.kind != "server":
        return (OSError,)
    import sqlalchemy.exc

    return (OSError, optuna.exceptions.StorageInternalError, sqlalchemy.exc.DBAPIError)


def _about(evaluator: Evaluator) -> dict[str, Any]:
    """Return what a study is of: plans of another search have no place in it."""
    grid = evaluator.grid
    return {
        "workload": grid.scenario.workload.name,
        "system": grid.scenario.system.name,
        "fingerprint": evaluator.fingerprint(),
        "objectives": [objective.name for objective in evaluator.objectives],
        "constraints": [constraint.rule for constraint in evaluator.constraints],
        "quantile": evaluator.quantile,
        "values": {axis.key: in_short(axis) for axis in grid.axes},
    }


class _Worker:
    """One worker of a study."""

    def __init__(self, evaluator: Evaluator, kept: _Kept, settings: Settings, stop: Callable[[], bool]) -> None:
        self.evaluator, self.kept, self.settings, self.stop = evaluator, kept, settings, stop
        self.grid, self.naming = evaluator.grid, kept.naming
        self.memory = Memory(len(evaluator.objectives))
        self.proposals = Proposals(self.grid, self.memory, settings.seed)
        self.told: set[int] = set()
        self.ended = ""
        self._before = 0
        self._places = None if not self.grid.enumerable else self.grid.size

    def run(self, warm: Sequence[Point], progress: Callable[[Memory], None]) -> None:
        """Search until the budget, the patience or the space is used up."""
        self._catch_up()
        self._drop_stale()
        self._before = len(self.memory)
        for point in dict.fromkeys(warm):
            if point not in self.memory:
                self._enqueue(point)
        while not self.ended:
            self._batch(min(self._size(), self.settings.trials - self._own()))
            self._catch_up()
            progress(self.memory)
            self.ended = self._end()

    def _own(self) -> int:
        """Return the plans that were added since this worker began."""
        return len(self.memory) - self._before

    def _size(self) -> int:
        """Return the plans of the next batch: small while each steps from the one before, larger as gains get rare."""
        batch = self.settings.batch
        return max(batch, min(len(self.memory) // _GROWTH, batch * _LARGEST))

    def _end(self) -> str:
        """Return why the search is over, nothing where it goes on."""
        if self.stop():
            return "stopped"
        if self._own() >= self.settings.trials:
            return "all trials used"
        if self._places is not None and len(self.memory) >= self._places:
            return "every plan evaluated"
        if len(self.memory) - max(self.memory.gained, self._before) >= self.settings.patience:
            return f"no gain in {self.settings.patience} plans"
        return ""

    def _batch(self, size: int) -> None:
        """Ask for a batch of new plans, evaluate them, tell what came out."""
        for point in self.proposals.near(int(size * self.settings.near)):
            self._enqueue(point)
        asked: list[tuple[optuna.Trial, Point]] = []
        new: dict[Point, None] = {}
        while len(new) < size and len(asked) < size * _ASKED and not self.stop():
            trial = self.kept.call(self.kept.study.ask)
            if not self.told and not asked:
                self._reseed(trial.number)
            point = self._suggested(trial)
            asked.append((trial, point))
            if point not in self.memory and point not in new:
                new[point] = None
            elif (other := self.proposals.instead(point, new)) is not None:
                self._enqueue(other)
            else:
                break
        points = list(new)
        batch = self.evaluator.points(points)
        for point, values, broken in zip(points, batch.values, batch.broken, strict=True):
            self.memory.add(point, Remembered(tuple(map(float, values)), broken))
        for trial, point in asked:
            self._tell(trial, self.memory.plans[point])

    def _reseed(self, number: int) -> None:
        """Give each worker of a study, and each resumption, random numbers of its own: a trial's number is unique."""
        if number > 0:
            generator = self.proposals.generator = np.random.default_rng([self.settings.seed, number])
            self.kept.study.sampler = make_sampler(self.settings, self.evaluator, int(generator.integers(2**31)))

    def _enqueue(self, point: Point) -> None:
        parameters = self.naming.written(point)
        self.kept.call(lambda: self.kept.study.enqueue_trial(parameters))

    def _suggested(self, trial: optuna.Trial) -> Point:
        """Return the plan that a trial proposes, asking for each parameter that exists."""
        point: list[int | float | None] = []
        for place in range(len(self.grid.axes)):
            if self.grid.exists(place, point):
                value = self.kept.call(lambda place=place: self._suggest(trial, place))  # type: ignore[misc]
                point.append(self.naming.position(place, value))
            else:
                point.append(None)
        return tuple(point)

    def _suggest(self, trial: optuna.Trial, place: int) -> Any:
        axis, name = self.grid.axes[place], self.naming.names[place]
        if axis.span is not None:
            return trial.suggest_float(name, axis.span.low, axis.span.high, log=axis.span.log)
        if axis.ordered:
            return trial.suggest_int(name, 0, len(axis.values) - 1)
        return trial.suggest_categorical(name, self.naming.labels(place))

    def _tell(self, trial: optuna.Trial, known: Remembered) -> None:
        for rule, over in known.broken.items():
            passed = max(min(over, _WORST) - 1.0, 1e-9)
            self.kept.call(lambda rule=rule, passed=passed: _constrain(trial, rule, passed))  # type: ignore[misc]
        good = all(map(math.isfinite, known.values))
        values, state = (list(known.values), TrialState.COMPLETE) if good else (None, TrialState.PRUNED)
        self.kept.call(lambda: self.kept.study.tell(trial, values, state, skip_if_finished=True))
        self.told.add(trial.number)

    def _catch_up(self) -> None:
        """Remember what other workers found, or this study before."""
        if not self.kept.shared:
            return
        for trial in self.kept.trials(TrialState.COMPLETE, TrialState.PRUNED):
            point = None if trial.number in self.told else self.naming.read(trial.params)
            self.told.add(trial.number)
            if point is not None:
                values = tuple(trial.values or [math.nan] * len(self.evaluator.objectives))
                broken = {rule: over + 1.0 for rule, over in trial.constraints.items() if over > 0}
                self.memory.add(point, Remembered(values, broken))

    def _drop_stale(self) -> None:
        """Give up trials of workers that are gone."""
        if not self.kept.shared:
            return
        now = datetime.datetime.now()
        for trial in self.kept.trials(TrialState.RUNNING):
            if trial.datetime_start is not None and now - trial.datetime_start > _STALE:
                number = trial.number
                self.kept.call(
                    lambda number=number: self.kept.study.tell(  # type: ignore[misc]
                        number, state=TrialState.FAIL, skip_if_finished=True
                    )
                )


def _constrain(trial: optuna.Trial, rule: str, passed: float) -> None:
    with warnings.catch_warnings():  # told once more after its storage came back
        warnings.simplefilter("ignore")
        trial.set_constraint(rule, passed)


def make_sampler(settings: Settings, evaluator: Evaluator, seed: int) -> optuna.samplers.BaseSampler:
    """Return the sampler that settings name."""
    if settings.sampler == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if settings.sampler == "nsgaii":
        return optuna.samplers.NSGAIISampler(seed=seed)
    if settings.sampler == "qmc":
        return optuna.samplers.QMCSampler(seed=seed)
    conditional = any(axis.when for axis in evaluator.grid.axes)
    return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=conditional, constant_liar=True)
