"""Quantities of dynamic training: snapshots on storage devices, their pages, graph layers, and a recurrent chain."""

from __future__ import annotations

from typing import Final

from perfmodel.symbols._quantity import Quantity

QUANTITIES: Final = (
    # the dynamic graph and its model
    Quantity("snapshot_nodes", "", "nodes of one snapshot", "workload.nodes"),
    Quantity("snapshot_edges", "", "edges of one snapshot", "workload.edges"),
    Quantity("degree_bias", "", "neighbors of a node that is reached, over the mean", "workload.degree_bias"),
    Quantity("feature_dimension", "", "elements of a node's row", "workload.feature_dimension"),
    Quantity("id_bytes", "B", "bytes of one node identifier", "workload.id_bytes"),
    Quantity("shared_share", "", "share of a snapshot's rows that all snapshots have", "workload.temporal.shared"),
    Quantity("skew", "", "exponent of Zipf's law by which rows are asked for", "workload.temporal.skew"),
    Quantity("changed_share", "", "share of a snapshot's nodes that differ from the last", "workload.temporal.changed"),
    Quantity("requests_per_row", "", "rows that a visit draws, for each there is", "workload.temporal.requests"),
    # caches of a window's rows
    Quantity("cache_capacity", "", "nodes whose rows a cache holds"),
    Quantity("remembered_draws", "", "draws that a cache remembers"),
    Quantity("admitted_draws", "", "draws of a snapshot that a full pool has admitted"),
    Quantity("remembered_visits", "", "visits that a cache remembers"),
    Quantity("hit_share", "", "share of all accesses that a cache has"),
    Quantity("hidden_width", "", "elements of a node's state", "workload.model.hidden"),
    Quantity("cell_layers", "", "layers of recurrent cells on top of one another", "workload.model.cells"),
    Quantity("messages_per_target", "", "messages that the state of one target travels as", "workload.model.messages"),
    # the plan
    Quantity("frame_length", "", "snapshots of a frame", "plan.frame_length"),
    Quantity("batch_targets", "", "targets of a mini-batch", "plan.batch"),
    Quantity("frames_in_flight", "", "mini-batches whose graph work is spread over the devices", "plan.frames"),
    Quantity(
        "cut_share", "", "share of the drawn neighbors outside a chunk, where nodes are spread at random", "plan.cut"
    ),
    Quantity("pool_size", "B", "the most host memory that may be pinned", "plan.pool.size"),
    Quantity("row_width", "B", "bytes of one element of a row", "plan.row_width"),
    Quantity("by_frame", "", "1 where devices share out whole frames, 0 otherwise", "plan.by_frame"),
    Quantity("by_chunk", "", "1 where devices share out the nodes of every snapshot, 0 otherwise", "plan.by_chunk"),
    Quantity(
        "is_double_buffered", "", "1 where rows are fetched while others are worked on", "plan.is_double_buffered"
    ),
    Quantity("is_resident", "", "1 where states of one device's own snapshots stay there", "system.is_resident"),
    # one hop of the sampled neighborhood, one layer of the graph network
    Quantity("hop_width", "", "nodes of one hop for each target", "{item}.width"),
    Quantity("hop_depth", "", "steps from the targets to a hop", "{item}.depth"),
    Quantity("hop_fanout", "", "neighbors drawn for each node of a hop", "{item}.fanout"),
    Quantity("is_target_hop", "", "1 for the hop of the targets themselves, 0 otherwise", "{item}.is_target"),
    Quantity("is_first_layer", "", "1 for the layer that takes in the rows, 0 otherwise", "{item}.is_first"),
    # flash
    Quantity("channels", "", "channels of the device", "system.storage.flash.channels"),
    Quantity("packages", "", "packages of a channel", "system.storage.flash.packages"),
    Quantity("dies", "", "dies of a package", "system.storage.flash.dies"),
    Quantity("planes", "", "planes of a die", "system.storage.flash.planes"),
    Quantity("page", "B", "bytes of a page", "system.storage.flash.page"),
    Quantity("array_read_time", "s", "from a plane's array to its register", "system.storage.flash.array_read"),
    Quantity("array_program_time", "s", "from a plane's register to its array", "system.storage.flash.array_program"),
    Quantity("channel_bandwidth", "B/s", "bandwidth of one channel's bus", "system.storage.flash.channel_bandwidth"),
    Quantity("command_time", "s", "that a command and its address hold the bus", "system.storage.flash.command_time"),
    Quantity("firmware_cores", "", "cores of the flash controller", "system.storage.flash.firmware_cores"),
    Quantity("firmware_time", "s", "what one core takes for a command", "system.storage.flash.firmware_time"),
    Quantity("queue_depth", "", "flash commands in flight", "system.storage.flash.queue_depth"),
    Quantity(
        "planes_read_alone", "", "1 where each plane reads by itself, 0 where a die does", "flash.planes_read_alone"
    ),
    Quantity("holds_next_page", "", "1 where a register holds a page while the next is read", "flash.holds_next_page"),
    Quantity("sends_rows", "", "1 where only the row crosses the bus, 0 where its page does", "flash.sends_rows"),
    Quantity("hop_nodes", "", "nodes of a snapshot's sampled neighborhood"),
    Quantity("page_reads", "", "pages that a snapshot's mini-batch asks for"),
    Quantity("local_miss_share", "", "share of the pages that the device's own memory lacks"),
    Quantity("pool_miss_share", "", "share of the rows that the host's pool lacks"),
    Quantity("pools_lists", "", "1 where the pool keeps lists of neighbors too, 0 for rows alone", "plan.pools_lists"),
    Quantity("flash_reads", "", "pages that a snapshot's mini-batch reads from flash"),
    Quantity("pooled_rows", "", "rows of a snapshot's mini-batch that come from the host's pool"),
    Quantity("bus_time", "s", "that one read holds its channel's bus"),
    Quantity("flash_latency", "s", "of one read alone"),
    Quantity("flash_throughput", "1/s", "reads of the device with endless ones in flight"),
    Quantity("flash_sharpness", "", "exponent of the closed-loop law"),
    Quantity("flash_pace", "s", "from one read's end to the next with the queue full"),
    Quantity("ramp_time", "s", "that flash waits for the first hops"),
    Quantity("flash_time", "s", "reading one snapshot's pages"),
    Quantity("device_turns", "", "snapshots that a device works on for each frame"),
    # arrays and memory
    Quantity("array_rows", "", "rows of the systolic array", "system.{where}.array.rows"),
    Quantity("array_columns", "", "columns of the systolic array", "system.{where}.array.columns"),
    Quantity("array_frequency", "Hz", "clock of the systolic array", "system.{where}.array.frequency"),
    Quantity("vector_width", "", "elements that the vector unit adds in a cycle", "system.{where}.array.vector_width"),
    Quantity("scratchpad", "B", "memory beside the systolic array", "system.{where}.array.scratchpad"),
    Quantity("summed_nodes", "", "nodes of a snapshot's mini-batch that sum up neighbors"),
    Quantity("graph_time_per_node", "s", "sampling and bookkeeping of one node", "system.{where}.graph.time_per_node"),
    Quantity("time_per_snapshot", "s", "loss, update and dispatch", "system.{where}.graph.time_per_snapshot"),
    Quantity("product_time", "s", "dense products of a snapshot's layers, forward and backward"),
    Quantity("sum_time", "s", "sums over neighbors, forward and backward"),
    Quantity("graph_traffic", "B", "bytes between the array and its memory"),
    Quantity("graph_work_time", "s", "graph work of a frame on the busiest device, beside its reads"),
    # host, links, exchange
    Quantity("uplink_bandwidth", "B/s", "payload bandwidth from the switch to the host", "system.uplink.bandwidth"),
    Quantity("uplink_latency", "s", "one way from the switch to the host", "system.uplink.latency"),
    Quantity("pass_time", "s", "one message or block through the host's software", "system.host.stack.time_per_pass"),
    Quantity("passes", "", "messages that go through the host's software at a time", "system.host.stack.passes"),
    Quantity("block_reads_at_once", "", "blocks that go through it at a time", "system.host.stack.reads"),
    Quantity("doorbell_time", "s", "the host's part in one exchange between peers", "system.host.stack.doorbell_time"),
    Quantity("peer_message_time", "s", "sending one message to a peer", "system.storage.peer.time_per_message"),
    Quantity("pool_share", "", "share of a window's rows that the pool is provisioned for", "system.host.pool.share"),
    Quantity("pool_request_time", "s", "a device's part in asking for one row", "system.host.pool.time_per_request"),
    Quantity("pool_requests", "", "rows that a device asks for at a time", "system.host.pool.requests"),
    Quantity("pipeline_stages", "", "stages that a frame's snapshots pass through in step", "system.stages"),
    Quantity("device_memory", "B", "memory of a storage device", "system.storage.memory"),
    Quantity("exchange_time", "s", "until a state has reached the next snapshot's device"),
    Quantity("forward_cell_time", "s", "one snapshot's recurrent cells of one layer"),
    Quantity("backward_cell_time", "s", "gradients of one snapshot's recurrent cells of one layer"),
    Quantity("chain_time", "s", "the frame's recurrent chain, forward and backward"),
    # energy
    Quantity("reading_power", "W", "of a plane that reads its array", "system.storage.flash.power.reading"),
    Quantity("idle_power", "W", "of a channel that waits", "system.storage.flash.power.bus_idle"),
    Quantity("sampler_power", "W", "of a die's sampling logic", "system.storage.flash.power.sampler"),
    Quantity("device_power", "W", "of a device that is on", "system.{where}.power"),
    Quantity("link_energy", "J/B", "of a byte over a device's link", "system.link.energy_per_byte"),
    Quantity("host_memory_energy", "J/B", "of a byte in or out of the host's memory", "system.host.memory_energy"),
    Quantity("device_memory_energy", "J/B", "of a byte in or out of a device's memory", "system.{where}.memory_energy"),
    Quantity("serial_share_of_one", "", "share of one device's time that more devices do not shorten"),
    Quantity("least_gain", "", "what another device must gain to be worth it"),
    Quantity("total_time", "s", "of the unit that the estimate is of"),
)
