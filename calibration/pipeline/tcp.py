"""A channel over TCP: header and payload in one send buffer, acknowledgements on the same connection."""

from __future__ import annotations

import errno
import os
import socket
import struct
import time
from types import TracebackType

import numpy as np

from calibration.pipeline.chunks import ACKNOWLEDGEMENT, HEADER, Bytes, CutOff, Header, PipelineError
from perfmodel.errors import SpecError

TIMEOUT = 60  # seconds without a byte after which the other side is given up


def listen(port: int = 0) -> socket.socket:
    """Return a socket that listens on this machine's loopback; port 0 takes a free one.

    Raises
    ------
    SpecError
        The port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # a connection that was closed holds its port for a minute, though nobody uses it
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(1)
    except OSError as error:
        listening.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            taken = "one that is taken" if error.errno == errno.EADDRINUSE else "one that is reserved"
            raise SpecError("port", "must be free on this machine", f"{port}, {taken}", "0, for any free one") from None
        raise
    listening.settimeout(TIMEOUT)
    return listening


def connect(address: tuple[str, int]) -> socket.socket:
    """Return a connection to a node that listens.

    Raises
    ------
    PipelineError
        Nobody listens there.
    """
    try:
        return socket.create_connection(address, TIMEOUT)
    except OSError as error:
        raise CutOff(f"no connection to {address[0]}:{address[1]}: {error.strerror}") from None


class Connection:
    """One end of the connection; both ends send and receive.

    Parameters
    ----------
    connected : socket
    most : int
        Largest chunk [B].
    polling : float
        How long to poll for what is awaited before sleeping [s].
    """

    def __init__(self, connected: socket.socket, most: int, polling: float = 0.0) -> None:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._polling = polling
        connected.settimeout(None)  # blocking, with the kernel's own limits on waiting
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            connected.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", TIMEOUT, 0))
        self._socket = connected
        self._sending = np.zeros(HEADER.size + most, np.uint8)
        self._receiving = np.zeros(most, np.uint8)
        self._head = bytearray(HEADER.size)
        self._answer = bytearray(ACKNOWLEDGEMENT.size)

    def put(self, header: Header, chunk: Bytes) -> None:
        """Copy header and chunk to the send buffer and hand it to the kernel."""
        HEADER.pack_into(self._sending.data, 0, *header)
        end = HEADER.size + chunk.size
        self._sending[HEADER.size : end] = chunk
        try:
            self._socket.sendall(self._sending.data[:end])
        except OSError as error:
            raise CutOff(f"the connection broke while sending: {error.strerror}") from None

    def acknowledged(self) -> Header:
        """Wait for the next acknowledgement."""
        self._fill(memoryview(self._answer))
        tensor, size = ACKNOWLEDGEMENT.unpack(self._answer)
        return Header(tensor, 0, 0, size)

    def take(self) -> tuple[Header, Bytes]:
        """Wait for the next chunk."""
        self._fill(memoryview(self._head))
        header = Header(*HEADER.unpack(self._head))
        if header.size > self._receiving.size:
            raise PipelineError(f"a chunk of {header.size} bytes came, at most {self._receiving.size} were agreed")
        chunk = self._receiving[: header.size]
        self._fill(chunk.data)
        return header, chunk

    def acknowledge(self, header: Header) -> None:
        """Send the acknowledgement of a chunk."""
        try:
            self._socket.sendall(ACKNOWLEDGEMENT.pack(header.tensor, header.size))
        except OSError as error:
            raise CutOff(f"the connection broke while acknowledging: {error.strerror}") from None

    def _fill(self, target: memoryview) -> None:
        done, until = 0, time.monotonic() + self._polling
        while done < len(target):
            polls = time.monotonic() < until
            try:
                got = self._socket.recv_into(target[done:], 0, socket.MSG_DONTWAIT if polls else 0)
            except BlockingIOError:
                if polls:
                    continue
                raise PipelineError(f"nothing arrived for {TIMEOUT} s") from None
            except OSError as error:
                raise CutOff(f"the connection broke while receiving: {error.strerror}") from None
            if got == 0:
                raise CutOff("the other side closed the connection")
            done += got
            until = time.monotonic() + self._polling

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
