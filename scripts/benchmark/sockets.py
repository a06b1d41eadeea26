"""What idle WebSockets of the notification centre cost one process: `python -m scripts.benchmark.sockets [--sockets 5000]`.

Opens them as people of their own, waits until all are quiet, and tells the memory of each, the processor time that they
take while nothing happens, and how long a message to everybody is on its way to all of them. Starts its own server
and database.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import socket
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from config.embedded import acquire

ROOT = Path(__file__).resolve().parent.parent.parent
PASSWORD = "Bench-sockets-7"
AT = "/api/v1/notifications"
# the first byte of a frame, and the length that says that it follows in two bytes (RFC 6455 section 5.2)
TEXT, PING, PONG, LENGTH_FOLLOWS = 0x81, 0x89, 0x8A, 126
PEOPLE, AT_ONCE, QUIET_SECONDS = 50, 50, 15
SETTINGS = {
    "DEMO": "false", "RATE_LIMITS": "off", "PLUGINS": "auth,rbac,notification", "LOG_LEVEL": "WARNING", "BCRYPT_COST": "4",
    "ADMIN_PASSWORD": PASSWORD, "JWT_SECRET": secrets.token_urlsafe(48), "ACCESS_TOKEN_MINUTES": "60",
}  # fmt: skip


class Socket:
    """A client's end of a WebSocket that answers pings and knows what it was told since it was asked last."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._heard: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._task: asyncio.Task[None] | None = None

    async def open(self, token: str) -> None:
        """Shake hands and wait for `ready`."""
        self._writer.write(
            f"GET {AT}/ws HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        await self._reader.readuntil(b"\r\n\r\n")
        self._task = asyncio.create_task(self._listen())
        await self.said("ready")

    async def said(self, kind: str) -> None:
        """Wait until the server has sent something of this type."""
        await self._heard[kind].wait()
        self._heard[kind].clear()

    def close(self) -> None:
        """Go away."""
        if self._task is not None:
            self._task.cancel()
        self._writer.close()

    async def _listen(self) -> None:
        while True:
            first, length = await self._reader.readexactly(2)
            if length == LENGTH_FOLLOWS:
                length = int.from_bytes(await self._reader.readexactly(2), "big")
            payload = await self._reader.readexactly(length)
            if first == PING:
                self._writer.write(bytes((PONG, 0x80 | length)) + bytes(4) + payload)
            elif first == TEXT:
                self._heard[json.loads(payload)["type"]].set()
            else:
                raise RuntimeError(f"the server closed a socket: {payload!r}")


def call(port: int, method: str, path: str, body: Any = None, token: str = "") -> Any:
    """The `data` of one request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    envelope = json.loads(connection.getresponse().read())
    connection.close()
    if envelope["code"]:
        raise RuntimeError(f"{method} {path}: {envelope}")
    return envelope["data"]


def log_in(port: int, username: str) -> str:
    """An access token."""
    body = {"username": username, "password": PASSWORD}
    return str(call(port, "POST", "/api/v1/auth/login", body)["accessToken"])


def people(port: int, admin: str) -> dict[int, str]:
    """User id → access token, of new people."""
    tokens = {}
    for number in range(PEOPLE):
        account = {"username": f"person-{number}", "password": PASSWORD, "must_change_password": False}
        made = call(port, "POST", "/api/v1/system/users", account, admin)
        tokens[int(made["id"])] = log_in(port, account["username"])  # type: ignore[arg-type]
    return tokens


async def opened(port: int, token: str) -> Socket:
    """A WebSocket that was told `ready`."""
    one = Socket(*await asyncio.open_connection("127.0.0.1", port, limit=4096))
    await one.open(token)
    return one


async def all_opened(port: int, tokens: Sequence[str], count: int) -> list[Socket]:
    """So many, a few at once."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> Socket:
        async with turns:
            return await opened(port, tokens[number % len(tokens)])

    return list(await asyncio.gather(*(one(number) for number in range(count))))


def resident(pid: int) -> int:
    """The resident memory of a process, in bytes."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def processor(pid: int) -> float:
    """The processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measured(port: int, pid: int, count: int) -> dict[str, Any]:
    """Everything, of a server that serves."""
    admin = await asyncio.to_thread(log_in, port, "admin")
    tokens = await asyncio.to_thread(people, port, admin)
    warm = await all_opened(port, list(tokens.values()), PEOPLE)
    before = resident(pid)
    started = time.monotonic()
    sockets = await all_opened(port, list(tokens.values()), count)
    opening = time.monotonic() - started
    busy, grown = processor(pid), resident(pid) - before
    await asyncio.sleep(QUIET_SECONDS)
    idle = (processor(pid) - busy) / QUIET_SECONDS
    one_person = await told(port, admin, list(tokens)[:1], sockets[:: len(tokens)])
    everybody = await told(port, admin, list(tokens), sockets)
    for one in (*warm, *sockets):
        one.close()
    return {
        "sockets": count, "people": len(tokens), "opened_per_second": round(count / opening),
        "bytes_each": round(grown / count), "resident_mib_before": round(before / 2**20, 1),
        "resident_mib_with_all": round((before + grown) / 2**20, 1), "processor_when_idle": round(idle, 3),
        "seconds_to_the_sockets_of_one_person": one_person, "seconds_to_all_sockets": everybody,
    }  # fmt: skip


async def serves(port: int) -> None:
    """Wait until the server listens."""
    for _ in range(600):
        try:
            (await asyncio.open_connection("127.0.0.1", port))[1].close()
            return
        except OSError:
            await asyncio.sleep(0.1)
    raise RuntimeError("the server did not start within a minute")


async def told(port: int, admin: str, user_ids: Sequence[int], sockets: Sequence[Socket]) -> float:
    """How many seconds an announcement to these people takes to all of their sockets."""
    started = time.monotonic()
    body = {"user_ids": list(user_ids), "title": "bench"}
    sending = asyncio.to_thread(call, port, "POST", AT, body, admin)
    await asyncio.gather(sending, *(one.said("notification") for one in sockets))
    return round(time.monotonic() - started, 2)


async def served(count: int, http: str, folder: Path, uri: str) -> dict[str, Any]:
    """The figures of a server of its own with this HTTP connection."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    given = {**SETTINGS, "HTTP": http, "PORT": str(port), "DATA_DIR": str(folder), "MONGODB_URI": uri,
             "MONGODB_DATABASE": f"bench_sockets_{http}"}  # fmt: skip
    env = {**kept, **{f"TRADEWIND_{name}": value for name, value in given.items()}}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(ROOT / "server.py"), cwd=ROOT, env=env, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        await serves(port)
        return {"http": http, **await measured(port, process.pid, count)}
    finally:
        process.terminate()
        await process.wait()


def main(arguments: Sequence[str]) -> int:
    """Print the figures of both HTTP connections as JSON, a line each."""
    parser = argparse.ArgumentParser(prog="python -m scripts.benchmark.sockets", description=__doc__)
    parser.add_argument("--sockets", type=int, default=5000)
    parser.add_argument("--http", choices=("tornado", "fast"), action="append")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tradewind-sockets-") as name:
        folder = Path(name)
        embedded = acquire(folder / "mongodb")
        try:
            for http in chosen.http or ("tornado", "fast"):
                print(json.dumps(asyncio.run(served(chosen.sockets, http, folder, embedded.uri))), flush=True)
        finally:
            embedded.release_and_wait(15)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
