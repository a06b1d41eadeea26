"""A connection that another protocol goes on with, after some of it was read."""

from __future__ import annotations

import socket

from tornado.iostream import IOStream


class ReplayedStream(IOStream):
    """A stream that first gives bytes which were read from the socket already."""

    def __init__(self, taken: socket.socket, read: bytes) -> None:
        self._read = memoryview(read)
        super().__init__(taken)

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        """Tornado: fill `buf`; how many bytes came, None when there are none yet."""
        if not self._read:
            return super().read_from_fd(buf)
        count = min(len(buf), len(self._read))
        buf[:count] = self._read[:count]
        self._read = self._read[count:]
        return count
