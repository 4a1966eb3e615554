"""Chunks with acknowledgements over loopback TCP."""

from __future__ import annotations

import contextlib

from calibration.kernels._base import Point
from calibration.kernels._peer import ChunkKernel, Peer, tcp_channel
from calibration.pipeline.chunks import Sending


class ChunkAckTcp(ChunkKernel):
    """Stop-and-wait and windowed, over a connection of this machine with itself."""

    name = "chunk_ack_tcp"
    isolates = "copying to the send buffer, the kernel's TCP, copying to the tensor's place, and the acknowledgement"

    def _channel(self, point: Point, peer: Peer) -> contextlib.AbstractContextManager[Sending]:
        return tcp_channel(point, peer)


KERNEL = ChunkAckTcp()
