"""Several workers on one PostgreSQL server: one of them is killed, the server goes away, nothing finished is lost."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.search import storage as storage_module
from perfmodel.search.run import search

ROOT = pathlib.Path(pm.__file__).parents[1]
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
SPACE = """
[parameters]
"plan.overlap" = ["sum", "pipelined", "overlap"]
"plan.workers" = { low = 0, high = 8, step = 1 }
"plan.transfer.window" = { low = 1, high = 32, factor = 2 }
"plan.transfer.chunk" = { low = "4 KiB", high = "1 MiB", factor = 2 }
"""
SCENARIO = pm.load_scenario("reddit", "lgnnic-doca-dma")


def worker(url: str, space: pathlib.Path, trials: int, seed: int) -> subprocess.Popen[str]:
    """Start a worker process of its own."""
    return subprocess.Popen(
        [
            sys.executable, "-m", "perfmodel", "search", "reddit", "--system", "lgnnic-doca-dma", "--space", str(space),
            "--storage", url, "--study", "shared", "--trials", str(trials), "--seed", str(seed), "--no-explain", "--json",
        ],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def trials_of(url: str, name: str = "shared") -> list[optuna.trial.FrozenTrial]:
    storage = optuna.storages.RDBStorage(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        return optuna.load_study(study_name=name, storage=storage).get_trials()
    finally:
        storage.remove_session()
        storage.engine.dispose()


def wait_for_trials(url: str, least: int) -> list[optuna.trial.FrozenTrial]:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            found = [trial for trial in trials_of(url) if trial.state in FINISHED]
        except KeyError:  # not there yet
            found = []
        if len(found) >= least:
            return found
        time.sleep(0.5)
    raise AssertionError("the workers came to nothing")


@pytest.fixture(autouse=True)
def _quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return


def test_one_of_two_workers_is_killed(postgres: Any, tmp_path: pathlib.Path) -> None:
    space = tmp_path / "space.toml"
    space.write_text(SPACE)
    pm.predict(SCENARIO)  # compiled once, for both workers
    victim, survivor = (worker(postgres.url, space, 50, seed) for seed in (1, 2))
    try:
        before = wait_for_trials(postgres.url, 20)
        victim.send_signal(signal.SIGKILL)
        victim.wait(10)
        assert survivor.poll() is None
        output, errors = survivor.communicate(timeout=240)
        victim.communicate()
    finally:
        for process in (victim, survivor):
            if process.poll() is None:
                process.kill()
                process.communicate()
    assert survivor.returncode == 0, errors
    answer = json.loads(output)
    after = {trial.number: trial for trial in trials_of(postgres.url)}
    for trial in before:
        kept = after[trial.number]
        assert (kept.state, kept.values, kept.params) == (trial.state, trial.values, trial.params)
    finished = [trial for trial in after.values() if trial.state in FINISHED]
    lost = [trial for trial in after.values() if trial.state == TrialState.RUNNING]
    assert len(lost) <= 4 * 5  # the batch that the victim was at; it may have asked for more than it has room for
    assert len(finished) >= 50
    assert answer["study"]["trials"] == len(finished)
    feasible = [trial for trial in finished if all(value <= 0 for value in trial.constraints.values())]
    assert answer["best"]["objectives"]["time"] == min(trial.values[0] for trial in feasible)
    assert answer["proof"]["kind"] == "enumerated"
    assert 0 <= answer["gap"] < 0.01
    # every value in the study is what the model says, and what is known is not evaluated again
    again = search(
        SCENARIO, str(space), storage=postgres.url, study="shared", trials=10, explain=False, method="optuna"
    )
    assert again.best is not None
    assert again.best.objectives["time"] <= answer["best"]["objectives"]["time"]
    assert again.evaluated >= len({json.dumps(trial.params, sort_keys=True) for trial in finished})


def run(url: str, study: str, watch: Any, trials: int = 200) -> Any:
    space = {
        "plan.overlap": ["sum", "pipelined", "overlap"],
        "plan.workers": list(range(9)),
        "plan.transfer.chunk": {"low": "4 KiB", "high": "1 MiB", "factor": 2},
    }
    return search(
        SCENARIO, space, method="optuna", storage=url, study=study, trials=trials, explain=False, progress=watch
    )


@pytest.fixture
def server(postgres: Any) -> Iterator[Any]:
    """The server that all tests share, running again afterwards whatever a test did to it."""
    yield postgres
    if not postgres.is_running:
        postgres.start()


def test_a_server_that_comes_back_loses_nothing(server: Any) -> None:
    away: list[threading.Timer] = []

    def watch(progress: Any) -> None:
        if progress.doing == "trying plans" and progress.done >= 20 and not away:
            server.stop()
            away.append(threading.Timer(0.5, server.start))
            away[0].start()

    found = run(server.url, "back", watch, 40)
    assert away
    away[0].join()
    assert found.best is not None
    assert found.evaluated == 40
    finished = [trial for trial in trials_of(server.url, "back") if trial.state in FINISHED]
    assert len(finished) == found.study.trials >= 40
    assert len({json.dumps(trial.params, sort_keys=True) for trial in finished}) == 40


def test_a_server_that_stays_away_is_a_sentence(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "_PATIENCE", 0.3)
    finished: list[int] = []

    def watch(progress: Any) -> None:
        if progress.doing == "trying plans" and progress.done >= 20 and not finished:
            finished.append(sum(trial.state in FINISHED for trial in trials_of(server.url, "away")))
            server.stop()

    with pytest.raises(SpecError) as error:
        run(server.url, "away", watch)
    assert "must go on answering" in str(error.value)
    assert "go on with --study away" in str(error.value)
    assert "the best of them at" in str(error.value)
    assert "\n" not in str(error.value)
    server.start()
    assert sum(trial.state in FINISHED for trial in trials_of(server.url, "away")) == finished[0]
    assert run(server.url, "away", lambda progress: None, 10).best is not None


def test_a_server_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(SpecError, match="must be a database that answers") as error:
        run("postgresql://me:secret@127.0.0.1:9/none", "none", lambda progress: None)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)
