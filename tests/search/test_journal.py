"""Studies in a journal file: resumed, shared, killed in the middle, broken."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import optuna
import pytest

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.search.run import search

DMA = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
SPACE: dict[str, Any] = {
    "plan.overlap": ["sum", "pipelined", "overlap"],
    "plan.devices": [1, 2, 3, 4],
    "plan.workers": list(range(9)),
    "plan.transfer.window": [1, 2, 4, 8, 16],
    "plan.transfer.chunk": {"low": "4 KiB", "high": "1 MiB", "factor": 2},
}


def kept(path: pathlib.Path, trials: int, study: str = "s", **more: Any) -> pm.SearchResult:
    return search(DMA, SPACE, storage=str(path), study=study, trials=trials, explain=False, **more)


def finished(path: pathlib.Path, study: str = "s") -> list[dict[str, Any]]:
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    loaded = optuna.load_study(study_name=study, storage=optuna.storages.JournalStorage(backend))
    return [trial.params for trial in loaded.get_trials() if trial.state.is_finished()]


def test_a_study_is_taken_up_where_it_ended(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "study.journal"
    first = kept(path, 40)
    second = kept(path, 40)
    assert first.best is not None
    assert second.best is not None
    assert (first.evaluated, second.evaluated) == (40, 80)
    assert second.best.objectives["time"] <= first.best.objectives["time"]
    assert len({json.dumps(plan, sort_keys=True) for plan in finished(path)}) == 80
    other = kept(path, 10, study="another")
    assert other.evaluated == 10


def test_a_study_of_another_search_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "study.journal"
    kept(path, 20)
    for more in ({"objectives": ["epoch_time"]}, {"constraints": ["time <= 1 s"]}):
        with pytest.raises(SpecError, match="must be a study of the same search"):
            kept(path, 20, **more)
    with pytest.raises(SpecError, match="must be a study of the same search"):
        search(DMA.replace({"system.link.bandwidth": "2 GB/s"}), SPACE, storage=str(path), study="s", trials=20)


@pytest.mark.parametrize("content", [b"\x00\x01\x02" * 50, b"PK\x03\x04", b"hello\nworld\n", b'{"a": 1}\n'])
def test_another_kind_of_file_is_a_sentence_and_stays_as_it_is(tmp_path: pathlib.Path, content: bytes) -> None:
    path = tmp_path / "study.journal"
    path.write_bytes(content)
    with pytest.raises(SpecError, match="must be a journal of studies"):
        kept(path, 20)
    assert path.read_bytes() == content


def test_half_a_line_of_a_killed_writer_is_cut_off(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "study.journal"
    kept(path, 20)
    before = finished(path)
    with path.open("ab") as file:
        file.write(b'{"op_code": 4, "study_id": 0, "worker_')
    assert kept(path, 20).evaluated == 40
    assert finished(path)[: len(before)] == before


def test_damage_in_the_middle_is_a_sentence_and_loses_nothing(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "study.journal"
    kept(path, 20)
    lines = path.read_bytes().split(b"\n")
    lines[len(lines) // 2] = b"###"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(SpecError) as error:
        kept(path, 20)
    assert "\n" not in str(error.value)
    assert path.read_bytes().startswith(b"\n".join(lines)[:1000])


def test_a_killed_worker_loses_at_most_its_batch(tmp_path: pathlib.Path) -> None:
    path, space = tmp_path / "study.journal", tmp_path / "space.toml"
    space.write_text("[parameters]\n" + "".join(f'"{key}" = {_toml(value)}\n' for key, value in SPACE.items()))
    command = [sys.executable, "-m", "perfmodel", "search", "ogbn-products", "--system", "lgnnic-doca-dma",
               "--space", str(space), "--storage", str(path), "--study", "s", "--trials", "4000", "--json"]  # fmt: skip
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while time.monotonic() < end and (not path.exists() or path.read_bytes().count(b'"state":1') < 60):
        time.sleep(0.05)
    worker.send_signal(signal.SIGKILL)
    worker.wait(10)
    before = finished(path)
    assert len(before) >= 30
    again = kept(path, 20)
    assert again.evaluated >= len({json.dumps(plan, sort_keys=True) for plan in before}) + 20
    assert finished(path)[: len(before)] == before


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {json.dumps(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)
