"""Supervisors with their processes, and what they have said."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from plugins.testing import eventually
from tests.support.processes import children, forked_servers
from tests.support.server_process import ServerProcess, server_process


@asynccontextmanager
async def supervised(env: dict[str, str], folder: Path, count: int = 2) -> AsyncIterator[ServerProcess]:
    """A supervisor whose processes are all ready."""
    async with server_process(env, folder, "--processes", str(count)) as supervisor:
        await said(supervisor, "ready", count)
        yield supervisor


async def said(supervisor: ServerProcess, message: str, times: int) -> None:
    """Wait until a message has been logged so often, since the beginning."""

    async def look() -> bool:
        assert supervisor.process.poll() is None, supervisor.stderr
        return len(supervisor.lines(message)) >= times

    await eventually(look, seconds=30)


async def roll(supervisor: ServerProcess) -> None:
    """Ask for a rolling restart, and wait until it is done."""
    times = len(supervisor.lines("rolled")) + 1
    supervisor.process.send_signal(signal.SIGHUP)
    await said(supervisor, "rolled", times)


async def stop(supervisor: ServerProcess) -> None:
    """Ask it to stop; it does, without an error, and leaves no process."""
    family = children(supervisor.process.pid) | forked_servers(supervisor.process.pid)
    assert await supervisor.stop() == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in family)
