"""The sockets that a server listens on: opened by itself, or passed by the process that started it."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BACKLOG = 1024
UNIX = "unix"  # what counts as the address of a client on a Unix socket
_FIRST_DESCRIPTOR = 3  # sd_listen_fds(3)


def open_sockets(host: str, port: int, shared: bool) -> list[socket.socket]:
    """Listen on every address of `host`. Raises `OSError`.

    If `shared`, other processes may listen on the same port (SO_REUSEPORT).
    """
    flags = socket.AI_PASSIVE
    found = dict.fromkeys(socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=flags))
    opened: list[socket.socket] = []
    try:
        for family, _, _, _, address in found:
            # with port 0, the first address gets a free port, which the others use too
            where = (address[0], opened[0].getsockname()[1] if opened else port, *address[2:])
            try:
                opened.append(_listen(family, where, shared))
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL or len(found) == 1:  # such as `localhost` without IPv6
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


class CannotListen(Exception):
    """A Unix socket cannot be opened; the message is a sentence."""


@dataclass(frozen=True)
class UnixSocket:
    """A listening Unix socket, and its file.

    `_holder` is a descriptor of the file: while it is open, no other file can get the same `_inode`.
    """

    socket: socket.socket
    path: Path
    _inode: int
    _holder: int | None

    def remove(self) -> None:
        """Remove the file, unless it now belongs to another socket. To be called once."""
        with suppress(OSError):
            if self.path.lstat().st_ino == self._inode:
                self.path.unlink()
        if self._holder is not None:
            os.close(self._holder)


def open_unix_socket(path: Path, mode: int) -> UnixSocket:
    """Listen at `path`; the file permissions `mode` decide who may connect. Raises `CannotListen`.

    A file that is left of a socket on which nobody listens any more is replaced.
    """
    path = path.absolute()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)  # two processes that start at once must not remove each other's file
            _remove_stale(path)
            listening.setblocking(False)
            listening.bind(str(path))
            path.chmod(mode)  # nobody can connect before it listens
            listening.listen(BACKLOG)
        finally:
            os.close(folder)
        return UnixSocket(listening, path, path.lstat().st_ino, _hold(path))
    except OSError as error:
        listening.close()
        raise CannotListen(f"Cannot listen on {path}: {error.strerror or error}.") from error
    except CannotListen:
        listening.close()
        raise


def _hold(path: Path) -> int | None:
    """Return a descriptor of the file, without opening what it stands for; None on systems other than Linux."""
    return os.open(path, os.O_PATH | os.O_NOFOLLOW) if sys.platform == "linux" else None


def _remove_stale(path: Path) -> None:
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise CannotListen(
            f"Cannot listen on {path}: the file is no socket. Set TRADEWIND_UNIX_SOCKET to another path."
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except BlockingIOError:
            pass  # another process listens, but its queue is full
    raise CannotListen(
        f"Cannot listen on {path}: another process does. Stop it, or set TRADEWIND_UNIX_SOCKET to another path."
    )


def port_of(sockets: list[socket.socket], otherwise: int) -> int:
    """Return the port of the first socket that has one, or `otherwise`."""
    found = (each.getsockname()[1] for each in sockets if each.family != socket.AF_UNIX)
    return int(next(found, otherwise))


def activated_sockets() -> list[socket.socket]:
    """Return the sockets that the service manager opened for this process (systemd socket activation); call it once."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = int(os.environ.get("LISTEN_FDS", "0"))
    found = [socket.socket(fileno=number) for number in range(_FIRST_DESCRIPTOR, _FIRST_DESCRIPTOR + count)]
    for listening in found:
        listening.setblocking(False)
        listening.set_inheritable(False)
    return found


def close_sockets(sockets: list[socket.socket]) -> None:
    """Close the sockets in this process; a process that has inherited them keeps listening."""
    for each in sockets:
        each.close()
