"""optuna-dashboard, a process of its own, opens a study that a search has left."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

import perfmodel as pm
from perfmodel.search.run import search

if importlib.util.find_spec("optuna_dashboard") is None and os.environ.get("PERFMODEL_REQUIRE_DASHBOARD") != "1":
    pytest.skip("optuna-dashboard isn't installed: pip install 'perfmodel[dashboard]'", allow_module_level=True)

SPACE: dict[str, Any] = {"plan.overlap": ["sum", "pipelined", "overlap"], "plan.transfer.window": [1, 2, 4, 8, 16]}


def answer(url: str, process: subprocess.Popen[bytes]) -> Any:
    """Return what a server that is starting answers."""
    end = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as found:
                return json.load(found)
        except (urllib.error.URLError, ConnectionError):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)


def test_the_dashboard_shows_the_trials_of_a_search(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "study.journal"
    scenario = pm.load_scenario("reddit", "lgnnic-doca-dma")
    found = search(scenario, SPACE, storage=str(path), study="shown", trials=15, explain=False)
    assert found.best is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-c", "from optuna_dashboard._cli import main; main()", str(path), "--port", str(port),
               "--host", "127.0.0.1"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        (study,) = answer(f"http://127.0.0.1:{port}/api/studies", process)["study_summaries"]
        assert study["study_name"] == "shown"
        whole = answer(f"http://127.0.0.1:{port}/api/studies/{study['study_id']}", process)
    finally:
        process.kill()
        process.wait(10)
    assert len(whole["trials"]) == found.study.trials  # type: ignore[union-attr]
    values = [trial["values"][0] for trial in whole["trials"] if trial["state"] == "Complete"]
    assert min(values) == pytest.approx(found.best.objectives["time"])
