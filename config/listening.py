"""The sockets that a server listens on: its own, or those of the process that started it."""

from __future__ import annotations

import errno
import os
import socket

BACKLOG = 1024
_FIRST_DESCRIPTOR = 3  # sd_listen_fds(3)


def open_sockets(host: str, port: int, shared: bool) -> list[socket.socket]:
    """Listen on every address of `host`. `shared`: other processes may listen too (SO_REUSEPORT). Raises `OSError`."""
    flags = socket.AI_PASSIVE
    found = dict.fromkeys(socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=flags))
    opened: list[socket.socket] = []
    try:
        for family, _, _, _, address in found:
            # the first address may choose the port for the others
            where = (address[0], opened[0].getsockname()[1] if opened else port, *address[2:])
            try:
                opened.append(_listen(family, where, shared))
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL or len(found) == 1:  # `localhost` where there is no IPv6
                    raise
    except OSError:
        close_sockets(opened)
        raise
    return opened


def _listen(family: int, address: tuple[object, ...], shared: bool) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setblocking(False)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def activated_sockets() -> list[socket.socket]:
    """The sockets that the service manager opened for this process (systemd's socket activation); call it once."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = int(os.environ.get("LISTEN_FDS", "0"))
    found = [socket.socket(fileno=number) for number in range(_FIRST_DESCRIPTOR, _FIRST_DESCRIPTOR + count)]
    for listening in found:
        listening.setblocking(False)
        listening.set_inheritable(False)
    return found


def close_sockets(sockets: list[socket.socket]) -> None:
    """Close them here; a process that has inherited them goes on listening."""
    for each in sockets:
        each.close()
