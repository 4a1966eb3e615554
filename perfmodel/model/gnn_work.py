"""Work of one forward and backward pass of a graph neural network: operations, memory traffic, kernels.

Layer ``l`` maps ``inputs`` to ``outputs`` features over ``nodes`` rows and ``edges`` messages. A forward pass does one
dense product of 2 * nodes * inputs * outputs operations for the aggregated neighbors and one for the node itself
(SAGE), and one addition per edge and feature; the backward pass does each product twice (gradient of the input and of
the weights). Traffic: a materialized message is gathered (read, write) and scattered (read, and read and write of the
sum), a fused one is read once; backward does the same again.
"""

from __future__ import annotations

import dataclasses

from perfmodel.graph.from_spec import BatchQuantities
from perfmodel.spec.families.sampled_training import Workload

_WIDTH = 4.0  # bytes of an fp32 activation
_PRODUCTS = {"sage": 2.0, "gcn": 1.0, "gat": 1.0, "gin": 2.0}
_KERNELS_PER_LAYER = 12.0  # products, gather, scatter, bias, activation and their gradients
_KERNELS_PER_BATCH = 20.0  # loss, its gradient, optimizer


@dataclasses.dataclass(frozen=True)
class Layer:
    """One layer: rows it works on, messages it passes, width in and out."""

    nodes: float
    edges: float
    inputs: float
    outputs: float


@dataclasses.dataclass(frozen=True)
class OnCore:
    """Work of a step kernel by kernel: products [flop], elements passed along edges, taken in and given out; layers."""

    product_flop: float
    passed_elements: float
    read_elements: float
    written_elements: float
    layers: float


@dataclasses.dataclass(frozen=True)
class Work:
    """Operations [flop], memory traffic [B] and kernels of one mini-batch, and the memory it holds [B]."""

    flop: float
    traffic: float
    kernels: float
    on_core: OnCore
    saved: float
    messages: float
    adjacency: float
    parameters: float

    def values(self) -> dict[str, float]:
        """Return the numbers by the keys that formulas use."""
        return {
            "training.flop": self.flop,
            "training.bytes": self.traffic,
            "training.kernels": self.kernels,
            "training.product_flop": self.on_core.product_flop,
            "training.passed_elements": self.on_core.passed_elements,
            "training.read_elements": self.on_core.read_elements,
            "training.written_elements": self.on_core.written_elements,
            "training.layers": self.on_core.layers,
            "training.activation_width": _WIDTH,
            "training.saved_bytes": self.saved,
            "training.message_bytes": self.messages,
            "training.adjacency_bytes": self.adjacency,
            "training.parameter_bytes": self.parameters,
        }


def layers(workload: Workload, batch: BatchQuantities) -> list[Layer]:
    """Return the model's layers on a mini-batch, first layer first."""
    hops = batch.minibatch.hops
    depth = len(hops) - 1
    model = workload.model
    result = []
    for number in range(depth):
        kept = hops[: depth - number + 1] if model.trimmed else hops
        nodes = sum(sum(hop.nodes.values()) for hop in kept)
        edges = sum(sum(hop.edges.values()) for hop in kept)
        inputs = batch.elements / max(batch.nodes, 1.0) if number == 0 else model.hidden
        outputs = model.classes if number == depth - 1 else model.hidden
        result.append(Layer(nodes, edges, inputs, outputs))
    return result


def work(workload: Workload, batch: BatchQuantities) -> Work:
    """Return the work of one forward and backward pass.

    Examples
    --------
    >>> import perfmodel
    >>> scenario = perfmodel.load_scenario("reddit", "lgnnic-doca-dma")
    >>> from perfmodel.graph.from_spec import sampled_batch
    >>> 1e10 < work(scenario.workload, sampled_batch(scenario.workload)).flop < 1e12
    True
    """
    products = _PRODUCTS[workload.model.kind]
    passes_of_message = {"materialized": 5.0, "fused": 1.0, "dense": 1.0}[workload.model.aggregation]
    flop = traffic = 0.0
    for layer in layers(workload, batch):
        dense = 2.0 * layer.nodes * layer.inputs * layer.outputs * products
        messages = layer.edges * layer.inputs
        if workload.model.aggregation == "dense":
            messages = layer.nodes**2 * layer.inputs
        flop += 3.0 * dense + 2.0 * messages
        rows = layer.nodes * (layer.inputs + 2.0 * layer.outputs)
        traffic += _WIDTH * (2.0 * passes_of_message * messages + 3.0 * rows)
    kernels = _KERNELS_PER_LAYER * len(layers(workload, batch)) * len(workload.graph.relations) + _KERNELS_PER_BATCH
    on_core = work_on_core(layers(workload, batch), products)
    return Work(flop, traffic, kernels, on_core, *_memory(workload, layers(workload, batch)))


def work_on_core(stack: list[Layer], products: float) -> OnCore:
    """Return the work of one step on a core: the first layer's input has no gradient.

    Examples
    --------
    >>> work_on_core([Layer(10.0, 20.0, 4.0, 2.0)], 1.0)
    OnCore(product_flop=320.0, passed_elements=80.0, read_elements=40.0, written_elements=20.0, layers=1.0)
    """
    flop = passed = 0.0
    for number, layer in enumerate(stack):
        passes = 1.0 if number == 0 else 2.0
        flop += (1.0 + passes) * 2.0 * layer.nodes * layer.inputs * layer.outputs * products
        passed += passes * layer.edges * layer.inputs
    read = sum(layer.nodes * layer.inputs for layer in stack)
    written = sum(layer.nodes * layer.outputs for layer in stack)
    return OnCore(flop, passed, read, written, float(len(stack)))


def _memory(workload: Workload, stack: list[Layer]) -> tuple[float, float, float, float]:
    """Return activations kept, messages at the peak, adjacency and weights [B].

    A layer keeps its aggregated input, and a hidden one the activation before and after dropout with a mask of a byte;
    the last keeps its output and the loss's input. At the peak of the backward pass three gradients of the widest layer
    are alive, or one layer's messages, with their gradient where the layer's input has one.
    """
    last = len(stack) - 1
    saved = sum(
        layer.nodes * (_WIDTH * layer.inputs + (2 * _WIDTH if number == last else 2 * _WIDTH + 1) * layer.outputs)
        for number, layer in enumerate(stack)
    )
    gradients = max(3.0 * _WIDTH * layer.nodes * layer.outputs for layer in stack)
    messages = adjacency = 0.0
    if workload.model.aggregation == "materialized":
        messages = max(
            _WIDTH * layer.edges * layer.inputs * (1.0 if number == 0 else 2.0) for number, layer in enumerate(stack)
        )
    elif workload.model.aggregation == "fused":
        # kept: rows, columns, permutation and three arrays of offsets and counts; while a mean's gradient is propagated,
        # permuted rows and a weight for each edge (pytorch_sparse, csrc/spmm.cpp)
        adjacency = max(3.0 * 8.0 * (layer.edges + layer.nodes) + (8.0 + _WIDTH) * layer.edges for layer in stack)
    else:
        adjacency = max(layer.nodes for layer in stack) ** 2 * _WIDTH
    products = _PRODUCTS[workload.model.kind]
    weights = sum(products * layer.inputs * layer.outputs for layer in stack) * len(workload.graph.relations)
    return saved, max(messages, gradients), adjacency, 4.0 * _WIDTH * weights
