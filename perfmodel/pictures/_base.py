"""What pictures share: one look that is readable in gray, units on the axes, and files that come out the same each time."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import pathlib
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from perfmodel.errors import SpecError, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Fills from dark to light, told apart by most eyes; neighbors differ in how bright they are, and in their hatch.
FILLS: Final = ("#08519c", "#fdd49e", "#37a055", "#e5f5e0", "#cb181d", "#c6dbef", "#54278f", "#f7f7f7")
HATCHES: Final = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo", "|||")
LINES: Final = ("-", "--", ":", "-.")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
INK: Final = "#222222"
_SETTINGS: Final[Mapping[str, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#dddddd",
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "svg.hashsalt": "perfmodel",
}
_SMALL: Final = ((1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))
_LARGE: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_FORMATS: Final = (".png", ".svg")


@dataclasses.dataclass(frozen=True)
class Picture:
    """One kind of picture.

    Attributes
    ----------
    shows : str
        In a few words.
    takes : str
        Which results, for errors and help.
    keys : tuple of str
        Of the documents, by which they are known.
    compute : callable of documents to data
        What is shown, without a plotting library.
    draw : callable of data and title to Figure
    several : bool
        Whether it takes more than one result.
    """

    shows: str
    takes: str
    keys: tuple[str, ...]
    compute: Callable[[Sequence[Mapping[str, Any]]], Any]
    draw: Callable[[Any, str | None], Figure]
    several: bool = False


def needs_matplotlib() -> None:
    """Raise where matplotlib is not installed.

    Raises
    ------
    SpecError
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise SpecError("picture", "needs matplotlib", "none installed", "pip install matplotlib")


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Draw in one look, whatever the user's own settings of matplotlib are."""
    import matplotlib.style

    with matplotlib.style.context(["default", dict(_SETTINGS)]):
        yield


def check_file(file: str) -> str:
    """Return the format that a file's name asks for.

    Raises
    ------
    SpecError
    """
    suffix = pathlib.PurePath(file).suffix.lower()
    if suffix not in _FORMATS:
        near = f"{pathlib.PurePath(file).stem or 'picture'}.svg"
        raise SpecError("--out", "must end with .png or .svg", shown(file), near)
    return suffix[1:]


def save(figure: Figure, file: str) -> None:
    """Write a picture as PNG or SVG, by the file's name; the same picture gives the same bytes.

    Raises
    ------
    SpecError
        Another kind of file, or one that can't be written.
    """
    kind = check_file(file)
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with style():
        try:
            figure.savefig(file, format=kind, metadata=metadata)
        except OSError as error:
            raise SpecError(f"--out {file}", "must be writable", error.strerror or error) from None


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure whose parts are laid out so that they don't overlap [inch]."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def fill(place: int) -> dict[str, Any]:
    """Return fill and hatch of one of several areas."""
    return {
        "facecolor": FILLS[place % len(FILLS)],
        "hatch": HATCHES[(place + place // len(FILLS)) % len(HATCHES)],
        "edgecolor": "white" if luminance(FILLS[place % len(FILLS)]) < 0.35 else INK,
        "linewidth": 0.0,
    }


def luminance(color: str) -> float:
    """Return how bright a color is in gray, from 0 to 1 (Rec. 709 on the coded values).

    Examples
    --------
    >>> round(luminance("#ffffff"), 6), luminance("#000000")
    (1.0, 0.0)
    """
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def scale_of(largest: float, unit: str) -> tuple[float, str]:
    """Return by what numbers are divided, and the unit that is then shown; a unit that takes no prefix stays.

    Examples
    --------
    >>> scale_of(0.25, "s"), scale_of(3.6e8, "B"), scale_of(2e10, "B/s"), scale_of(12.0, "node")
    ((0.001, 'ms'), (1000000.0, 'MB'), (1000000000.0, 'GB/s'), (1.0, 'node'))
    """
    head = unit.partition("/")[0]
    prefixes = _SMALL if head == "s" else _LARGE if head in ("B", "J", "W", "flop") else ((1.0, ""),)
    scale, prefix = next((each for each in prefixes if largest >= each[0]), prefixes[-1])
    return scale, prefix + unit


def labels_of(documents: Sequence[Mapping[str, Any]], without: Sequence[str] = ()) -> list[str]:
    """Return a name for each estimate, of what tells it from the others; those of one kind are numbered.

    Parameters
    ----------
    documents : sequence of mapping
        Estimates.
    without : sequence of str
        Keys of the plan that names don't speak of.
    """
    sides = [
        {
            "workload": each["workload"],
            "system": each["system"],
            **{k: v for k, v in each["plan"].items() if k not in without},
        }
        for each in documents
    ]
    keys = list(dict.fromkeys(key for side in sides for key in side))
    telling = [key for key in keys if len({str(side.get(key)) for side in sides}) > 1]
    names = []
    for side in sides:
        parts = [
            str(side[key]) if key in ("workload", "system") else f"{key.rpartition('.')[2]} {_short(side[key])}"
            for key in telling
            if side.get(key) is not None
        ]
        names.append(", ".join(parts) or f"{side['workload']} on {side['system']}")
    return [
        f"{name} ({names[:place].count(name) + 1})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def wrapped(text: str, width: int = 28) -> str:
    """Return a label on several lines."""
    return "\n".join(textwrap.wrap(text, width)) or text


def with_unit(name: str, unit: str) -> str:
    """Return a label with its unit; pure numbers have [1]."""
    return f"{name} [{unit or '1'}]"
