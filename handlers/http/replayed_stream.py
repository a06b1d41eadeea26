"""The stream of a connection that another protocol continues with, after some of its bytes were read."""

from __future__ import annotations

import socket

from tornado.iostream import IOStream


class ReplayedStream(IOStream):
    """A stream that first returns bytes which were already read from the socket."""

    def __init__(self, taken: socket.socket, read: bytes) -> None:
        self._read = memoryview(read)
        super().__init__(taken)

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        """Tornado: fill `buf` and return how many bytes came, or None if there are none yet."""
        if not self._read:
            return super().read_from_fd(buf)
        count = min(len(buf), len(self._read))
        buf[:count] = self._read[:count]
        self._read = self._read[count:]
        return count
