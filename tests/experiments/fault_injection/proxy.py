"""A proxy between server and mongod that damages replies: cut, reset, half-closed, byte by byte, swallowed."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import time
from collections import Counter
from contextlib import suppress

from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import ReplicaSet, Server, free_ports

NAME = "hurt replies"
_PARTS = {"bytewise": 0.5, "split": 1.0, "cut": 0.03, "reset": 0.03, "half-closed": 0.03, "swallowed": 0.01}
_SECONDS = 10
_REST_SECONDS = 7
_SILENCE_SECONDS = 30


class Proxy:
    """Forwards whole messages of MongoDB's protocol, and damages some of the replies as `mode` says."""

    def __init__(self, port: int, target: int) -> None:
        self.port, self._target = port, target
        self.mode = ""
        self.hurt: Counter[str] = Counter()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start listening."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        tasks = [asyncio.create_task(self._requests(reader, forth)), asyncio.create_task(self._replies(back, writer))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for each in (writer, forth):
            each.transport.abort()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                step = 7 if self.mode == "split" else len(data)
                await _write_in_steps(writer, data, step)

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readexactly(4)
                reply = head + await reader.readexactly(struct.unpack("<i", head)[0] - 4)
                mode = self.mode if random.random() < _PARTS.get(self.mode, 0) else ""
                self.hurt[mode] += 1
                if not await self._send(writer, reply, mode):
                    return

    async def _send(self, writer: asyncio.StreamWriter, reply: bytes, mode: str) -> bool:
        """Write a reply, or a part of it, and return False if the connection ends afterwards."""
        if mode == "cut":
            writer.write(reply[: random.randrange(1, len(reply))])
            await writer.drain()
            return False
        if mode == "reset":
            opened = writer.get_extra_info("socket")
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if mode in ("half-closed", "swallowed"):
            if mode == "half-closed":
                writer.write_eof()
            await asyncio.sleep(_SILENCE_SECONDS)
            return False
        await _write_in_steps(writer, reply, max(1, len(reply) // 40) if mode == "bytewise" else len(reply))
        return True


async def _write_in_steps(writer: asyncio.StreamWriter, data: bytes, step: int) -> None:
    for start in range(0, len(data), step):
        writer.write(data[start : start + step])
        await asyncio.sleep(0)
    await writer.drain()


async def run(bench: Bench) -> None:
    """Damage replies in each of these ways for ten seconds, under eight workers."""
    folder = bench.subfolder("proxy")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    proxy = Proxy(free_ports(1)[0], replica_set.ports[0])
    await proxy.start()
    address = replica_set.uri.rpartition("@")[0] + f"@127.0.0.1:{proxy.port}/?directConnection=true&authSource=admin"
    server = Server(folder, "proxied", free_ports(1)[0], address)
    try:
        await in_thread(server.start)
        async with Load([server.port], workers=8, pace=0.01) as load:
            load.start()
            for mode in _PARTS:
                began = time.monotonic()
                proxy.hurt.clear()
                proxy.mode = mode
                await asyncio.sleep(_SECONDS)
                proxy.mode = ""
                await asyncio.sleep(_REST_SECONDS)
                outcomes, slowest = load.outcomes(began), load.slowest(began)
                hurt = f"{proxy.hurt[mode]} hurt, outcomes {dict(outcomes)}"
                figure = f"{hurt}, slowest {slowest:.1f} s, {server.handles()} handles"
                bench.tell(
                    NAME,
                    mode,
                    figure,
                    "only 0 and 50300, within 6 s",
                    set(outcomes) <= {"0", "50300"} and slowest <= 6.5,
                )
            await load.stop()
            await tell_books(bench, NAME, load, [server], replica_set.uri)
    finally:
        await in_thread(server.stop)
        await proxy.stop()
        await in_thread(replica_set.stop)
