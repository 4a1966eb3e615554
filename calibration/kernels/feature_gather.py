"""Gathering feature rows: what a row and a byte cost, within the caches and beyond them."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.batches import gather

_WIDTHS, _WIDTHS_QUICK = (8, 32, 100, 300), (16, 128)
_TABLES, _TABLES_QUICK = (2**19, 2**22, 2**24, 2**26, 2**28), (2**19, 2**24, 2**27)
_ROWS, _ROWS_QUICK = (2000, 20_000), (5000,)


class FeatureGather(Kernel):
    """Rows of fp32 features picked at random from a table; every block picks others."""

    name = "feature_gather"
    isolates = "copying scattered rows of one table on one core: the size of the table says which cache holds it"
    unit_of_work = "row"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return row widths, table sizes and rows, where the table holds as many."""
        widths, tables, rows = (_WIDTHS_QUICK, _TABLES_QUICK, _ROWS_QUICK) if quick else (_WIDTHS, _TABLES, _ROWS)
        return with_waiting(
            [
                {"dimension": width, "table": table, "rows": count}
                for width, table, count in itertools.product(widths, tables, rows)
                if count <= table // (4 * width)
            ]
        )

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Make the table; a block gathers as often as 2 MiB take, at least once."""
        width, count = int(point["dimension"]), int(point["rows"])
        held = int(point["table"]) // (4 * width)
        table = np.ones((held, width), np.float32)
        out = np.zeros((count, width), np.float32)
        rng = np.random.default_rng(0)
        wait = Wait(point)

        def block() -> Sample:
            nodes = rng.permutation(held)[:count] if held < 4 * count else np.unique(rng.integers(0, held, count))
            rng.shuffle(nodes)
            wait(nodes)
            began = time.perf_counter()
            gather(table, nodes, out)
            taken = time.perf_counter() - began
            return {"time": taken, "rows": float(nodes.size), "gathered": 4.0 * nodes.size * width}

        yield block


KERNEL = FeatureGather()
