"""Searches default spaces of catalog scenarios with several methods and seeds, and compares with the sweep's optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from perfmodel.errors import ModelError
from perfmodel.search.evaluator import Evaluator
from perfmodel.search.question import asked
from perfmodel.search.sweep import sweep
from perfmodel.spec.scenario import load_scenario
from studies._base import Answer, Study, markdown, percent
from studies.search_against_others.methods import METHODS

#: Workload and system of every scenario: another one is one more line.
SCENARIOS: Final[Sequence[tuple[str, str]]] = (
    ("reddit", "lgnnic-doca-dma"),
    ("ogbn-products", "lgnnic-doca-dma"),
    ("ogbn-mag", "lgnnic-doca-dma"),
    ("reddit", "lgnnic-sockets"),
    ("ogbn-products", "lgnnic-sockets"),
    ("ogbn-mag", "lgnnic-sockets"),
    ("ogbn-papers100M", "epyc-roce"),
    ("histogram", "buddy-dpu"),
    ("quicksilver", "buddy-dpu"),
    ("sparse-transpose", "buddy-dpu"),
    ("sssp", "buddy-x86"),
    ("triangle-counting", "buddy-x86"),
    ("dgnn-amazon", "mdgnn-m-dgnn"),
    ("dgnn-reddit", "mdgnn-m-base"),
    ("dgnn-youtube", "mdgnn-m-p2p"),
    ("dgnn-flickr", "mdgnn-blad"),
)
BUDGET: Final = 200
SEEDS: Final = 10
CLOSE: Final = 0.01


def compute() -> Answer:
    """Search every scenario with every method and seed."""
    return {
        "budget": BUDGET,
        "seeds": SEEDS,
        "scenarios": {f"{workload} on {system}": one(workload, system, SEEDS) for workload, system in SCENARIOS},
    }


def evaluator_of(workload: str, system: str) -> Evaluator:
    """Return an evaluator of the default space of a scenario."""
    scenario = load_scenario(workload, system)
    return asked(scenario, None, ("time",), (), "auto", BUDGET, None, None, None, 0, None, "tpe").evaluator()


def one(workload: str, system: str, seeds: int) -> Answer:
    """Return the optimum of a scenario's default space, and how close each method comes."""
    evaluator = evaluator_of(workload, system)
    proven = sweep(evaluator)
    if proven.best is None:
        raise ModelError(f"{workload} on {system} has no feasible plan")
    optimum = proven.best.value
    trails = {name: [method(evaluator, BUDGET, seed) for seed in range(seeds)] for name, method in METHODS.items()}
    return {
        "optimum_s": optimum,
        "plans": proven.evaluated,
        "feasible": proven.feasible,
        "methods": {name: summary(found, optimum) for name, found in trails.items()},
    }


def summary(trails: Sequence[Sequence[float]], optimum: float) -> Answer:
    """Return gaps after the budget, and after how many evaluations a gap of 1 % was reached (None: never, in the median)."""
    gaps = np.array([trail[-1] / optimum - 1.0 for trail in trails])
    reached = [_reached(trail, optimum) for trail in trails]
    median = float(np.median(reached))
    return {
        "median_gap": float(np.median(gaps)),
        "worst_gap": float(np.max(gaps)),
        "within": int(np.count_nonzero(gaps <= CLOSE)),
        "evaluations": median if np.isfinite(median) else None,
    }


def _reached(trail: Sequence[float], optimum: float) -> float:
    close = np.flatnonzero(np.asarray(trail) <= optimum * (1.0 + CLOSE))
    return float(close[0] + 1) if close.size else float("inf")


def tables(answer: Answer) -> Mapping[str, str]:
    """Draw the gaps, and the evaluations that a gap of 1 % takes."""
    header = ["scenario", "plans", "feasible", *METHODS]
    gaps, reached = [], []
    for name, found in answer["scenarios"].items():
        share = found["feasible"] / found["plans"]
        begin = [name, f"{found['plans']:,}", percent(share)]
        cells = [found["methods"][method] for method in METHODS]
        gaps.append(begin + [f"{_gap(cell['median_gap'])} ({_gap(cell['worst_gap'])})" for cell in cells])
        reached.append([name, *(_count(cell, answer) for cell in cells)])
    return {"gaps": markdown(header, gaps), "evaluations": markdown(["scenario", *METHODS], reached)}


def _gap(gap: float | None) -> str:
    return "none feasible" if gap is None else percent(gap, 1 if gap < 0.1 else 0)


def _count(cell: Answer, answer: Answer) -> str:
    needed = "-" if cell["evaluations"] is None else f"{cell['evaluations']:.0f}"
    return f"{needed} ({cell['within']} of {answer['seeds']})"


STUDY: Final = Study("search_against_others", compute, tables)
