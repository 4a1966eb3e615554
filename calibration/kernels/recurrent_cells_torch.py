"""Steps of torch's LSTM and GRU cells, forward and backward."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._packages import missing, one_torch_thread
from calibration.kernels.recurrent_cells import counts_of, recurrent_points, steps_of

_DIRECTIONS = ("forward", "forward_backward")
_MOST_STEPS = 8  # a backward pass keeps every step


class RecurrentCellsTorch(Kernel):
    """``LSTMCell`` and ``GRUCell`` in float32; the input is as wide as the state and needs no gradient."""

    name = "recurrent_cells_torch"
    isolates = (
        "torch's cell steps on one core: forward without a gradient, or forward and backward through the steps of a block "
        "with gradients of weights and states"
    )
    unit_of_work = "cell: one step of one sequence"

    def unavailable(self) -> str:
        """Return whether torch is missing."""
        return missing("torch")

    def points(self, quick: bool) -> Sequence[Point]:
        """Return cells, widths, batches and directions."""
        return [{**point, "direction": way} for point in recurrent_points(quick) for way in _DIRECTIONS]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Draw weights; the block makes steps from a state of zeros."""
        hidden, batch, steps = int(point["hidden"]), int(point["batch"]), min(steps_of(point), _MOST_STEPS)
        backward = point["direction"] == "forward_backward"
        with one_torch_thread() as torch:
            kind = {"lstm": torch.nn.LSTMCell, "gru": torch.nn.GRUCell}[str(point["cell"])]
            cell = kind(hidden, hidden)
            work = _steps(torch, cell, torch.randn(batch, hidden), steps, backward)
            counts = counts_of(point, steps)
            # of the two products of a step both weights need a gradient, a product of the same size each, and every
            # state but the first one more; the inputs need none
            counts["flop"] *= (2.5 - 0.5 / steps) if backward else 1.0

            def block() -> Sample:
                began = time.perf_counter()
                work()
                return {"time": time.perf_counter() - began, **counts}

            yield block


def _steps(torch: Any, cell: Any, inputs: Any, steps: int, backward: bool) -> Callable[[], None]:
    def forward() -> Any:
        state = None
        for _ in range(steps):
            state = cell(inputs, state)
        return state[0] if isinstance(state, tuple) else state

    def without_gradient() -> None:
        with torch.no_grad():
            forward()

    def with_gradient() -> None:
        cell.zero_grad()
        forward().sum().backward()

    return with_gradient if backward else without_gradient


KERNEL = RecurrentCellsTorch()
