"""The nomenclature: every quantity once, with its unit, its meaning and the spec key it comes from.

A phase is written over these names. ``key`` says where the number is found in a scenario; ``{where}`` stands for the
role of the device that runs the phase (``memory_node``, ``compute_node``, ``gpu``), ``{batch}`` for the mini-batch that it
works on (``batch``, ``neighborhood``, ``frontier``), ``{item}`` for the tensor, node type or relation at hand,
``{kind}`` for a tensor's kind and ``{precision}`` for the precision that features are sent in, where the device has
numbers for it; else the key without it holds. A quantity without a key is the result of another phase.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


@dataclasses.dataclass(frozen=True)
class Quantity:
    """One quantity of the nomenclature.

    Attributes
    ----------
    name : str
        Its one name in formulas, docs and results.
    unit : str
        SI unit, in the unit table's words; empty for a pure number.
    meaning : str
        What it is, in one line.
    key : str
        Dotted key of the scenario that holds it; empty for the result of a phase.
    """

    name: str
    unit: str
    meaning: str
    key: str = ""


_ALL: Final = (
    # the mini-batch (graph layer)
    Quantity("expanded_nodes", "node", "nodes whose neighbors were drawn", "{batch}.expanded"),
    Quantity("gathered_bytes", "B", "feature rows gathered, at the stored precision", "{batch}.gathered_bytes"),
    Quantity("gathered_elements", "", "feature elements of the mini-batch", "{batch}.elements"),
    Quantity("gathered_rows", "", "feature rows of the mini-batch, as entries of arrays", "{batch}.rows"),
    Quantity("relation_hops", "", "relations times hops, each a call of the sampler", "{batch}.relation_hops"),
    Quantity("choosing_hops", "", "those of the calls that choose among neighbors", "{batch}.choosing_hops"),
    # one node type, one relation
    Quantity("sampled_nodes", "node", "distinct nodes of one type in the mini-batch", "{item}.nodes"),
    Quantity("all_nodes", "node", "nodes of one type in the graph", "{item}.all_nodes"),
    Quantity("sampled_edges", "edge", "edges of one relation in the mini-batch", "{item}.edges"),
    Quantity("chosen_edges", "edge", "those of them that were chosen from lists above the fanout", "{item}.chosen"),
    # one table that rows are gathered from
    Quantity("table_rows", "node", "rows gathered from one table", "{item}.rows"),
    Quantity("table_row_bytes", "B", "bytes gathered from one table", "{item}.gathered"),
    Quantity("table_bytes", "B", "bytes of the whole table", "{item}.table"),
    # tensors
    Quantity("tensor_elements", "", "elements of one tensor", "{item}.elements"),
    Quantity("tensor_rows", "", "rows of one tensor that carry a scale", "{item}.rows"),
    Quantity("element_width", "B", "bytes of one element as sent", "{item}.width"),
    Quantity("scale_bytes", "B", "bytes of the scale that quantization keeps for each row", "{item}.scale_bytes"),
    Quantity(
        "conversion_time",
        "s/B",
        "turning a tensor's memory into bytes, by kind of tensor",
        "system.link.conversion.{kind}",
    ),
    Quantity("tensor_bytes", "B", "bytes of one tensor as sent"),
    Quantity("batch_bytes", "B", "bytes of all tensors as sent"),
    Quantity("decoded_bytes", "B", "bytes of all tensors once dequantized"),
    # sampling
    Quantity(
        "time_per_batch", "s", "fixed cost of a mini-batch in the loader", "system.{where}.sampling.time_per_batch"
    ),
    Quantity("time_per_call", "s", "fixed cost of one relation in one hop", "system.{where}.sampling.time_per_call"),
    Quantity(
        "time_per_expanded_node",
        "s/node",
        "looking up and drawing from one neighbor list",
        "system.{where}.sampling.time_per_expanded_node",
    ),
    Quantity(
        "time_per_edge", "s/edge", "drawing one edge and renaming its ends", "system.{where}.sampling.time_per_edge"
    ),
    Quantity(
        "time_per_fresh_edge",
        "s/edge",
        "growing the edge arrays by one edge into freshly mapped pages",
        "system.{where}.sampling.time_per_fresh_edge",
    ),
    Quantity("time_per_node", "s/node", "adding one node to the mini-batch", "system.{where}.sampling.time_per_node"),
    Quantity(
        "time_per_miss",
        "s/node",
        "reaching the renaming table's entry of one node in memory",
        "system.{where}.sampling.time_per_miss",
    ),
    Quantity(
        "time_per_choosing_call",
        "s",
        "fixed cost of one relation in one hop that chooses among neighbors",
        "system.{where}.sampling.time_per_choosing_call",
    ),
    Quantity(
        "time_per_choice",
        "s/edge",
        "choosing one neighbor at random from a list above the fanout",
        "system.{where}.sampling.time_per_choice",
    ),
    Quantity(
        "time_per_indexed_edge",
        "s",
        "entering one edge that arrived into neighbor lists",
        "system.{where}.sampling.time_per_indexed_edge",
    ),
    Quantity("array_entry", "B/node", "renaming table kept as an array", "system.{where}.sampling.array_entry"),
    Quantity("array_nodes", "node", "types below this use an array", "system.{where}.sampling.array_nodes"),
    Quantity("hash_slot", "B/node", "renaming table kept as a hash map", "system.{where}.sampling.hash_slot"),
    Quantity("edge_entry", "B/edge", "one entry of an edge array", "system.{where}.sampling.edge_entry"),
    Quantity("cache", "B", "last cache level of the device", "system.{where}.cache"),
    Quantity(
        "displacement_time",
        "s",
        "time in which others displace most of what a phase left in the caches",
        "system.{where}.displacement_time",
    ),
    Quantity(
        "receiver_displacement_time",
        "s",
        "displacement time of the receiver's caches",
        "system.compute_node.displacement_time",
    ),
    Quantity("batch_time", "s", "from one mini-batch to the next", "batch.time"),
    Quantity(
        "sampling_restart_time",
        "s",
        "bringing the sampler back into a cache that was displaced",
        "system.{where}.sampling.restart_time",
    ),
    Quantity("heap_limit", "B", "size up to which an allocation reuses heap pages", "system.{where}.heap_limit"),
    Quantity("renaming_time", "s", "entering the mini-batch's nodes into the renaming tables"),
    Quantity("drawing_time", "s", "drawing the mini-batch's edges"),
    Quantity("gather_time", "s", "gathering the mini-batch's rows"),
    Quantity("gather_bandwidth", "B/s", "copying scattered feature rows", "system.{where}.sampling.gather_bandwidth"),
    Quantity("time_per_row", "s/node", "finding one row that is gathered", "system.{where}.sampling.time_per_row"),
    Quantity(
        "time_per_missed_row",
        "s/node",
        "reaching one row beyond the cache, on top",
        "system.{where}.sampling.time_per_missed_row",
    ),
    Quantity(
        "time_per_missed_byte",
        "s/B",
        "reading one byte of a row beyond the cache, on top",
        "system.{where}.sampling.time_per_missed_byte",
    ),
    Quantity("workers", "", "worker processes of the loader", "plan.workers"),
    Quantity("cores", "", "cores of the device", "system.{where}.cores"),
    Quantity("serial_share", "", "share of sampling that workers wait for", "system.{where}.sampling.serial_share"),
    Quantity("contention", "", "slow-down per pair of workers", "system.{where}.sampling.contention"),
    Quantity(
        "handover_time",
        "s",
        "passing one mini-batch from a worker on",
        "system.{where}.sampling.time_per_handover",
    ),
    Quantity("memory_bandwidth", "B/s", "memory bandwidth of the device", "system.{where}.memory_bandwidth"),
    Quantity("devices", "", "memory nodes that share the graph", "plan.devices"),
    # quantization
    Quantity(
        "quantize_time",
        "s",
        "rounding one element to the precision that is sent",
        "system.{where}.quantization.{precision}.time_per_element",
    ),
    Quantity(
        "quantize_row_time",
        "s",
        "finding the scale of one row",
        "system.{where}.quantization.{precision}.time_per_row",
    ),
    Quantity(
        "dequantize_time",
        "s",
        "widening one element back",
        "system.{where}.quantization.{precision}.time_per_element_back",
    ),
    Quantity(
        "dequantize_row_time",
        "s",
        "applying the scale of one row",
        "system.{where}.quantization.{precision}.time_per_row_back",
    ),
    Quantity(
        "quantize_call_time",
        "s",
        "rounding one mini-batch, whatever it holds",
        "system.{where}.quantization.time_per_call",
    ),
    Quantity(
        "dequantize_call_time",
        "s",
        "widening one mini-batch, whatever it holds",
        "system.{where}.quantization.time_per_call_back",
    ),
    Quantity(
        "quantize_restart_time",
        "s",
        "bringing the rounding back into a cache that was displaced",
        "system.{where}.quantization.restart_time",
    ),
    Quantity(
        "dequantize_restart_time",
        "s",
        "bringing the widening back into a cache that was displaced",
        "system.{where}.quantization.restart_time_back",
    ),
    Quantity(
        "quantize_displaced_byte_time",
        "s/B",
        "rounding one byte of features where the caches were displaced, on top",
        "system.{where}.quantization.time_per_displaced_byte",
    ),
    Quantity(
        "dequantize_displaced_byte_time",
        "s/B",
        "widening to one byte of features where the caches were displaced, on top",
        "system.{where}.quantization.time_per_displaced_byte_back",
    ),
    Quantity("is_quantized", "", "1 where features are sent in another precision than stored", "plan.is_quantized"),
    # transfer
    Quantity("chunk", "B", "payload of one chunk", "plan.transfer.chunk"),
    Quantity("window", "", "chunks in flight before an acknowledgement is awaited", "plan.transfer.window"),
    Quantity("link_bandwidth", "B/s", "payload bandwidth of the link", "system.link.bandwidth"),
    Quantity("link_latency", "s", "one way through the link", "system.link.latency"),
    Quantity("header_bytes", "B", "header in front of each chunk", "system.link.header"),
    Quantity("chunk_time", "s", "software cost of sending one chunk", "system.link.time_per_chunk"),
    Quantity("acknowledgement_time", "s", "waiting for one acknowledgement", "system.link.time_per_acknowledgement"),
    Quantity("packet_time", "s", "fixed cost of a tensor", "system.link.time_per_packet"),
    Quantity("transfer_time", "s", "sending the mini-batch's tensors"),
    Quantity(
        "link_restart_time",
        "s",
        "bringing both ends of the link back into caches that were displaced",
        "system.link.restart_time",
    ),
    Quantity(
        "link_displaced_byte_time",
        "s/B",
        "putting away one byte where the caches were displaced, on top",
        "system.link.time_per_displaced_byte",
    ),
    Quantity("sender_copy_bandwidth", "B/s", "copying into the send buffer", "system.memory_node.copy_bandwidth"),
    Quantity(
        "receiver_copy_bandwidth", "B/s", "copying out of the receive buffer", "system.compute_node.copy_bandwidth"
    ),
    Quantity("aggregation_time", "s", "gathering a tensor's chunks in the receiver's memory"),
    Quantity(
        "receiver_heap_limit",
        "B",
        "buffer size up to which the receiver reuses heap pages",
        "system.compute_node.heap_limit",
    ),
    Quantity("fault_time", "s/B", "first touch of a freshly mapped buffer", "system.link.fault_time"),
    Quantity("heap_bandwidth", "B/s", "regrowing within the heap", "system.link.regrowth.heap_bandwidth"),
    Quantity("fresh_bandwidth", "B/s", "regrowing into freshly mapped pages", "system.link.regrowth.fresh_bandwidth"),
    # memory
    Quantity("graph_feature_bytes", "B", "all feature rows, as stored", "graph.feature_bytes"),
    Quantity("graph_label_bytes", "B", "all labels", "graph.label_bytes"),
    Quantity("graph_edges", "", "directed edges of all relations", "graph.edges"),
    Quantity("graph_targets", "", "neighbor lists of all relations", "graph.targets"),
    Quantity("batch_edges", "", "edges of the mini-batch, as entries of arrays", "{batch}.edge_entries"),
    Quantity("batch_nodes", "", "nodes of the mini-batch, as entries of arrays", "{batch}.node_entries"),
    Quantity("index_width", "B", "bytes of a node id", "plan.index_width"),
    Quantity("offset_width", "B", "bytes of a position in an edge array", "plan.offset_width"),
    Quantity("drawn_bytes", "B", "tensors of the mini-batch at the stored precision", "{batch}.stored_bytes"),
    Quantity(
        "replicated_share", "", "share of the sampler's graph that each worker copies", "plan.loader.replicated_share"
    ),
    Quantity("prefetched", "", "mini-batches that each worker holds ready", "plan.loader.prefetched"),
    Quantity("runtime_bytes", "B", "operating system, interpreter and libraries", "system.{where}.runtime_memory"),
    Quantity(
        "feature_copies",
        "",
        "copies of all features alive at the peak of preprocessing",
        "plan.preprocessing.feature_copies",
    ),
    Quantity("edge_copies", "", "edge lists alive at the peak of preprocessing", "plan.preprocessing.edge_copies"),
    Quantity("graph_memory", "B", "the graph as the sampler keeps it"),
    Quantity(
        "allocator_overhead",
        "",
        "what the allocator holds beside what tensors need, as a share of it",
        "system.{where}.allocator_overhead",
    ),
    Quantity("saved_bytes", "B", "activations kept for the backward pass", "training.saved_bytes"),
    Quantity("message_bytes", "B", "messages and gradients alive at the peak", "training.message_bytes"),
    Quantity("adjacency_bytes", "B", "adjacency as the layers use it", "training.adjacency_bytes"),
    Quantity("parameter_bytes", "B", "weights, gradients and optimizer state", "training.parameter_bytes"),
    Quantity("indexing_time", "s", "making neighbor lists of the edges that arrived"),
    Quantity(
        "time_per_indexed_node",
        "s",
        "making room for the neighbor list of one node",
        "system.{where}.sampling.time_per_indexed_node",
    ),
    Quantity(
        "indexing_restart_time",
        "s",
        "bringing indexing back into caches that were displaced",
        "system.{where}.sampling.indexing_restart_time",
    ),
    Quantity(
        "time_per_indexing",
        "s",
        "making neighbor lists, however many",
        "system.{where}.sampling.time_per_indexing",
    ),
    # training
    Quantity("gpu_link_bandwidth", "B/s", "host memory to GPU memory", "system.gpu_link.bandwidth"),
    Quantity("gpu_link_latency", "s", "starting one copy to the GPU", "system.gpu_link.latency"),
    Quantity("tensors", "", "tensors of a mini-batch", "batch.tensors"),
    Quantity("training_flop", "flop", "operations of one forward and backward pass", "training.flop"),
    Quantity("training_bytes", "B", "memory traffic of one forward and backward pass", "training.bytes"),
    Quantity("training_kernels", "", "kernels launched in a forward and backward pass", "training.kernels"),
    Quantity("peak_flops", "flop/s", "peak arithmetic rate", "system.{where}.peak_flops"),
    Quantity("compute_efficiency", "", "share of the peak rate reached", "system.{where}.compute_efficiency"),
    Quantity("memory_efficiency", "", "share of the memory bandwidth reached", "system.{where}.memory_efficiency"),
    Quantity("launch_time", "s", "launching one kernel", "system.{where}.launch_time"),
    Quantity("product_flop", "flop", "operations of a step's dense products", "training.product_flop"),
    Quantity("passed_elements", "", "message elements that a step passes along edges", "training.passed_elements"),
    Quantity("read_elements", "", "elements that a step's layers take in", "training.read_elements"),
    Quantity("written_elements", "", "elements that a step's layers give out", "training.written_elements"),
    Quantity(
        "time_per_passed_element",
        "s",
        "passing one message element forward or backward",
        "system.{where}.training.time_per_passed_element",
    ),
    Quantity(
        "time_per_read_element",
        "s",
        "taking in one element of a layer",
        "system.{where}.training.time_per_read_element",
    ),
    Quantity(
        "time_per_written_element",
        "s",
        "bias, activation and gradient of one element of a layer",
        "system.{where}.training.time_per_written_element",
    ),
    Quantity("training_layers", "", "layers of the model", "training.layers"),
    Quantity("activation_width", "B", "bytes of an activation", "training.activation_width"),
    Quantity("time_per_layer", "s", "fixed cost of a layer in a step", "system.{where}.training.time_per_layer"),
    Quantity(
        "training_missed_byte_time",
        "s/B",
        "reaching one byte of activations beyond the cache, on top",
        "system.{where}.training.time_per_missed_byte",
    ),
    Quantity("outer_cache", "B", "cache that activations find", "system.{where}.outer_cache"),
    Quantity(
        "training_restart_time",
        "s",
        "bringing one layer's training back into caches that were displaced",
        "system.{where}.training.restart_time",
    ),
)

NOMENCLATURE: Final[Mapping[str, Quantity]] = MappingProxyType({quantity.name: quantity for quantity in _ALL})


def phase_time(name: str) -> str:
    """Return the name of a phase's time as other formulas use it."""
    return f"{name}_time"
