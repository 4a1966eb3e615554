"""What this machine is: the fingerprint that says which measurements belong together, and the versions at work.

Everything is read where it can be and None where it can't: without /sys and /proc too.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
from collections.abc import Mapping
from typing import Any

import perfmodel

#: Libraries whose speed the kernels measure, by the name of their distribution.
LIBRARIES = (
    "numpy",
    "scipy",
    "threadpoolctl",
    "torch",
    "torch-geometric",
    "torch-sparse",
    "pyg-lib",
    "dgl",
)

_SCALES = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclasses.dataclass(frozen=True)
class Environment:
    """One machine and what runs on it.

    Attributes
    ----------
    cpu_model : str or None
    architecture : str or None
    cores : int or None
        Cores that this process may run on.
    caches : mapping of str to int
        Size of each cache that one core sees, such as ``L1d`` [B]; empty where unknown.
    memory : int or None
        Main memory [B].
    kernel_release : str or None
    versions : mapping of str to str
        Python, perfmodel and the libraries that are installed.
    """

    cpu_model: str | None
    architecture: str | None
    cores: int | None
    caches: Mapping[str, int]
    memory: int | None
    kernel_release: str | None
    versions: Mapping[str, str]

    @property
    def fingerprint_hash(self) -> str:
        """Return 16 hex digits over what matters for speed, versions aside."""
        # the kernel keeps some memory back, and how much differs from boot to boot
        gibibytes = None if self.memory is None else round(self.memory / 2**30)
        facts = [self.cpu_model, self.architecture, self.cores, sorted(self.caches.items()), gibibytes]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Environment:
        """Return what ``as_dict`` wrote down.

        Examples
        --------
        >>> here = fingerprint()
        >>> Environment.from_dict(json.loads(json.dumps(here.as_dict()))) == here
        True
        """
        return cls(**{field.name: data[field.name] for field in dataclasses.fields(cls)})


def fingerprint(root: pathlib.Path = pathlib.Path("/")) -> Environment:
    """Look at this machine.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` lie.
    """
    return Environment(
        cpu_model=_cpu_model(root),
        architecture=platform.machine() or None,
        cores=_cores(),
        caches=_caches(root),
        memory=_memory(root),
        kernel_release=platform.release() or None,
        versions=versions(),
    )


@functools.cache
def this_machine() -> str:
    """Return the fingerprint of the machine that this process runs on, looked up once."""
    return fingerprint().fingerprint_hash


def versions() -> dict[str, str]:
    """Return the versions of Python, perfmodel and the installed libraries, without importing these."""
    found = {"python": platform.python_version(), "perfmodel": perfmodel.__version__}
    for library in LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _cores() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _cpu_model(root: pathlib.Path) -> str | None:
    """Return the name of the processor; on Arm, which has none in /proc, its implementer and part."""
    facts: dict[str, str] = {}
    for line in _text(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    if name := facts.get("model name"):
        # a hypervisor may hide the name but not the family
        parts = [f"{key} {facts[key]}" for key in ("cpu family", "model", "stepping") if facts.get(key)]
        return f"{name} ({', '.join(parts)})" if parts else name
    parts = [f"{key} {facts[key]}" for key in ("CPU implementer", "CPU part", "CPU variant") if facts.get(key)]
    return ", ".join(parts) or platform.processor() or None


def _caches(root: pathlib.Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for folder in sorted(root.glob("sys/devices/system/cpu/cpu0/cache/index[0-9]*")):
        level, kind, size = (_text(folder / name).strip() for name in ("level", "type", "size"))
        digits, scale = size.rstrip("KMG"), size[-1:]
        if level and digits.isdigit():
            name = f"L{level}{ {'Data': 'd', 'Instruction': 'i'}.get(kind, '') }"
            found[name] = int(digits) * _SCALES.get(scale, 1)
    return found


def _memory(root: pathlib.Path) -> int | None:
    for line in _text(root / "proc/meminfo").splitlines():
        name, *rest = line.split()
        if name == "MemTotal:" and rest and rest[0].isdigit():
            return int(rest[0]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
