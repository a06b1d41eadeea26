"""Three processes on one database, some of which are killed and started again while others work."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plugins.testing import Client, Reply, eventually, unique
from tests.support.server_process import ServerProcess, spawn


class Instances:
    """Processes on one database; one that is killed is started again."""

    def __init__(self, env: Mapping[str, str], folder: Path) -> None:
        self.env = env
        self.folder = folder
        self.running: list[ServerProcess] = []
        self.urls: list[str] = []

    async def start(self) -> None:
        """Start one more, and wait until it is ready."""
        process = spawn(self.env, self.folder / unique("instance"))
        self.running.append(process)

        async def is_ready() -> bool:
            return bool(process.lines("ready"))

        await eventually(is_ready, seconds=180, every=0.2)
        self.urls.append(await process.url())

    async def kill_at_random(self, kills: int, seconds: float) -> None:
        """Kill so many, about so many seconds after each other, and start another one for each."""
        for _ in range(kills):
            await asyncio.sleep(random.uniform(0.5, 1.5) * seconds)
            process = self.running.pop(0)
            self.urls.pop(0)
            await process.stop(signal.SIGKILL)
            await self.start()

    async def send(self, token: str, path: str, body: Any) -> Reply:
        """Post to one of them; if it is killed or cannot answer, again under the same key to any."""
        key = unique("sent")
        while True:
            try:
                client = Client(random.choice(self.urls), token)
                reply = await client.post(path, body, headers={"Idempotency-Key": key})
                if reply.status < 500:
                    return reply
            except (OSError, AssertionError, IndexError, ValueError):
                pass
            await asyncio.sleep(0.5)


@asynccontextmanager
async def three_instances(env: Mapping[str, str], folder: Path) -> AsyncIterator[Instances]:
    """Three instances, until the block ends."""
    found = Instances(env, folder)
    try:
        for _ in range(3):
            await found.start()
        yield found
    finally:
        for one in found.running:
            one.process.kill()
            one.process.wait()
