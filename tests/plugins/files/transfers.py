"""Large transfers by plain sockets, in a thread: nothing of the client stands in the way of the server."""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

BOUNDARY = "a-boundary-of-the-tests"


@dataclass(frozen=True)
class Transfer:
    """An answer: its head and body (of a download the number of its bytes), and how long it took."""

    head: bytes
    body: bytes
    size: int
    seconds: float

    @property
    def status(self) -> int:
        return int(self.head.split()[1])

    @property
    def megabytes_a_second(self) -> float:
        return self.size / self.seconds / 1e6


async def put_file(
    url: str, target: str, path: Path, headers: dict[str, str], before: bytes = b"", after: bytes = b""
) -> Transfer:
    """Send a file, with something before and behind it in the body."""
    return await asyncio.to_thread(_send, "PUT" if not before else "POST", url, target, path, headers, before, after)


async def upload_file(url: str, path: Path, token: str, name: str, visibility: str = "private") -> Transfer:
    """Send a file as the form of `POST /api/upload`."""
    before = (
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"visibility\"\r\n\r\n{visibility}\r\n"
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
    )  # fmt: skip
    headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return await put_file(url, "/api/upload", path, headers, before.encode(), f"\r\n--{BOUNDARY}--\r\n".encode())


async def get_file(url: str, target: str, headers: dict[str, str]) -> Transfer:
    """Receive a file and count its bytes."""
    return await asyncio.to_thread(_receive, url, target, headers)


def _send(
    method: str, url: str, target: str, path: Path, headers: dict[str, str], before: bytes, after: bytes
) -> Transfer:
    size = path.stat().st_size
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


def _receive(url: str, target: str, headers: dict[str, str]) -> Transfer:
    started = time.perf_counter()
    buffer, head, size = bytearray(1 << 20), b"", 0
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


def resident_bytes(pid: int, what: str = "VmRSS") -> int:
    """Memory of a process now (`VmRSS`), or the most it ever had since `reset_peak` (`VmHWM`)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) * 1024


def reset_peak(pid: int) -> None:
    """Begin to measure the peak anew (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
