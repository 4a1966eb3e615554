"""The bibliography of the phases: ``phases/sources.bib``, read once."""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Mapping

import perfmodel.phases
from perfmodel.errors import ModelError

_ENTRY = re.compile(r"@(\w+)\{([\w-]+),(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*=\s*\{(.*?)\}\s*(?:,|$)", re.DOTALL)


@functools.cache
def references() -> Mapping[str, Mapping[str, str]]:
    """Return every entry of the bibliography: its fields by its key."""
    path = pathlib.Path(perfmodel.phases.__path__[0]) / "sources.bib"
    content = path.read_text(encoding="utf-8")
    return {
        key: {"type": kind.lower()} | {name.lower(): " ".join(value.split()) for name, value in _FIELD.findall(body)}
        for kind, key, body in _ENTRY.findall(content)
    }


def reference(key: str) -> str:
    """Return one entry as a line of text.

    Raises
    ------
    ModelError
        Where the bibliography lacks the key.

    Examples
    --------
    >>> reference("williams2009")[:49]
    'Williams, Waterman, Patterson: Roofline: an insig'
    """
    if key not in references():
        raise ModelError(f"{key} is not in perfmodel/phases/sources.bib")
    entry = references()[key]
    author = entry.get("author", "")
    whole = author.startswith("{")  # an organization: its name is not split
    authors = author.strip("{}") if whole else ", ".join(name.split(",")[0] for name in author.split(" and "))
    kinds = ("journal", "booktitle", "publisher", "howpublished")
    place = next((entry[kind] for kind in kinds if kind in entry), "")
    parts = [entry["title"], place, entry.get("year", ""), entry.get("url", "")]
    return (f"{authors}: " if authors else "") + ", ".join(part for part in parts if part)
