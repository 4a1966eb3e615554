"""One step of LSTM and GRU cells in numpy: what a recurrent layer costs where no library has it fused."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.kernels._base import Block, Kernel, Point, Sample

Matrix = NDArray[np.float32]
#: Gates of each cell, each a product of the input and one of the state.
GATES = {"lstm": 4, "gru": 3}

_HIDDEN = (64, 256, 1024)
_BATCHES = (16, 128)
_BLOCK = 4e7  # floating point operations of one block at least
_MOST_STEPS = 32


class RecurrentCells(Kernel):
    """Forward steps in float32; the input is as wide as the state."""

    name = "recurrent_cells"
    isolates = (
        "two matrix products and the gates' tanh and products of one step on one core, forward only, state and weights in "
        "cache as far as they fit"
    )
    unit_of_work = "cell: one step of one sequence"

    def points(self, quick: bool) -> Sequence[Point]:
        """Return cells, widths and batches."""
        return recurrent_points(quick)

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Draw weights; the block makes steps from a state of zeros."""
        cell, hidden, batch = str(point["cell"]), int(point["hidden"]), int(point["batch"])
        steps = steps_of(point)
        random = np.random.default_rng(0)
        kind = {"lstm": _lstm, "gru": _gru}[cell]
        step = kind(hidden, random)
        inputs = random.standard_normal((batch, hidden), dtype=np.float32)

        def block() -> Sample:
            states = [np.zeros((batch, hidden), dtype=np.float32) for _ in range(2)]
            began = time.perf_counter()
            for _ in range(steps):
                states = step(inputs, states)
            taken = time.perf_counter() - began
            return {"time": taken, **counts_of(point, steps)}

        yield block


def recurrent_points(quick: bool) -> list[Point]:
    """Return cells, widths and batches."""
    hidden, batches = ((64, 256), _BATCHES[1:]) if quick else (_HIDDEN, _BATCHES)
    return [{"cell": cell, "hidden": width, "batch": batch} for cell in GATES for width in hidden for batch in batches]


def flop_of_step(point: Point) -> float:
    """Return the floating point operations of one step's matrix products, forward."""
    return 2.0 * float(point["batch"]) * 2.0 * float(point["hidden"]) ** 2 * GATES[str(point["cell"])]


def steps_of(point: Point) -> int:
    """Return how many steps make a block."""
    return int(np.clip(_BLOCK / flop_of_step(point), 1, _MOST_STEPS))


def counts_of(point: Point, steps: int) -> dict[str, float]:
    """Return what a block of forward steps works on."""
    return {"cells": float(point["batch"]) * steps, "steps": float(steps), "flop": flop_of_step(point) * steps}


def _sigmoid(values: Matrix) -> Matrix:
    values *= np.float32(0.5)
    np.tanh(values, out=values)
    values += np.float32(1.0)
    values *= np.float32(0.5)
    return values


def _weights(hidden: int, gates: int, random: np.random.Generator) -> tuple[Matrix, Matrix, Matrix]:
    scale = np.float32(hidden**-0.5)
    drawn = [random.standard_normal((hidden, gates * hidden), dtype=np.float32) * scale for _ in range(2)]
    return drawn[0], drawn[1], np.zeros(gates * hidden, dtype=np.float32)


def _lstm(hidden: int, random: np.random.Generator) -> Callable[[Matrix, list[Matrix]], list[Matrix]]:
    of_input, of_state, bias = _weights(hidden, 4, random)

    def step(inputs: Matrix, states: list[Matrix]) -> list[Matrix]:
        gates = inputs @ of_input
        gates += states[0] @ of_state
        gates += bias
        opened = _sigmoid(gates[:, : 3 * hidden])
        keep, write, show = (opened[:, start * hidden : (start + 1) * hidden] for start in range(3))
        memory = keep * states[1] + write * np.tanh(gates[:, 3 * hidden :])
        return [show * np.tanh(memory), memory]

    return step


def _gru(hidden: int, random: np.random.Generator) -> Callable[[Matrix, list[Matrix]], list[Matrix]]:
    of_input, of_state, bias = _weights(hidden, 3, random)

    def step(inputs: Matrix, states: list[Matrix]) -> list[Matrix]:
        from_input = inputs @ of_input + bias
        from_state = states[0] @ of_state
        opened = _sigmoid(from_input[:, : 2 * hidden] + from_state[:, : 2 * hidden])
        reset, update = opened[:, :hidden], opened[:, hidden:]
        candidate = np.tanh(from_input[:, 2 * hidden :] + reset * from_state[:, 2 * hidden :])
        return [candidate + update * (states[0] - candidate), states[1]]

    return step


KERNEL = RecurrentCells()
