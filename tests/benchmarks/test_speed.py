"""How fast: ``python -m pytest tests/benchmarks --benchmark-only``.

Plans a second are on one core, numpy being told so by ``OMP_NUM_THREADS=1``; elementwise numpy uses one anyway.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas
import pytest

import perfmodel as pm

PLANS = 1_000_000


def columns(plans: int) -> dict[str, Any]:
    """Return plans that vary chunk, precision, link bandwidth and placement, at random."""
    generator = np.random.default_rng(0)
    return {
        "plan.transfer.chunk": generator.uniform(4096, 2.0**20, plans),
        "plan.precision.features": generator.choice(["fp32", "fp16", "int8"], plans),
        "system.link.bandwidth": generator.uniform(1e9, 25e9, plans),
        "plan.placement.sampling": generator.choice(["memory-node", "compute-node"], plans),
    }


@pytest.mark.parametrize("system", ["lgnnic-doca-dma", "lgnnic-sockets"])
def test_plans_a_second(benchmark: Any, system: str) -> None:
    scenario = pm.load_scenario("ogbn-products", system)
    given = columns(PLANS)
    pm.evaluate(scenario, {key: values[:100] for key, values in given.items()})
    table = benchmark.pedantic(pm.evaluate, args=(scenario, given), rounds=5, warmup_rounds=1)
    assert len(table) == PLANS
    rate = PLANS / benchmark.stats.stats.median
    benchmark.extra_info["plans_per_s"] = round(rate)
    print(f"\n{system}: {rate / 1e6:.2f} million plans a second")
    assert rate > (2e6 if system == "lgnnic-doca-dma" else 1e6)


def test_a_frame_of_a_hundred_thousand_jobs(benchmark: Any) -> None:
    """Of 72 scenarios: 4 workloads, 3 systems, 3 precisions, 2 placements."""
    generator = np.random.default_rng(0)
    rows = 100_000
    jobs = pandas.DataFrame(
        {
            "workload": generator.choice(["reddit", "ogbn-products", "ogbn-mag", "ogbn-arxiv"], rows),
            "system": generator.choice(["lgnnic-doca-dma", "lgnnic-sockets", "bluefield-3-roce"], rows),
            **columns(rows),
        }
    )
    pm.evaluate_frame(jobs[:100])
    found = benchmark.pedantic(pm.evaluate_frame, args=(jobs,), rounds=5)
    assert found["time_s"].notna().all()
    print(f"\n{benchmark.stats.stats.median:.2f} s for {rows:,} jobs")
    assert benchmark.stats.stats.median < 2.0


def test_one_prediction(benchmark: Any) -> None:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    pm.predict(scenario)
    benchmark(pm.predict, scenario)
    assert benchmark.stats.stats.median < 1e-3


def test_loading_and_a_first_prediction(benchmark: Any) -> None:
    benchmark(lambda: pm.predict(pm.load_scenario("ogbn-products", "lgnnic-doca-dma")))


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "pass"),
        ("-c", "import perfmodel"),
        ("-m", "perfmodel", "--help"),
        ("-m", "perfmodel", "predict", "ogbn-products", "--system", "lgnnic-doca-dma", "--json"),
    ],
    ids=["python", "import", "help", "predict"],
)
def test_processes(benchmark: Any, arguments: tuple[str, ...]) -> None:
    def run() -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    run()
    benchmark.pedantic(run, rounds=5)
