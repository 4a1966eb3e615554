"""Quantities of message routing: fire-and-forget messages, sorted by next hop, aggregated, sent and delivered."""

from __future__ import annotations

from typing import Final

from perfmodel.symbols._quantity import Quantity

QUANTITIES: Final = (
    # what an application process sends in one run
    Quantity("messages", "message", "messages that a process sends in a run", "workload.messages"),
    Quantity("message_size", "B/message", "bytes of one message with its header", "workload.message_size"),
    Quantity("memory_ratio", "", "memory traffic of the application over its communication", "workload.memory_ratio"),
    Quantity("run_length", "message", "messages in a row that go to one node", "workload.run_length"),
    Quantity("locality", "", "how many times likelier than any other its own node is as a target", "workload.locality"),
    # the plan
    Quantity("cluster_nodes", "", "nodes that exchange messages", "plan.nodes"),
    Quantity("processes", "", "application processes on each node", "plan.processes"),
    Quantity("hops", "", "network hops of a message", "plan.hops"),
    Quantity("routing_threads", "", "threads that route a node's messages", "plan.threads"),
    Quantity("open_buffers", "", "aggregation buffers open at once for each process", "plan.buffers"),
    Quantity("buffer_size", "B", "bytes of one buffer of messages", "plan.buffer_size"),
    Quantity("ring_buffers", "", "buffers of a process that may be handed over and not given back", "plan.window"),
    Quantity("outstanding", "", "transfers of a process that may be on the network", "plan.outstanding"),
    # the application's core
    Quantity("work_bandwidth", "B/s", "memory traffic of one process's own work", "system.host.routing.work_bandwidth"),
    Quantity(
        "time_per_slice",
        "s",
        "what each buffer's share of its work takes besides",
        "system.host.routing.time_per_slice",
    ),
    Quantity("host_memory_bandwidth", "B/s", "DRAM bandwidth of the host", "system.host.memory_bandwidth"),
    Quantity("emission_time_per_buffer", "s", "starting a buffer of messages", "system.host.routing.time_per_emission"),
    Quantity(
        "emission_time_per_message",
        "s/message",
        "writing one message into a buffer",
        "system.host.routing.time_per_emitted_message",
    ),
    Quantity(
        "emission_time_per_byte",
        "s/B",
        "writing one byte of a message into a buffer",
        "system.host.routing.time_per_emitted_byte",
    ),
    Quantity("memory_work_time", "s", "memory work of a process in a run"),
    Quantity("emission_time", "s", "writing a run's messages into buffers"),
    # handing buffers over
    Quantity(
        "handover_time_per_buffer",
        "s",
        "handing one buffer to the agent, on the application's core",
        "system.host_link.handover.time_per_buffer",
    ),
    Quantity(
        "handover_acknowledgement",
        "s",
        "taking one buffer and giving it back, at the agent",
        "system.host_link.handover.time_per_acknowledgement",
    ),
    Quantity(
        "written_byte_time",
        "s/B",
        "writing one byte where the agent reads, beyond a buffer of one's own",
        "system.host_link.handover.time_per_written_byte",
    ),
    Quantity(
        "read_byte_time",
        "s/B",
        "reading one byte that the application wrote, beyond a buffer of one's own",
        "system.host_link.handover.time_per_read_byte",
    ),
    Quantity("host_link_bandwidth", "B/s", "bandwidth between host and agent", "system.host_link.bandwidth"),
    Quantity("host_link_latency", "s", "latency between host and agent, one way", "system.host_link.latency"),
    Quantity("handing_over_time", "s", "handing a run's buffers to the agent"),
    # routing
    Quantity("routing_time_per_buffer", "s", "taking up one buffer to sort", "system.{where}.routing.time_per_buffer"),
    Quantity(
        "routing_time_per_partner",
        "s",
        "looking at one next hop for each buffer that is sorted",
        "system.{where}.routing.time_per_partner",
    ),
    Quantity(
        "routing_time_per_message",
        "s/message",
        "sorting one message by next hop",
        "system.{where}.routing.time_per_routed_message",
    ),
    Quantity(
        "routing_time_per_byte",
        "s/B",
        "copying one byte into an aggregation buffer",
        "system.{where}.routing.time_per_routed_byte",
    ),
    Quantity(
        "time_per_transfer",
        "s",
        "sending one aggregation buffer off and taking one in",
        "system.{where}.routing.time_per_transfer",
    ),
    Quantity(
        "delivery_time_per_message",
        "s/message",
        "delivering one message that arrived",
        "system.{where}.routing.time_per_delivered_message",
    ),
    Quantity(
        "delivery_time_per_byte",
        "s/B",
        "delivering one byte that arrived",
        "system.{where}.routing.time_per_delivered_byte",
    ),
    Quantity(
        "routing_restart_time",
        "s",
        "routing one buffer with tables that were displaced from the caches",
        "system.{where}.routing.restart_time",
    ),
    Quantity(
        "routing_displaced_byte_time",
        "s/B",
        "writing and routing one byte whose buffers were displaced from the caches",
        "system.{where}.routing.time_per_displaced_byte",
    ),
    Quantity(
        "displacement",
        "B",
        "memory traffic after which most of the routing tables are displaced",
        "system.{where}.routing.displacement",
    ),
    Quantity(
        "routing_serial_share",
        "",
        "share of routing that threads do one after the other",
        "system.{where}.routing.serial_share",
    ),
    Quantity(
        "routing_contention",
        "",
        "what each pair of routing threads costs both",
        "system.{where}.routing.contention",
    ),
    Quantity("direct_cache", "B", "cache that arriving data may be written into", "system.{where}.direct_cache"),
    Quantity("transfers", "", "aggregation buffers that a process's messages of a run are sent off in"),
    Quantity("sent_bytes", "B", "bytes that a node's link carries in a run"),
    Quantity("routing_work", "s", "routing a process's messages of a run, on one thread"),
    Quantity("offloaded_routing_time", "s", "routing all processes' messages of a run on the agent's threads"),
    Quantity("agent_loads", "B", "bytes that the agent loads from its DRAM in a run"),
)
