"""Training a GraphSAGE with mean aggregation on one core: forward pass, backward pass and update, in numpy and SciPy.

Layer ``l`` computes ``X' = relu(X W_self + (A X) W_neighbor + b)``, where ``A`` averages over the edges into each node; the
last layer has no relu. The loss is the cross-entropy of the seeds' classes. Every layer works on all nodes and edges of
the mini-batch, as a plain PyG model does.

"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Features = NDArray[np.float32]
Ids = NDArray[np.integer]


@dataclasses.dataclass
class _Layer:
    """Weights of one layer, of shapes (inputs, outputs) and (outputs,)."""

    own: Features
    neighbor: Features
    bias: Features


@dataclasses.dataclass
class _Kept:
    """What the backward pass of a layer needs of its forward pass."""

    inputs: Features
    averaged: Features
    outputs: Features


class Trainer:
    """A model with its optimizer (plain gradient descent).

    Parameters
    ----------
    widths : sequence of int
        Features in, hidden widths, classes.
    rate : float
        Learning rate.
    seed : int
        Of the first weights.
    """

    def __init__(self, widths: Sequence[int], rate: float = 0.1, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.rate = np.float32(rate)
        self.layers = []
        for inputs, outputs in itertools.pairwise(widths):
            spread = np.sqrt(1.0 / inputs)
            own, neighbor = (
                np.asarray(spread * rng.standard_normal((inputs, outputs)), dtype=np.float32) for _ in range(2)
            )
            self.layers.append(_Layer(own, neighbor, np.zeros(outputs, np.float32)))

    def step(self, source: Ids, target: Ids, features: Features, labels: Ids) -> float:
        """Train on one mini-batch; returns its loss before the update.

        Parameters
        ----------
        source, target : array of shape (edges,)
            Local ids; ``target`` ascending, as neighbor samplers give it.
        features : array of shape (nodes, inputs)
        labels : array of shape (seeds,)
            Classes of the first nodes.
        """
        adjacency = mean_adjacency(source, target, features.shape[0])
        kept: list[_Kept] = []
        flowing = features
        for number, layer in enumerate(self.layers):
            averaged = adjacency @ flowing
            outputs = flowing @ layer.own
            outputs += averaged @ layer.neighbor
            outputs += layer.bias
            if number < len(self.layers) - 1:
                np.maximum(outputs, 0, out=outputs)
            kept.append(_Kept(flowing, averaged, outputs))
            flowing = outputs
        loss, gradient = _cross_entropy(flowing, labels)
        self._backward(adjacency, kept, gradient)
        return loss

    def _backward(self, adjacency: sparse.csr_array, kept: Sequence[_Kept], gradient: Features) -> None:
        reversed_edges = adjacency.T
        for number in range(len(self.layers) - 1, -1, -1):
            layer, seen = self.layers[number], kept[number]
            if number < len(self.layers) - 1:
                gradient *= seen.outputs > 0
            own, neighbor = seen.inputs.T @ gradient, seen.averaged.T @ gradient
            bias = gradient.sum(axis=0)
            if number > 0:  # the features themselves are not trained
                through = gradient @ layer.own.T
                through += reversed_edges @ (gradient @ layer.neighbor.T)
                gradient = through
            layer.own -= self.rate * own
            layer.neighbor -= self.rate * neighbor
            layer.bias -= self.rate * bias


def mean_adjacency(source: Ids, target: Ids, nodes: int) -> sparse.csr_array:
    """Return the matrix that averages over the edges into each node; ``target`` must ascend.

    Examples
    --------
    >>> mean_adjacency(np.array([1, 2]), np.array([0, 0]), 3).toarray()[0].tolist()
    [0.0, 0.5, 0.5]
    """
    degree = np.bincount(target, minlength=nodes)
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(degree, out=indptr[1:])
    weight = np.repeat((1.0 / np.maximum(degree, 1)).astype(np.float32), degree)
    return sparse.csr_array((weight, source, indptr), shape=(nodes, nodes))


def _cross_entropy(outputs: Features, labels: Ids) -> tuple[float, Features]:
    """Return the mean loss of the seeds, and its gradient for all nodes."""
    seeds = labels.size
    scores = outputs[:seeds] - outputs[:seeds].max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    rows = np.arange(seeds)
    loss = float(-np.log(np.maximum(scores[rows, labels], 1e-30)).mean())
    scores[rows, labels] -= 1.0
    gradient = np.zeros_like(outputs)
    gradient[:seeds] = scores / np.float32(seeds)
    return loss, gradient
