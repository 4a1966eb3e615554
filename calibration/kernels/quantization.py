"""Rounding features to a narrower precision and widening them: what an element and a row's scale cost."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.precision import Codec

_PRECISIONS = ("fp16", "bf16", "fp8", "int8", "int4")
_SHAPES = ((4000, 16), (1000, 64), (12_000, 64), (3000, 200), (12_000, 400))
_SHAPES_QUICK = ((4000, 16), (1000, 100), (20_000, 100))


class Quantization(Kernel):
    """Every precision both ways, over row widths."""

    name = "quantization"
    isolates = "rounding rows with their scales, or widening them, on one core, block by block within its cache"
    unit_of_work = "element"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return directions, precisions and shapes."""
        return with_waiting(
            [
                {"direction": direction, "precision": precision, "rows": rows, "dimension": width}
                for direction, precision, (rows, width) in itertools.product(
                    ("round", "widen"), _PRECISIONS, _SHAPES_QUICK if quick else _SHAPES
                )
            ]
        )

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Round the rows once, so that there is something to widen."""
        rows, width = int(point["rows"]), int(point["dimension"])
        codec = Codec(width, str(point["precision"]))
        features = np.random.default_rng(0).random((rows, width), dtype=np.float32)
        sent, wide = codec.encode(features), np.zeros_like(features)
        wait = Wait(point)

        def block() -> Sample:
            wait(features if point["direction"] == "round" else sent)
            began = time.perf_counter()
            if point["direction"] == "round":
                codec.encode(features, sent)
            else:
                codec.decode(sent, rows, wide)
            taken = time.perf_counter() - began
            return {"time": taken, "elements": float(rows * width), "rows": float(rows)}

        yield block


KERNEL = Quantization()
