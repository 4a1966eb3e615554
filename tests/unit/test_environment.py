"""The fingerprint of a machine: read from files where these are, unknown where they aren't."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import platform

import pytest

import perfmodel
from perfmodel.environment import Environment, fingerprint, versions


def test_this_machine() -> None:
    here = fingerprint()
    assert here.architecture == platform.machine()
    assert here.cores is not None
    assert 1 <= here.cores <= (os.cpu_count() or 1)
    assert here.versions == versions()
    assert here.versions["perfmodel"] == perfmodel.__version__
    assert {"python", "numpy", "scipy"} <= here.versions.keys()
    assert len(here.fingerprint_hash) == 16


def test_without_proc_and_sys(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.setattr(platform, "processor", lambda: "")
    found = fingerprint(tmp_path)
    assert (found.cpu_model, found.cores, found.memory, found.caches) == (None, None, None, {})
    assert len(found.fingerprint_hash) == 16


def write(root: pathlib.Path, texts: dict[str, str]) -> pathlib.Path:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


CACHE = "sys/devices/system/cpu/cpu0/cache"


def test_files_by_hand(tmp_path: pathlib.Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/cpuinfo": "processor : 0\nmodel name : Fast Chip\nmodel : 7\n\nprocessor : 1\nmodel name : Other\n",
            "proc/meminfo": "MemTotal:       16303428 kB\nMemFree:  1 kB\n",
            f"{CACHE}/index0/level": "1\n",
            f"{CACHE}/index0/type": "Data\n",
            f"{CACHE}/index0/size": "48K\n",
            f"{CACHE}/index1/level": "3\n",
            f"{CACHE}/index1/type": "Unified\n",
            f"{CACHE}/index1/size": "32M\n",
            f"{CACHE}/index2/level": "4\n",
        },
    )
    found = fingerprint(root)
    assert found.cpu_model == "Fast Chip (model 7)"
    assert found.memory == 16303428 * 1024
    assert found.caches == {"L1d": 48 * 1024, "L3": 32 * 2**20}


def test_an_arm_processor_is_told_by_its_part(tmp_path: pathlib.Path) -> None:
    text = "processor : 0\nCPU implementer : 0x41\nCPU variant : 0x1\nCPU part : 0xd0c\n"
    found = fingerprint(write(tmp_path, {"proc/cpuinfo": text}))
    assert found.cpu_model == "CPU implementer 0x41, CPU part 0xd0c, CPU variant 0x1"


HERE = Environment("Chip", "x86_64", 8, {"L2": 2**20}, 32 * 2**30, "6.1", {"numpy": "2.0"})


def test_the_hash_is_over_what_matters_for_speed() -> None:
    same = [
        {"versions": {"numpy": "3.0"}},
        {"kernel_release": "7.0"},
        {"memory": 32 * 2**30 - 2**20},  # another kernel keeps back another mebibyte
    ]
    other = [
        {"cpu_model": "Other"},
        {"architecture": "aarch64"},
        {"cores": 4},
        {"caches": {"L2": 2**21}},
        {"memory": 16 * 2**30},
        {"memory": None},
    ]
    for change in same:
        assert dataclasses.replace(HERE, **change).fingerprint_hash == HERE.fingerprint_hash
    hashes = {dataclasses.replace(HERE, **change).fingerprint_hash for change in other}
    assert len(hashes | {HERE.fingerprint_hash}) == len(other) + 1
