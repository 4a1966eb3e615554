"""Worker processes that sample: what they bring, and what handing a mini-batch over costs."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.cores import memory_cores
from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._cold import Wait, with_waiting
from calibration.pipeline.batches import Alone, Loader, Workers, drawing
from calibration.pipeline.configuration import SyntheticGraph, csc_of

_GRAPH = SyntheticGraph(60_000, 15.0, 1.0, seed=7)
_FANOUT = (10, 5)


class SamplingWorkers(Kernel):
    """Mini-batches with their features from 0, 1, 2 and more workers, as many at once as there are workers."""

    name = "sampling_workers"
    isolates = "sampling by processes beside one another, against the same by the process that needs it"
    unit_of_work = "mini-batch"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return numbers of workers, batches and feature widths."""
        workers, batches = ((0, 2), (400,)) if quick else ((0, 1, 2, 3), (32, 400, 1200))
        return with_waiting(
            [
                {"workers": count, "batch": batch, "dimension": width}
                for count, batch, width in itertools.product(workers, batches, (100,) if quick else (16, 128))
            ]
        )

    def unavailable(self) -> str:
        """Return why workers can't be forked here."""
        import multiprocessing

        return "" if "fork" in multiprocessing.get_all_start_methods() else "processes can't be forked on this system"

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Fork the workers; a block is one mini-batch for each of them."""
        csc = csc_of(_GRAPH)
        rng = np.random.default_rng(0)
        width, batch, count = (int(point[name]) for name in ("dimension", "batch", "workers"))
        features = rng.random((csc.nodes, width), dtype=np.float32)
        loader = Loader(drawing(csc, _FANOUT), features, rng.integers(0, 8, csc.nodes))
        most = batch * (1 + _FANOUT[0] + _FANOUT[0] * _FANOUT[1])
        source: Alone | Workers
        if count:
            source = Workers(loader, csc.nodes, batch, count, min(most, csc.nodes), most, memory_cores())
        else:
            source = Alone(loader, csc.nodes, batch)
        wait = Wait(point)
        steps = itertools.count(step=max(count, 1))

        def block() -> Sample:
            step = next(steps)
            wait()
            drawn, took = zip(*(source.next(step + number) for number in range(max(count, 1))), strict=True)
            return {"time": sum(took), "batches": float(len(drawn))}

        try:
            yield block
        finally:
            if isinstance(source, Workers):
                source.close()


KERNEL = SamplingWorkers()
