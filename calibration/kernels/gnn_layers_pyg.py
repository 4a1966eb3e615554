"""PyG's SAGEConv and GCNConv, forward and backward."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from calibration.kernels._base import Block, Kernel, Point, Sample
from calibration.kernels._packages import load, missing, one_torch_thread, own_temporary_folder

_SIZES = ((2_000, 20_000, 64), (2_000, 20_000, 256), (20_000, 200_000, 64), (8_000, 16_000, 256))
_QUICK = (_SIZES[0], (2_000, 40_000, 128))
_WEIGHTS = {"sage": 2, "gcn": 1}  # SAGEConv has one matrix for the neighbors' mean and one for the node itself


class GnnLayersPyg(Kernel):
    """One layer in float32, as wide at its output as at its input, whose input needs a gradient as inner layers' do."""

    name = "gnn_layers_pyg"
    isolates = (
        "one layer forward and backward on one core: gathering and adding messages, matrix products, and GCNConv's degree "
        "normalization, which it computes anew for every mini-batch"
    )
    unit_of_work = "message, floating point operation"

    def unavailable(self) -> str:
        """Return which package is missing."""
        return missing("torch", "torch_geometric.nn")

    def points(self, quick: bool) -> Sequence[Point]:
        """Return layers, nodes, edges and widths."""
        return [
            {"layer": layer, "nodes": nodes, "edges": edges, "width": width}
            for layer in _WEIGHTS
            for nodes, edges, width in (_QUICK if quick else _SIZES)
        ]

    @contextlib.contextmanager
    def prepared(self, point: Point) -> Iterator[Block]:
        """Draw a graph and features; the block runs the layer forward and backward."""
        nodes, edges, width = (int(point[name]) for name in ("nodes", "edges", "width"))
        with one_torch_thread() as torch:
            (layers,) = load("torch_geometric.nn")
            with own_temporary_folder():
                layer = {"sage": layers.SAGEConv, "gcn": layers.GCNConv}[str(point["layer"])](width, width)
            features = torch.randn(nodes, width, requires_grad=True)
            adjacency = torch.randint(nodes, (2, edges))
            counts = _counts(point)

            def block() -> Sample:
                layer.zero_grad()
                features.grad = None
                began = time.perf_counter()
                layer(features, adjacency).sum().backward()
                return {"time": time.perf_counter() - began, **counts}

            yield block


def _counts(point: Point) -> dict[str, float]:
    """Return what a layer works on, forward and backward.

    Forward is one product per weight; backward are two, for the weight and for the input. Each message is read and added
    once on the way there and once on the way back.
    """
    nodes, edges, width = (float(point[name]) for name in ("nodes", "edges", "width"))
    messages = edges + (nodes if point["layer"] == "gcn" else 0.0)  # GCNConv adds a loop to every node
    return {
        "flop": 3.0 * 2.0 * nodes * width**2 * _WEIGHTS[str(point["layer"])],
        "message_bytes": 2.0 * messages * width * 4.0,
        "nodes": nodes,
        "edges": edges,
    }


KERNEL = GnnLayersPyg()
