"""Runs `python server.py` as a process and keeps its output."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugins.testing import PASSWORD, eventually

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Zq8-one-signing-secret-of-these-tests-only"
PLUGINS = "auth,rbac,system,crm"
WAYS = ("TRADEWIND_MONGODB_DRIVER", "TRADEWIND_HTTP")  # the whole suite can run by another driver or connection
STOP_SECONDS = 20
_ready: dict[str, ServerProcess] = {}  # by URL, every process that was ready once


def environment(uri: str, folder: Path, **settings: str) -> dict[str, str]:
    """The environment of a server: what the machine needs, and the settings of the test only."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_") or name in WAYS}
    ours = {
        "MONGODB_URI": uri,
        "MONGODB_DATABASE": f"test_{uuid.uuid4().hex[:12]}",
        "DATA_DIR": str(folder),
        "PORT": "0",
        "JWT_SECRET": SECRET,
        "ADMIN_PASSWORD": PASSWORD,
        "BCRYPT_COST": "4",
        "RATE_LIMITS": "off",
        "PLUGINS": PLUGINS,
        "DRAIN_NOTICE_SECONDS": "0",
    }
    return {**kept, **{f"TRADEWIND_{name}": value for name, value in {**ours, **settings}.items() if value}}


@dataclass
class ServerProcess:
    """A running `server.py`."""

    process: subprocess.Popen[bytes]
    folder: Path
    env: Mapping[str, str]

    @property
    def stdout(self) -> str:
        """What it wrote to standard output so far."""
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self) -> str:
        """What it wrote to standard error so far."""
        return (self.folder / "stderr").read_text()

    @property
    def admin_password(self) -> str:
        """The password of user 1: as it was set, or as it was made up and printed at the first start."""
        given = self.env.get("TRADEWIND_ADMIN_PASSWORD")
        printed = re.search(r"admin with the password (\S+) and change it", self.stdout)
        return given or (printed.group(1) if printed else PASSWORD)

    def lines(self, message: str = "") -> list[dict[str, Any]]:
        """Its log lines so far, or those of one message."""
        found = [
            json.loads(line) for line in self.stdout.splitlines(keepends=True) if line[:1] == "{" and line[-1] == "\n"
        ]
        return [line for line in found if message in ("", line["message"])]

    async def said(self, message: str) -> dict[str, Any]:
        """Wait for a log line with this message."""

        async def look() -> list[dict[str, Any]]:
            ended = self.process.poll() is not None
            found = self.lines(message)
            if ended and not found:
                raise AssertionError(f"the server ended with {self.process.returncode}: {self.stderr}{self.stdout}")
            return found

        found: list[dict[str, Any]] = await eventually(look, seconds=20)
        return found[0]

    async def url(self) -> str:
        """Its address, once it is ready."""
        url = str((await self.said("ready"))["url"])
        _ready[url] = self
        return url

    async def ended(self) -> int:
        """Wait for its end; the exit code."""

        async def look() -> bool:
            return self.process.poll() is not None

        await eventually(look, seconds=STOP_SECONDS)
        return int(self.process.returncode)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; the exit code."""
        self.process.send_signal(number)
        return await self.ended()


def process_at(url: str) -> ServerProcess | None:
    """The last server process that was ready at this URL."""
    return _ready.get(url)


def spawn(env: Mapping[str, str], folder: Path, *arguments: str, within: Sequence[str] = ()) -> ServerProcess:
    """Start a server in `folder`, by the command `within` that ends with running another; the caller sees to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        command = [*within, sys.executable, str(ROOT / "server.py"), *arguments]
        process = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
    return ServerProcess(process, folder, env)


@asynccontextmanager
async def server_process(
    env: Mapping[str, str], folder: Path, *arguments: str, within: Sequence[str] = ()
) -> AsyncIterator[ServerProcess]:
    """A server that ends with the block, whatever happens."""
    running = spawn(env, folder, *arguments, within=within)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.terminate()
        try:
            await running.ended()
        finally:
            running.process.kill()
            running.process.wait()
