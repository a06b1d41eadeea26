"""A TCP proxy that can break: what stands between the service and MongoDB in these tests."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

CHUNK = 65_536


@dataclass(eq=False)
class Link:
    """One client's connection, and ours to the target for it."""

    client: asyncio.StreamWriter
    target: asyncio.StreamWriter
    deaf: bool = False

    def abort(self) -> None:
        """Reset both ends."""
        for writer in (self.client, self.target):
            writer.transport.abort()


@dataclass(eq=False)
class Proxy:
    """Forwards 127.0.0.1:`port` to 127.0.0.1:`target_port` as long as it is up; every piece takes `delay` seconds."""

    target_port: int
    port: int = 0
    delay: float = 0
    _server: asyncio.Server | None = None
    _links: set[Link] = field(default_factory=set)
    _flowing: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def up(self) -> None:
        """Take connections and forward what they carry."""
        self._flowing.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """As a server that died: connections are reset, new ones refused."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for link in list(self._links):
            link.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stall(self) -> None:
        """As a server that hangs: connections are taken, and nothing comes back until `up`."""
        self._flowing.clear()

    def forget(self) -> None:
        """As a router that lost its table: what is connected now carries nothing any more, new connections work."""
        for link in self._links:
            link.deaf = True

    async def close(self) -> None:
        """End for good."""
        self._flowing.set()
        await self.down()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_target, to_target = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, to_target)
        self._links.add(link)
        for source, sink in ((reader, to_target), (from_target, writer)):
            task = asyncio.create_task(self._pump(link, source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, link: Link, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(CHUNK):
                await self._flowing.wait()
                await asyncio.sleep(self.delay)
                if not link.deaf:
                    sink.write(data)
                    await sink.drain()
        self._links.discard(link)
        link.abort()
