"""A dynamic graph's model in numpy: a graph layer on every snapshot, and recurrent cells from snapshot to snapshot.

Graph layer: ``relu(X W_own + (A X) W_neighbor + b)`` of the targets, where ``A`` averages over neighbors. LSTM and GRU cells as
in ``calibration/kernels/recurrent_cells.py``, here with what their backward pass needs. The loss is half the mean square of
the last snapshot's top hidden state against labels.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from calibration.pipeline.snapshot_run import GATES, PARTS, Cell, Matrix

#: Hidden state, and for LSTM the memory beside it.
State = list[Matrix]


class Weights(NamedTuple):
    """Weights of a graph layer or of a cell: of its two inputs, and added."""

    first: Matrix
    second: Matrix
    bias: Matrix


class KeptGraph(NamedTuple):
    """What the graph layer's backward pass needs."""

    own: Matrix
    averaged: Matrix
    outputs: Matrix


class KeptCell(NamedTuple):
    """What a cell's backward pass needs: its inputs, its opened gates, and what it made of them."""

    inputs: Matrix
    state: State
    opened: Matrix
    candidate: Matrix
    other: Matrix


class CellGradient(NamedTuple):
    """What a cell's backward pass gives: for the layer below, for the snapshot before, and for its weights."""

    inputs: Matrix
    state: State
    weights: Weights


@dataclasses.dataclass
class Model:
    """All weights.

    Attributes
    ----------
    cell : str
    graph : Weights
    layers : list of Weights
    """

    cell: Cell
    graph: Weights
    layers: list[Weights]

    def flat(self) -> Matrix:
        """Return all weights as one array."""
        return flattened([self.graph, *self.layers])

    def update(self, gradient: Matrix, rate: float = 0.05) -> None:
        """Take one step of gradient descent, in place."""
        parts = itertools.chain.from_iterable([self.graph, *self.layers])
        start = 0
        for part in parts:
            part -= np.float32(rate) * gradient[start : start + part.size].reshape(part.shape)
            start += part.size


def flattened(parts: Sequence[Weights]) -> Matrix:
    """Return weights, or their gradients, as one array."""
    return np.concatenate([array.reshape(-1) for weights in parts for array in weights])


def new_model(cell: Cell, width: int, hidden: int, layers: int, seed: int) -> Model:
    """Draw weights."""
    random = np.random.default_rng([seed, 9])

    def drawn(inputs: int, state: int, outputs: int) -> Weights:
        first, second = (
            (random.standard_normal((rows, outputs)) * rows**-0.5).astype(np.float32) for rows in (inputs, state)
        )
        return Weights(first, second, np.zeros(outputs, np.float32))

    cells = [drawn(hidden, hidden, GATES[cell] * hidden) for _ in range(layers)]
    return Model(cell, drawn(width, width, hidden), cells)


def no_gradient(weights: Weights) -> Weights:
    """Return zeros of the same shapes."""
    return Weights(*(np.zeros_like(part) for part in weights))


def add(total: Weights, gradient: Weights) -> None:
    """Add a gradient to what is there."""
    for part, more in zip(total, gradient, strict=True):
        part += more


def new_state(cell: Cell, targets: int, hidden: int) -> State:
    """Return the state before the first snapshot."""
    return [np.zeros((targets, hidden), np.float32) for _ in range(PARTS[cell])]


def graph_forward(weights: Weights, neighbors: sparse.csr_array, features: Matrix) -> KeptGraph:
    """Return the graph layer's outputs of the targets, with what led there."""
    own = features[: neighbors.shape[0]]
    averaged = neighbors @ features
    outputs = own @ weights.first
    outputs += averaged @ weights.second
    outputs += weights.bias
    np.maximum(outputs, 0, out=outputs)
    return KeptGraph(own, averaged, outputs)


def graph_backward(kept: KeptGraph, gradient: Matrix) -> Weights:
    """Return the gradient of the weights; features are not trained."""
    through = gradient * (kept.outputs > 0)
    return Weights(kept.own.T @ through, kept.averaged.T @ through, through.sum(axis=0))


def cell_forward(cell: Cell, weights: Weights, inputs: Matrix, state: State) -> tuple[State, KeptCell]:
    """Return a cell's next state, with what led there."""
    return (_lstm if cell == "lstm" else _gru)(weights, inputs, state)


def cell_backward(cell: Cell, weights: Weights, kept: KeptCell, gradient: State) -> CellGradient:
    """Return the gradients of a cell's inputs, of the state before and of its weights."""
    return (_lstm_backward if cell == "lstm" else _gru_backward)(weights, kept, gradient)


def _sigmoid(values: Matrix) -> Matrix:
    values *= np.float32(0.5)
    np.tanh(values, out=values)
    values += np.float32(1.0)
    values *= np.float32(0.5)
    return values


def _lstm(weights: Weights, inputs: Matrix, state: State) -> tuple[State, KeptCell]:
    hidden = state[0].shape[1]
    gates = inputs @ weights.first
    gates += state[0] @ weights.second
    gates += weights.bias
    opened = _sigmoid(gates[:, : 3 * hidden])
    candidate = np.tanh(gates[:, 3 * hidden :])
    keep, write, show = (opened[:, start * hidden : (start + 1) * hidden] for start in range(3))
    memory = keep * state[1] + write * candidate
    shown = np.tanh(memory)
    return [show * shown, memory], KeptCell(inputs, state, opened, candidate, shown)


def _lstm_backward(weights: Weights, kept: KeptCell, gradient: State) -> CellGradient:
    hidden = kept.candidate.shape[1]
    keep, write, show = (kept.opened[:, start * hidden : (start + 1) * hidden] for start in range(3))
    of_memory = gradient[1] + gradient[0] * show * (1 - kept.other * kept.other)
    gates = np.concatenate([of_memory * kept.state[1], of_memory * kept.candidate, gradient[0] * kept.other], axis=1)
    gates *= kept.opened * (1 - kept.opened)
    gates = np.concatenate([gates, of_memory * write * (1 - kept.candidate * kept.candidate)], axis=1)
    own = Weights(kept.inputs.T @ gates, kept.state[0].T @ gates, gates.sum(axis=0))
    return CellGradient(gates @ weights.first.T, [gates @ weights.second.T, of_memory * keep], own)


def _gru(weights: Weights, inputs: Matrix, state: State) -> tuple[State, KeptCell]:
    hidden = state[0].shape[1]
    from_input = inputs @ weights.first
    from_input += weights.bias
    from_state = state[0] @ weights.second
    opened = _sigmoid(from_input[:, : 2 * hidden] + from_state[:, : 2 * hidden])
    reset, update = opened[:, :hidden], opened[:, hidden:]
    proposed = from_state[:, 2 * hidden :]
    candidate = np.tanh(from_input[:, 2 * hidden :] + reset * proposed)
    return [candidate + update * (state[0] - candidate)], KeptCell(inputs, state, opened, candidate, proposed)


def _gru_backward(weights: Weights, kept: KeptCell, gradient: State) -> CellGradient:
    hidden = kept.candidate.shape[1]
    reset, update = kept.opened[:, :hidden], kept.opened[:, hidden:]
    through = gradient[0] * (1 - update) * (1 - kept.candidate * kept.candidate)
    of_opened = np.concatenate([through * kept.other, gradient[0] * (kept.state[0] - kept.candidate)], axis=1)
    of_opened *= kept.opened * (1 - kept.opened)
    of_input = np.concatenate([of_opened, through], axis=1)
    of_state = np.concatenate([of_opened, through * reset], axis=1)
    own = Weights(kept.inputs.T @ of_input, kept.state[0].T @ of_state, of_input.sum(axis=0))
    before = of_state @ weights.second.T
    before += gradient[0] * update
    return CellGradient(of_input @ weights.first.T, [before], own)
