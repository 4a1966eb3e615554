"""A run over snapshots as a scenario of the model, and what an exact replay of its caches finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from calibration.machine_constants import phase
from calibration.pipeline.snapshot_messages import PIECE
from calibration.pipeline.snapshot_run import SnapshotRun, page_order
from calibration.simulation.cache import Counts, Visit, lru, pinned
from perfmodel.spec.scenario import Scenario, load_scenario

SYSTEM: Final = "this-machine-snapshots"
_EXCHANGES: Final = {"host": "host-bounced", "peer": "peer-to-peer"}


def scenario_of(asked: SnapshotRun, profile: str | Mapping[str, Any] | None = None) -> Scenario:
    """Return a run as a scenario of the model on the calibrated machine.

    Examples
    --------
    >>> scenario_of(SnapshotRun(processes=3, fragments=4)).plan.devices
    3.0
    """
    return load_scenario(_workload(asked), SYSTEM, "snapshots-on-cores", profile, _plan(asked))


def _workload(asked: SnapshotRun) -> dict[str, Any]:
    return {
        "name": "snapshots",
        "title": "Snapshots drawn at random",
        "family": "dynamic-training",
        "nodes": float(asked.nodes),
        "edges": float(asked.nodes * asked.degree),
        "feature_dimension": float(asked.width),
        "fanout": [asked.degree],
        "temporal": {"snapshots": float(asked.window + asked.frames), "shared": 0.0, "access": "scan"},
        "model": {
            "cell": asked.cell,
            "hidden": float(asked.hidden),
            "cells": float(asked.layers),
            "messages": asked.fragments / asked.targets,
        },
        "sources": {"*": "analytic: as the run is asked to be"},
    }


def _plan(asked: SnapshotRun) -> dict[str, Any]:
    return {
        "plan.devices": float(asked.processes),
        "plan.exchange": _EXCHANGES[asked.exchange],
        "plan.frame_length": float(asked.window),
        "plan.batch": float(asked.targets),
        "plan.processes.page": float(asked.page),
        "plan.processes.cache": float(asked.capacity * asked.page),
        "plan.processes.policy": asked.policy,
        "plan.processes.reading": asked.reading,
        "plan.processes.piece": float(PIECE),
    }


def predicted_hit_rate(asked: SnapshotRun) -> float:
    """Return the share of pages that processes find in their caches, by the phase that predictions use."""
    return phase(
        f"scan_{asked.policy}_apart", {}, devices=float(asked.processes), frame_length=float(asked.window),
        file_pages=float(asked.pages), process_pages=float(asked.capacity),
    )  # fmt: skip


def replayed(asked: SnapshotRun, frames: Sequence[int], skip: int) -> Counts:
    """Replay every page that the processes visit through exact caches, one for each process.

    Parameters
    ----------
    asked : SnapshotRun
    frames : sequence of int
        From the first on, those too that are not counted.
    skip : int
        Frames at the start that are not counted.

    Returns
    -------
    Counts
        Of all processes together.
    """
    total = Counts(0, 0, 0)
    for process in range(asked.processes):
        visits = [
            Visit(frame, snapshot, np.array(page_order(asked, snapshot), dtype=np.int64) + snapshot * asked.pages)
            for frame in frames
            for snapshot in range(frame, frame + asked.window)
            if asked.owner(snapshot) == process
        ]
        found = (lru if asked.policy == "lru" else pinned)(visits, asked.capacity, skip)
        total = Counts(total.accesses + found.accesses, total.hits + found.hits, total.first + found.first)
    return total
