"""Pictures of results: what each shows is computed from the result's document, then drawn; one file a kind."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perfmodel.documents import checked
from perfmodel.errors import SpecError, nearest, shown
from perfmodel.pictures._base import Picture, needs_matplotlib, save, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "pictures", "save"]


@functools.cache
def pictures() -> Mapping[str, Picture]:
    """Find every picture of the folder, by name."""
    modules = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}").PICTURE for name in sorted(modules)}


def draw(kind: str, results: Any, title: str | None = None) -> Figure:
    """Draw results.

    Parameters
    ----------
    kind : str
        ``phases``, ``devices``, ``measured``, ``front``, ``regimes`` or ``fleet``.
    results : result, document, or a sequence of them
        Estimates, a search's result, a capacity plan, or their documents as ``--json`` writes them.
    title : str, optional
        In place of the picture's own.

    Returns
    -------
    matplotlib Figure
        ``perfmodel.pictures.save(figure, "FILE.svg")`` writes it the same to the last byte each time.

    Raises
    ------
    SpecError
        An unknown kind, results of another kind, matplotlib not installed.
    """
    if kind not in pictures():
        raise SpecError("picture", f"must be one of {', '.join(pictures())}", shown(kind), nearest(kind, pictures()))
    picture = pictures()[kind]
    several = results if isinstance(results, Sequence) and not isinstance(results, str) else [results]
    documents = [_document(each, f"result {place + 1}") for place, each in enumerate(several)]
    if not documents or (len(documents) > 1 and not picture.several):
        raise SpecError("results", f"must be {picture.takes}", f"{len(documents)} results")
    for place, document in enumerate(documents):
        lacking = [key for key in picture.keys if key not in document]
        if lacking:
            raise SpecError(f"result {place + 1}", f"must be {picture.takes}", f"a document without {lacking[0]}")
    data = picture.compute(documents)
    needs_matplotlib()
    with style():
        return picture.draw(data, title)


def _document(result: Any, where: str) -> Mapping[str, Any]:
    whole = result.to_dict() if hasattr(result, "to_dict") else result
    return checked(whole, 1, where)
