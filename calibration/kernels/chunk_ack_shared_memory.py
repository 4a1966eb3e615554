"""Chunks with acknowledgements through memory that two processes share."""

from __future__ import annotations

import contextlib

from calibration.kernels._base import Point
from calibration.kernels._peer import ChunkKernel, Peer, shared_memory_channel
from calibration.pipeline.chunks import Sending


class ChunkAckSharedMemory(ChunkKernel):
    """Stop-and-wait and windowed, through a ring of slots and two semaphores."""

    name = "chunk_ack_shared_memory"
    isolates = "copying to a slot, signalling, copying to the tensor's place, and the acknowledgement"

    def _channel(self, point: Point, peer: Peer) -> contextlib.AbstractContextManager[Sending]:
        return shared_memory_channel(point, peer)


KERNEL = ChunkAckSharedMemory()
