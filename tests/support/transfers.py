"""Large transfers over plain sockets, so that no client library limits the speed of the server."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

BOUNDARY = "a-boundary-of-large-files"


@dataclass(frozen=True)
class Transfer:
    """A response: its head, its body (of a download the number of bytes), and its duration."""

    head: bytes
    body: bytes
    size: int
    seconds: float

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self.head.split()[1])


def put_file(
    url: str, target: str, path: Path, headers: dict[str, str], before: bytes = b"", after: bytes = b""
) -> Transfer:
    """Send a file by PUT, or with something before and behind it by POST."""
    size, method = path.stat().st_size, "POST" if before else "PUT"
    started = time.perf_counter()
    with _connected(url) as connection, path.open("rb") as file:
        length = {"Content-Length": str(len(before) + size + len(after)), "Connection": "close"}
        connection.sendall(_head(method, target, {**headers, **length}) + before)
        connection.sendfile(file)
        connection.sendall(after)
        answer = b""
        while data := connection.recv(65_536):
            answer += data
    head, _, body = answer.partition(b"\r\n\r\n")
    return Transfer(head, body, size, time.perf_counter() - started)


def upload_file(url: str, path: Path, token: str, name: str, visibility: str = "private") -> Transfer:
    """Send a file as the form of `POST /api/upload`."""
    before = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="visibility"\r\n\r\n{visibility}\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    )
    headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return put_file(url, "/api/upload", path, headers, before.encode(), f"\r\n--{BOUNDARY}--\r\n".encode())


def get_file(url: str, target: str, headers: dict[str, str]) -> Transfer:
    """Receive a file and count its bytes."""
    started = time.perf_counter()
    buffer, head = bytearray(1 << 20), b""
    with _connected(url) as connection:
        connection.sendall(_head("GET", target, {**headers, "Connection": "close"}))
        while b"\r\n\r\n" not in head:
            head += connection.recv(65_536)
        head, _, first = head.partition(b"\r\n\r\n")
        size = len(first)
        while count := connection.recv_into(buffer):
            size += count
    return Transfer(head, b"", size, time.perf_counter() - started)


def _connected(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=120)


def _head(method: str, target: str, headers: dict[str, str]) -> bytes:
    lines = (f"{method} {target} HTTP/1.1", "Host: test", *(f"{name}: {value}" for name, value in headers.items()))
    return "\r\n".join((*lines, "", "")).encode()


@contextmanager
def peak_growth(pid: int) -> Iterator[Callable[[], int]]:
    """A block; afterwards the bytes by which the peak memory of a process was above what it had before (proc(5))."""
    before = _memory(pid, "VmRSS")
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    yield lambda: _memory(pid, "VmHWM") - before


def _memory(pid: int, what: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) * 1024
