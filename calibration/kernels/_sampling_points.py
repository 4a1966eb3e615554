"""Where samplers are run, the same for each, so that their costs can be compared."""

from __future__ import annotations

from calibration.kernels._base import Point

#: Nodes, mean degree, batch and fanout. Edges and nodes drawn must not go together, or no fit can tell their costs apart:
#: one hop over few nodes finds each often, many hops over many nodes find most once.
_POINTS = (
    (20_000, 10, 128, "10"),
    (20_000, 10, 1024, "10,10"),
    (20_000, 50, 1024, "25"),
    (20_000, 50, 1024, "10,10"),
    (500_000, 10, 128, "10,10"),
    (500_000, 10, 1024, "5"),
    (500_000, 10, 1024, "15,10"),
    (500_000, 10, 256, "15,10,5"),
    (500_000, 10, 64, "-1,-1"),
)
_QUICK = (_POINTS[0], _POINTS[3], (100_000, 10, 256, "15,10"))


def sampling_points(quick: bool) -> list[Point]:
    """Return points with a fanout that is listed from the seeds outward."""
    return [
        {"nodes": nodes, "degree": degree, "batch": batch, "fanout": fanout}
        for nodes, degree, batch, fanout in (_QUICK if quick else _POINTS)
    ]


def fanout_of(point: Point) -> list[int]:
    """Return the fanout of each hop from the seeds outward.

    Examples
    --------
    >>> fanout_of({"fanout": "15,10"})
    [15, 10]
    """
    return [int(width) for width in str(point["fanout"]).split(",")]
