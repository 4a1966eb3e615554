"""Quantities of snapshots on processes: what their cores spend on cells, graphs, pages and messages."""

from __future__ import annotations

from typing import Final

from perfmodel.symbols._quantity import Quantity

_RATES = "system.{where}.snapshots."
_CELL, _GRAPH = _RATES + "{cell}.{way}.", _RATES + "graph.{way}."

QUANTITIES: Final = (
    Quantity("process_cores", "", "cores that processes with snapshots take turns on", _RATES + "cores"),
    Quantity("cell_gates", "", "gates of a recurrent cell", "cells.gates"),
    Quantity("state_parts", "", "matrices that make the state of a cell", "cells.parts"),
    Quantity("cell_products", "", "dense products of a cell in one direction", "cells.{way}.products"),
    Quantity("is_relayed", "", "1 where the parent passes states on, 0 otherwise", "plan.is_relayed"),
    Quantity("file_page", "B", "bytes of a page of the file", "plan.processes.page"),
    Quantity("page_cache", "B", "memory that a process keeps pages in", "plan.processes.cache"),
    Quantity("piece", "B", "bytes of the weights that a message takes at most", "plan.processes.piece"),
    # rates of a core
    Quantity("cell_call_time", "s", "fixed cost of a layer's cells", _CELL + "time_per_call"),
    Quantity("cell_restart_time", "s", "what cells take longer in a process just woken", _CELL + "restart_time"),
    Quantity("cell_operation_time", "s", "one operation of a cell's products", _CELL + "time_per_operation"),
    Quantity("cell_element_time", "s", "one element of a state through its gates", _CELL + "time_per_element"),
    Quantity("graph_call_time", "s", "fixed cost of a graph layer", _GRAPH + "time_per_call"),
    Quantity("graph_operation_time", "s", "one operation of a graph layer's products", _GRAPH + "time_per_operation"),
    Quantity("graph_element_time", "s", "one element in or out of a graph layer", _GRAPH + "time_per_element"),
    Quantity("near_cache", "B", "cache of a core that neighbors' rows are found in", _RATES + "cache"),
    Quantity("missed_row_time", "s", "reaching one neighbor's row beyond it", _GRAPH + "time_per_missed_row"),
    Quantity("missed_element_time", "s", "one of its elements beyond it", _GRAPH + "time_per_missed_element"),
    Quantity("far_cache", "B", "cache of all cores that pages are found in", _RATES + "outer_cache"),
    Quantity("page_visit_time", "s", "fixed cost of a visit to a snapshot's pages", _RATES + "time_per_visit"),
    Quantity("page_restart_time", "s", "what the first visit of a process takes longer", _RATES + "restart_time"),
    Quantity("missed_byte_time", "s/B", "one byte of a page beyond it, longer by", _RATES + "time_per_missed_byte"),
    Quantity(
        "neighbor_element_time", "s", "averaging one element of a neighbor's row", _GRAPH + "time_per_passed_element"
    ),
    Quantity("held_page_time", "s", "finding one page that is held", _RATES + "held.time_per_page"),
    Quantity("held_byte_time", "s/B", "copying one byte of a page that is held", _RATES + "held.time_per_byte"),
    Quantity("kept_page_time", "s", "reading one page and keeping it", _RATES + "{kept}.time_per_page"),
    Quantity("kept_byte_time", "s/B", "reading one byte of a page and keeping it", _RATES + "{kept}.time_per_byte"),
    Quantity("unkept_page_time", "s", "reading one page past the cache", _RATES + "{unkept}.time_per_page"),
    Quantity("unkept_byte_time", "s/B", "reading one byte past the cache", _RATES + "{unkept}.time_per_byte"),
    Quantity("wake_time", "s", "waking a process on another core", _RATES + "other_core.time_per_state"),
    Quantity("way_message_time", "s", "one message to another core", _RATES + "other_core.time_per_message"),
    Quantity("way_byte_time", "s/B", "one byte to another core", _RATES + "other_core.time_per_byte"),
    Quantity("near_wake_time", "s", "changing to a process on the same core", _RATES + "same_core.time_per_state"),
    Quantity("near_message_time", "s", "one message to the same core", _RATES + "same_core.time_per_message"),
    Quantity("near_byte_time", "s/B", "one byte to the same core", _RATES + "same_core.time_per_byte"),
    Quantity("relayed_wake_time", "s", "waking a process through the parent", _RATES + "through_host.time_per_state"),
    Quantity("relayed_message_time", "s", "one message through the parent", _RATES + "through_host.time_per_message"),
    Quantity("relayed_byte_time", "s/B", "one byte through the parent", _RATES + "through_host.time_per_byte"),
    Quantity("send_wake_time", "s", "the sender's part in waking a process", _RATES + "sending.time_per_state"),
    Quantity("send_message_time", "s", "the sender's part in one message", _RATES + "sending.time_per_message"),
    Quantity("send_byte_time", "s/B", "the sender's part in one byte", _RATES + "sending.time_per_byte"),
    # results
    Quantity("file_pages", "", "pages of the file that a snapshot's rows take"),
    Quantity("process_pages", "", "pages that a process' cache holds"),
    Quantity("visit_time", "s", "bringing a snapshot's pages together"),
    Quantity("layer_time", "s", "graph layers of one snapshot on a core, in one direction"),
    Quantity("cell_time", "s", "one snapshot's cells of one layer on a core, in one direction"),
    Quantity("handling_time", "s", "what a state's sender and receiver spend on its messages"),
)
