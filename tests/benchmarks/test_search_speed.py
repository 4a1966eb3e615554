"""How fast searches are: ``python -m pytest tests/benchmarks --benchmark-only -s`` (``-m slow`` for what takes minutes).

The sweep runs in a process of its own, on one core; its memory is what the kernel says that it held at most.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import optuna
import pytest

import perfmodel as pm
from perfmodel.search.evaluator import Evaluator
from perfmodel.search.question import asked
from perfmodel.search.storage import Place
from perfmodel.search.study import Settings, study

SWEEP = """
import json, os, pathlib, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import perfmodel as pm
from perfmodel.search.run import search

chunks = int(sys.argv[1])
space = {
    "plan.placement.sampling": ["memory-node", "compute-node"],
    "plan.placement.quantization": ["memory-node", "compute-node"],
    "plan.fetch": {"values": ["neighborhood", "frontier"], "when": {"plan.placement.sampling": "compute-node"}},
    "plan.precision.features": ["fp32", "fp16"],
    "plan.overlap": ["sum", "pipelined", "overlap"],
    "plan.devices": {"low": 1, "high": 8, "step": 1},
    "plan.workers": {"low": 0, "high": 8, "step": 1},
    "plan.transfer.window": {"low": 1, "high": 16, "step": 1},
    "plan.transfer.chunk": {"low": "4 KiB", "high": "1 MiB", "count": chunks, "scale": "log"},
}
found = search(pm.load_scenario("ogbn-products", "lgnnic-doca-dma"), space, method="exhaustive", explain=False)
status = pathlib.Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
print(json.dumps({"plans": found.evaluated, "seconds": found.seconds, "peak": peak, "gap": found.gap}))
"""
_PER_CHUNK = 36 * 8 * 9 * 16  # plans of the space above for each size of chunk


@pytest.mark.parametrize(
    ("plans", "seconds"), [(10_000_000, 5.0), pytest.param(100_000_000, 50.0, marks=pytest.mark.slow)]
)
def test_a_sweep_on_one_core(benchmark: Any, plans: int, seconds: float) -> None:
    """10 million plans take 5 s at most, and less than 1 GB, however many they are."""
    command = [sys.executable, "-c", SWEEP, str(-(-plans // _PER_CHUNK))]
    runs: list[dict[str, Any]] = []

    def run() -> None:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))

    benchmark.pedantic(run, rounds=3 if plans < 50_000_000 else 1)
    best = min(runs, key=lambda one: one["seconds"])
    benchmark.extra_info.update(best)
    print(f"\n{best['plans']:,} plans in {best['seconds']:.2f} s, {best['peak'] / 1e6:.0f} MB at most")
    assert best["plans"] >= plans
    assert best["gap"] == 0.0
    assert best["seconds"] < seconds
    assert max(one["peak"] for one in runs) < 1e9


class Watch:
    """Time spent in some functions, calls of one inside another counted once."""

    def __init__(self) -> None:
        self.seconds, self._inside = 0.0, False

    @contextlib.contextmanager
    def on(self, patch: pytest.MonkeyPatch, owner: Any, *names: str) -> Iterator[Watch]:
        """Watch methods of a class."""
        for name in names:
            patch.setattr(owner, name, self._watched(getattr(owner, name)))
        yield self

    def _watched(self, function: Any) -> Any:
        def watched(*arguments: Any, **options: Any) -> Any:
            if self._inside:
                return function(*arguments, **options)
            self._inside, start = True, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - start
                self._inside = False

        return watched


@pytest.mark.parametrize(
    ("sampler", "trials"),
    [("random", 10_000), ("qmc", 10_000), ("tpe", 2_000), pytest.param("tpe", 10_000, marks=pytest.mark.slow)],
)
def test_what_a_study_adds_to_optuna(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, sampler: str, trials: int
) -> None:
    """Of the time outside of the model, at least 80 % is Optuna's."""
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    evaluator = asked(scenario, None, "time", (), "auto", trials, None, None, None, 0, None, sampler).evaluator()
    model, own = Watch(), Watch()
    settings = Settings(trials=trials, sampler=sampler, patience=trials)
    with (
        model.on(monkeypatch, Evaluator, "points"),
        own.on(monkeypatch, optuna.Study, "ask", "tell", "enqueue_trial", "get_trials"),
        own.on(monkeypatch, optuna.Trial, "suggest_int", "suggest_float", "suggest_categorical", "set_constraint"),
    ):
        found = benchmark.pedantic(study, args=(evaluator, Place("memory"), None, settings), rounds=1)
    whole = benchmark.stats.stats.total
    outside = whole - model.seconds
    share = own.seconds / outside
    benchmark.extra_info.update({"optuna_share": share, "model_s": model.seconds, "optuna_s": own.seconds})
    print(
        f"\n{sampler}: {len(found.memory):,} plans, {found.trials:,} trials in {whole:.1f} s; {model.seconds:.1f} s are the "
        f"model's, {own.seconds:.1f} s Optuna's: {share:.1%} of the rest"
    )
    assert len(found.memory) == trials
    assert share >= 0.8
