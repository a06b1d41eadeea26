"""Idle connections, WebSockets, slowloris and slow readers: how long others wait meanwhile, and what they cost."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import resource
import socket
import time
import zipfile
from contextlib import suppress
from urllib.parse import quote

from tests.experiments.consumption import processor_seconds
from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.experiments.fault_injection.load import CRM, Load
from tests.support.replica_sets import ADMIN_PASSWORD, ReplicaSet, Server, free_ports

NAME = "connections"
_OTHERS_SECONDS = 15
_FILE_MIB = 60
_SLOW_KIB = 256

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def run(bench: Bench) -> None:
    """Hold 10,000 idle connections, then 2,000 WebSockets, 1,000 slowloris, and 50 slow readers of a 60 MB file."""
    _raise_handle_limit()
    folder = bench.subfolder("connections")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    server = Server(folder, "connections", free_ports(1)[0], replica_set.uri)
    try:
        await in_thread(server.start)
        async with Load([server.port], workers=0) as load:
            for n in range(50):
                await load.admin.must("POST", f"{CRM}/customers", {"name": f"c {n}"})
            crowd = Crowd(bench, server, load)
            crowd.baseline = await crowd.p99_of_others()
            bench.tell(NAME, "nobody else: p99 of others", f"{crowd.baseline:.0f} ms")
            await crowd.hold_idle(bench.times(10_000))
            await crowd.hold_sockets(bench.times(2_000))
            await crowd.hold_slowloris(bench.times(1_000))
            await crowd.hold_readers(bench.times(50))
            errors = server.errors()
            bench.tell(NAME, "log lines of level ERROR", len(errors), "0", not errors)
    finally:
        await in_thread(server.stop)
        await in_thread(replica_set.stop)


def _raise_handle_limit() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Crowd:
    """Connections that are held open while five other clients send requests."""

    def __init__(self, bench: Bench, server: Server, load: Load) -> None:
        self.bench, self.server, self.load = bench, server, load
        self.baseline = 0.0

    async def p99_of_others(self) -> float:
        """Return the 99th percentile, in ms, of the profile and list requests of five people."""
        took: list[float] = []
        failed: list[str] = []
        end = time.monotonic() + _OTHERS_SECONDS

        async def person(path: str) -> None:
            connection = Connection(self.server.port, self.load.admin.token)
            while time.monotonic() < end:
                reply = await connection.call("GET", path)
                took.append(reply.seconds)
                failed.extend([reply.outcome] if reply.outcome != "0" else [])
                await asyncio.sleep(0.04)
            connection.drop()

        paths = ["/api/v1/auth/profile"] * 3 + [f"{CRM}/customers?page_size=20"] * 2
        await asyncio.gather(*(person(path) for path in paths))
        if failed:
            self.bench.tell(NAME, "requests of others that failed", sorted(set(failed)), "0", False)
        took.sort()
        return took[int(len(took) * 0.99)] * 1000

    async def _tell_others(self, what: str) -> None:
        p99 = await self.p99_of_others()
        figure = f"{p99:.0f} ms, {p99 / self.baseline:.2f} x"
        self.bench.tell(
            NAME,
            f"{what}: p99 of others",
            figure,
            "1.5 x, or 10 ms more",
            p99 <= max(1.5 * self.baseline, self.baseline + 10),
        )

    async def _open(self, count: int, first: bytes, at_once: int = 100, until: bytes = b"") -> list[Streams]:
        """Open connections that have sent `first` and, with `until`, have read up to it."""
        gate, opened = asyncio.Semaphore(at_once), []

        async def one() -> None:
            async with gate:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
                writer.write(first)
                if until:
                    await asyncio.wait_for(reader.readuntil(until), 60)
                opened.append((reader, writer))

        await asyncio.gather(*(one() for _ in range(count)))
        return opened

    async def hold_idle(self, count: int) -> None:
        """Hold connections that have sent one request and stay open."""
        before = self.server.rss_mib()
        ask = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        opened = await self._open(count, ask, until=b"\r\n\r\n")
        each = (self.server.rss_mib() - before) * 1024 / count
        self.bench.tell(NAME, f"{count} idle connections", f"{each:.1f} KiB each", "25 KiB", each <= 25)
        await self._tell_others(f"{count} idle connections")
        _close(opened)

    async def hold_sockets(self, count: int) -> None:
        """Hold WebSockets of the notification centre that answer pings."""
        tokens = [await self._token(n) for n in range(min(40, count))]
        spent, before = processor_seconds(self.server.pid), self.server.rss_mib()
        opened = []
        for n, token in enumerate(tokens):
            share = count // len(tokens) + (n < count % len(tokens))
            opened += await self._open(share, _upgrade(token), at_once=20, until=b"\r\n\r\n")
        cost = (processor_seconds(self.server.pid) - spent) * 1000 / count
        self.bench.tell(NAME, f"{count} WebSockets, opening", f"{cost:.2f} ms of processor time each", "1 ms", cost < 1)
        memory = (self.server.rss_mib() - before) * 1024 / count
        self.bench.tell(NAME, f"{count} WebSockets, memory", f"{memory:.1f} KiB each")
        listening = [asyncio.create_task(_pong(reader, writer)) for reader, writer in opened]
        await self._tell_others(f"{count} WebSockets")
        closed = sum(task.done() for task in listening)
        self.bench.tell(NAME, "WebSockets that the server closed", closed, "0", not closed)
        for task in listening:
            task.cancel()
        _close(opened)

    async def _token(self, n: int) -> str:
        name = f"{self.load.mark}ws{n}"
        person = {"username": name, "password": ADMIN_PASSWORD, "is_super": True, "must_change_password": False}
        await self.load.admin.must("POST", "/api/v1/system/users", person)
        return (await Connection(self.server.port).log_in(name, ADMIN_PASSWORD)).token

    async def hold_slowloris(self, count: int) -> None:
        """Hold connections that send one byte of a request head every second."""
        began = time.monotonic()
        opened = await self._open(count, b"POST /api/v1/crm/customers HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        dripping = asyncio.create_task(_drip(opened))
        await self._tell_others(f"{count} slowloris")
        while any(not reader.at_eof() for reader, _ in opened) and time.monotonic() - began < 60:
            await asyncio.sleep(0.5)
        dripping.cancel()
        closed, seconds = sum(reader.at_eof() for reader, _ in opened), time.monotonic() - began
        self.bench.tell(
            NAME,
            "slowloris closed",
            f"{closed} of {count} within {seconds:.0f} s",
            "all within 40 s",
            closed == count and seconds < 40,
        )
        _close(opened)

    async def hold_readers(self, count: int) -> None:
        """Hold connections that download a big file at 8 KiB a second."""
        key = await self._upload()
        before = self.server.rss_mib()
        opened = [await self._slow_reader(key) for _ in range(count)]
        sipping = [asyncio.create_task(_sip(each)) for each in opened]
        await self._tell_others(f"{count} slow readers")
        each = (self.server.rss_mib() - before) * 1024 / count
        self.bench.tell(
            NAME, f"{count} slow readers, memory", f"{each:.0f} KiB each", f"{_SLOW_KIB} KiB", each <= _SLOW_KIB
        )
        for task in sipping:
            task.cancel()
        await asyncio.gather(*sipping, return_exceptions=True)
        for one in opened:
            one.close()

    async def _upload(self) -> str:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("random", os.urandom(1 << 20) * _FILE_MIB)
        boundary = "faults"
        content = (
            (
                f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.zip"\r\n'
                "Content-Type: application/zip\r\n\r\n"
            ).encode()
            + packed.getvalue()
            + f"\r\n--{boundary}--\r\n".encode()
        )
        head = (
            f"POST /api/upload HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.load.admin.token}\r\n"
            f"Content-Type: multipart/form-data; boundary={boundary}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        [(reader, writer)] = await self._open(1, head.encode() + content)
        response = await reader.readuntil(b"}}")
        writer.close()
        return response.partition(b'"objectKey":"')[2].partition(b'"')[0].decode()

    async def _slow_reader(self, key: str) -> socket.socket:
        loop = asyncio.get_running_loop()
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        opened.setblocking(False)
        await loop.sock_connect(opened, ("127.0.0.1", self.server.port))
        head = f"GET /api/file/dl?object_key={quote(key)} HTTP/1.1\r\nHost: localhost\r\n"
        await loop.sock_sendall(opened, f"{head}Authorization: Bearer {self.load.admin.token}\r\n\r\n".encode())
        return opened


def _upgrade(token: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        "GET /api/v1/notifications/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n"
    ).encode()


async def _pong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a pong for each ping until the server closes (RFC 6455 section 5.5)."""
    with suppress(OSError, asyncio.IncompleteReadError):
        while True:
            first, size = await reader.readexactly(2)
            size &= 127
            if size == 126:
                size = int.from_bytes(await reader.readexactly(2), "big")
            data = await reader.readexactly(size)
            if first & 15 == 9:
                writer.write(bytes([0x8A, 0x80 | len(data)]) + bytes(4) + data)
            elif first & 15 == 8:
                return


async def _drip(opened: list[Streams]) -> None:
    while True:
        for reader, writer in opened:
            if not reader.at_eof():
                writer.write(b"a")
        await asyncio.sleep(1)


async def _sip(opened: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while await loop.sock_recv(opened, 4096):
        await asyncio.sleep(0.5)


def _close(opened: list[Streams]) -> None:
    for _, writer in opened:
        writer.close()
