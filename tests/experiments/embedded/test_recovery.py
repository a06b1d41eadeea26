"""The embedded MongoDB comes back by itself: after a full disk, after failed starts, after the death of its supervisor."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from config.embedded import Embedded, acquire
from config.embedded.folder import Folder
from config.embedded.mongod import find_mongod
from plugins.testing import Client, eventually, expect
from tests.support.server_process import ServerProcess, environment, server_process

PROJECT = Path(__file__).resolve().parents[3]


def _await(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def _mongod_of(folder: Folder) -> int:
    return int((folder.database / "mongod.lock").read_text())


def _kill_supervisor(folder: Folder) -> None:
    os.kill(int(json.loads(folder.record.read_text())["pid"]), signal.SIGKILL)


def _count(uri: str) -> int:
    with MongoClient[dict[str, Any]](uri, timeoutMS=30_000) as client:
        client.trade.get_collection("notes").insert_one({})
        return client.trade.notes.count_documents({})


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Embedded, Folder, Path]]:
    """A database whose `mongod` starts only while a file is not there."""
    broken = tmp_path / "broken"
    program = tmp_path / "packages" / "fiftyone" / "db" / "bin" / "mongod"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\ntest -e {broken} && echo out of order && exit 7\nexec {find_mongod()} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    embedded = acquire(tmp_path / "data", 0.25)
    yield embedded, Folder(tmp_path / "data"), broken
    embedded.release_and_wait()


def test_a_mongod_that_fails_to_start_is_started_again_until_it_runs(
    faulty: tuple[Embedded, Folder, Path],
) -> None:
    embedded, folder, broken = faulty
    assert _count(embedded.uri) == 1
    broken.touch()
    os.kill(_mongod_of(folder), signal.SIGKILL)
    _await(lambda: folder.supervisor_log.read_text().count("mongod ended with code 7: out of order") == 2)
    said = folder.supervisor_log.read_text()
    assert [line.split(" again in ")[1] for line in said.splitlines() if " again in " in line][:2] == ["0.5 s", "1 s"]
    assert "mongod was killed" in said
    broken.unlink()
    assert _count(embedded.uri) == 2
    _await(lambda: "mongod runs again" in folder.supervisor_log.read_text())


def test_giving_up_while_mongod_does_not_start_ends_the_supervisor(faulty: tuple[Embedded, Folder, Path]) -> None:
    embedded, folder, broken = faulty
    broken.touch()
    os.kill(_mongod_of(folder), signal.SIGKILL)
    _await(lambda: "out of order" in folder.supervisor_log.read_text())
    assert embedded.release_and_wait()


FULL = textwrap.dedent("""
    import os, sys, time
    from pathlib import Path
    from pymongo import MongoClient
    from pymongo.errors import PyMongoError
    from config.embedded import acquire
    from config.embedded.folder import Folder

    def fill(room):
        file = os.open(room / "filler", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for size in (1 << 20, 4096):
            try:
                while os.write(file, bytes(size)) == size:
                    pass
            except OSError:
                pass
        os.close(file)

    room = Path(sys.argv[1])
    folder = Folder(room / "data")
    embedded = acquire(folder.path, 0.25)
    client = MongoClient(embedded.uri, timeoutMS=3000)
    notes = client.trade.notes
    acknowledged = 0
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # until the database has gone for want of room
        fill(room)
        try:
            notes.insert_one({"text": "x" * 100_000})
            acknowledged += 1
        except PyMongoError:
            break
    fill(room)
    (room / "filler").unlink()
    while time.monotonic() < deadline:
        try:
            notes.insert_one({"text": "room again"})
            break
        except PyMongoError:
            pass
    print("back", notes.count_documents({}) >= acknowledged + 1, flush=True)
    client.close()
    embedded.release_and_wait()
""")


def test_it_is_back_when_a_full_disk_has_room_again(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("`unshare -rm` is not permitted here, so no small disk can be made")
    room = tmp_path / "room"
    room.mkdir()
    shell = 'mount -t tmpfs -o size=200m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", shell, "sh", room, sys.executable, FULL]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.splitlines() == ["back True"]


# A server and the supervisor of its database


async def _ready(running: ServerProcess) -> None:
    client = Client(await running.url())

    async def is_ready() -> bool:
        return (await client.get("/api/health/ready")).code == 0

    await eventually(is_ready, seconds=40)


@pytest.mark.gen_test(timeout=60)
async def test_a_server_starts_a_supervisor_again_that_was_killed(tmp_path: Path) -> None:
    env = environment("", tmp_path / "data")
    async with server_process(env, tmp_path / "process") as running:
        admin = await Client(await running.url()).log_in("admin")
        made = expect(await admin.post("/api/v1/crm/customers", {"name": "before"}))["id"]
        _kill_supervisor(Folder(tmp_path / "data"))
        await running.said("the embedded database runs again")
        await _ready(running)
        assert expect(await admin.get(f"/api/v1/crm/customers/{made}"))["name"] == "before"
        assert await running.stop() == 0


@pytest.mark.gen_test(timeout=60)
async def test_a_server_whose_database_has_moved_says_so_and_ends(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "data")
    async with server_process(environment("", folder.path), tmp_path / "process") as running:
        await running.url()
        port = folder.last_port() or 0
        _kill_supervisor(folder)

        async def taken() -> socket.socket | None:
            try:
                return socket.create_server(("127.0.0.1", port))
            except OSError:
                return None

        async def ended() -> bool:
            return running.process.poll() is not None

        with await eventually(taken, seconds=20, every=0.001):
            await eventually(ended, seconds=60)
    assert running.process.returncode == 1
    line = f"tradewind: The database in {folder.path} has another address now: start the server again.\n"
    assert running.stderr == line
