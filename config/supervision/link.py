"""The socket between the supervisor and a fork server, inherited by its servers: one JSON object per line."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence

_MOST_SOCKETS = 16
Message = Mapping[str, int | str | float | bool]


class Link:
    """One end of the socket. Messages are far smaller than its buffer, so each is sent and received whole."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""

    def fileno(self) -> int:
        """Return the file descriptor, for `select` and event loops."""
        return self._end.fileno()

    def send(self, message: Message, sockets: Sequence[socket.socket] = ()) -> None:
        """Send a message, and sockets with it. Raises `OSError`."""
        socket.send_fds(self._end, [json.dumps(message).encode() + b"\n"], [each.fileno() for each in sockets])

    def receive(self) -> tuple[list[Message], list[socket.socket]] | None:
        """Wait for messages and the sockets that came with them; return None if the other end was closed."""
        data, descriptors, _, _ = socket.recv_fds(self._end, 65_536, _MOST_SOCKETS)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines], [socket.socket(fileno=number) for number in descriptors]

    def close(self) -> None:
        """Close this end."""
        self._end.close()
