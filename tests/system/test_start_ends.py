"""A start that cannot succeed says so in one sentence; one that is asked to stop ends at once, wherever it stands."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from config.database import open_driver
from config.embedded.binary import find_mongod
from handlers.data.database import LEASES
from plugins.testing import eventually
from tests.support.server_process import ServerProcess, environment, server_process
from tests.support.shortest_times import python_seconds

pytestmark = pytest.mark.gen_test(timeout=40)
PROMPTLY, TIMES = 3.0, 20  # on an idle machine a Python process takes a tenth of a second
NEVER_MS = "60000"  # who waits for the database waits for longer than the tests do


@contextmanager
def mongod(folder: Path, *arguments: str, within: Sequence[str | Path] = ()) -> Iterator[str]:
    """A `mongod` that is no part of a replica set that works; its address."""
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [find_mongod(), "--dbpath", folder, "--bind_ip", "127.0.0.1", "--port", str(port), "--nounixsocket"]
    log = folder / "log"
    process = subprocess.Popen([*within, *command, "--logpath", log, *arguments], stdout=subprocess.DEVNULL)
    try:
        while not (log.exists() and b'"id":23016,' in log.read_bytes()):
            assert process.poll() is None
            time.sleep(0.02)
        yield f"mongodb://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


async def refusal(env: dict[str, str], folder: Path) -> str:
    """The one line that a server says which does not start."""
    async with server_process(env, folder) as running:
        assert await running.ended() == 1
        assert "Traceback" not in running.stdout + running.stderr
        assert running.stderr.count("\n") == 1
        return running.stderr


@pytest.mark.parametrize("options", ["", "?directConnection=true", "?replicaSet=rs0"])
async def test_a_standalone_mongodb_is_reported_in_one_sentence(tmp_path: Path, options: str) -> None:
    with mongod(tmp_path / "mongod") as uri:
        line = await refusal(environment(uri + options, tmp_path / "data", MONGODB_TIMEOUT_MS="1000"), tmp_path)
    assert "is no replica set: start mongod with --replSet, then run rs.initiate() once" in line


async def test_a_replica_set_that_was_not_initiated_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with mongod(tmp_path / "mongod", "--replSet", "rs0") as uri:
        line = await refusal(environment(uri, tmp_path / "data", MONGODB_TIMEOUT_MS="1000"), tmp_path)
    assert "has a replica set without members: run rs.initiate() once" in line


async def test_another_replica_set_than_the_address_says_is_reported_in_one_sentence(
    mongodb_uri: str, tmp_path: Path
) -> None:
    uri = re.sub(r"replicaSet=\w+", "replicaSet=other", mongodb_uri)
    env = environment(uri, tmp_path / "data", MONGODB_TIMEOUT_MS="1000")
    line = await refusal(env, tmp_path)
    assert line.endswith("; the address says other.\n")


async def test_a_primary_whose_name_is_not_known_here_is_reported_in_one_sentence(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost db-1.invalid\n")
    # a machine of its own as far as names go
    within = ("unshare", "-rm", "sh", "-ec", 'mount --bind "$0" /etc/hosts; exec "$@"', hosts)
    if subprocess.run((*within, "true"), capture_output=True, check=False).returncode:
        pytest.skip("`unshare -rm` is not permitted here")
    with mongod(tmp_path / "mongod", "--replSet", "rs0", within=within) as uri:
        name = uri.strip("/").replace("mongodb://127.0.0.1", "db-1.invalid")
        with MongoClient[dict[str, Any]](uri, directConnection=True) as client:
            members = [{"_id": 0, "host": name}]
            client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})

            async def is_primary() -> bool:
                return bool(client.admin.command("hello")["isWritablePrimary"])

            await eventually(is_primary, seconds=20)
        env = environment(f"{uri}?replicaSet=rs0", tmp_path / "data", MONGODB_TIMEOUT_MS="1000")
        line = await refusal(env, tmp_path)
    assert f"calls its primary {name}, and nothing responds there" in line


@pytest.mark.parametrize("place", ["a file", "below a file", "nowhere"])
@pytest.mark.parametrize("embedded", [True, False])
async def test_a_data_folder_that_cannot_be_is_reported_in_one_sentence(
    tmp_path: Path, mongodb_uri: str, place: str, embedded: bool
) -> None:
    (tmp_path / "file").write_text("")
    folder = {"a file": tmp_path / "file", "below a file": tmp_path / "file" / "data", "nowhere": Path("/proc/data")}
    env = environment("" if embedded else mongodb_uri, folder[place], PLUGINS="")
    line = await refusal(env, tmp_path / "process")
    assert line.startswith(f"tradewind: Cannot use the data folder {folder[place]} (")
    assert line.endswith("): make it writable, or set TRADEWIND_DATA_DIR.\n")


# A stop in the middle of a start


async def ends_at_once(running: ServerProcess, number: signal.Signals) -> None:
    """Ask it to stop; it does, promptly and without a word on standard error."""
    limit = max(PROMPTLY, TIMES * await asyncio.to_thread(python_seconds))
    asked = time.monotonic()
    # by its own hand, or by the signal's where it was not listening for it yet
    assert await running.stop(number) in (0, -number)
    assert time.monotonic() - asked < limit
    assert running.stderr == ""


async def listening(running: ServerProcess) -> None:
    """Wait until the server has taken the signals into its own hands."""

    async def catches() -> bool:
        status = Path(f"/proc/{running.process.pid}/status").read_text()
        caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    await eventually(catches, seconds=20)


@asynccontextmanager
async def silence() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A server that takes connections and never says a word; its address, and whether somebody came."""
    came = asyncio.Event()

    async def stay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        while await reader.read(1000):
            pass
        writer.close()

    async with await asyncio.start_server(stay, "127.0.0.1", 0) as server:
        yield f"mongodb://127.0.0.1:{server.sockets[0].getsockname()[1]}/", came


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_start_that_waits_for_a_silent_database_ends_when_asked(tmp_path: Path, number: signal.Signals) -> None:
    async with (
        silence() as (uri, came),
        server_process(environment(uri, tmp_path, MONGODB_TIMEOUT_MS=NEVER_MS), tmp_path) as running,
    ):
        await came.wait()
        await listening(running)
        await ends_at_once(running, number)


@pytest.mark.parametrize("lease", ["prepare", "start"])
async def test_a_start_that_waits_for_another_instance_ends_when_asked(
    mongodb_uri: str, tmp_path: Path, lease: str
) -> None:
    env = environment(mongodb_uri, tmp_path)
    driver = open_driver("pymongo", mongodb_uri, env["TRADEWIND_MONGODB_DATABASE"], 5000)
    try:
        held = {"_id": lease, "until": datetime.now(UTC) + timedelta(hours=1), "holder": "somebody", "fencing": 1}
        await driver.insert(LEASES, [held])
        async with server_process(env, tmp_path) as running:
            await listening(running)

            async def is_there() -> bool:
                return bool(await driver.list_indexes("core_operation_logs")) if lease == "start" else True

            await eventually(is_there, seconds=20)
            await ends_at_once(running, signal.SIGTERM)
    finally:
        await driver.close()


def member_of_a_set(uri: str) -> None:
    """Make the `mongod` there a replica set of one."""
    with MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        members = [{"_id": 0, "host": uri.removeprefix("mongodb://").rstrip("/")}]
        client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})


async def test_a_start_whose_database_freezes_ends_when_asked(tmp_path: Path) -> None:
    with mongod(tmp_path / "mongod", "--replSet", "rs0") as uri:
        member_of_a_set(uri)
        env = environment(uri, tmp_path / "data", MONGODB_TIMEOUT_MS=NEVER_MS)
        async with server_process(env, tmp_path / "process") as running:
            await listening(running)
            os.kill(int((tmp_path / "mongod" / "mongod.lock").read_text()), signal.SIGSTOP)
            await ends_at_once(running, signal.SIGTERM)


async def test_a_start_whose_own_database_hangs_ends_when_asked(tmp_path: Path) -> None:
    program = tmp_path / "packages" / "fiftyone" / "db" / "bin" / "mongod"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    env = environment("", tmp_path / "data") | {"PYTHONPATH": str(tmp_path / "packages")}
    async with server_process(env, tmp_path / "process") as running:
        await listening(running)
        await ends_at_once(running, signal.SIGTERM)
