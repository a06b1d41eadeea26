"""What the embedded MongoDB is while it runs; how it is shared and ends: tests/experiments/embedded."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from config.embedded import Embedded, acquire
from config.embedded.folder import Folder

SMALL_CACHE = 0.25
SECRET = "for-the-server-alone"


def _supervisor_of(folder: Folder) -> int:
    return int(json.loads(folder.record.read_text())["pid"])


def _mongod_of(folder: Folder) -> int:
    return int((folder.database / "mongod.lock").read_text())


def _client(uri: str) -> MongoClient[dict[str, Any]]:
    return MongoClient[dict[str, Any]](uri, timeoutMS=10_000)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Embedded, Folder]]:
    folder = Folder(tmp_path_factory.mktemp("embedded") / "data")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TRADEWIND_JWT_SECRET", SECRET)
        embedded = acquire(folder.path, SMALL_CACHE)
    yield embedded, folder
    assert embedded.release_and_wait()
    shutil.rmtree(folder.path)


def test_transactions_work(running: tuple[Embedded, Folder]) -> None:
    with _client(running[0].uri) as client, client.start_session() as session:
        with session.start_transaction():
            client.trade.transactions.insert_one({"_id": 1}, session=session)
        assert client.trade.transactions.count_documents({}) == 1


def test_change_streams_work(running: tuple[Embedded, Folder]) -> None:
    with _client(running[0].uri) as client, client.trade.watched.watch() as changes:
        client.trade.watched.insert_one({"_id": 1})
        assert changes.next()["operationType"] == "insert"


def test_a_connection_without_the_password_is_refused(running: tuple[Embedded, Folder]) -> None:
    anonymous = running[0].uri.replace(running[0].uri.split("//")[1].split("@")[0] + "@", "")
    with _client(anonymous) as client, pytest.raises(OperationFailure, match="requires authentication"):
        client.trade.notes.find_one()


def test_compression_is_off(running: tuple[Embedded, Folder]) -> None:
    with _client(running[0].uri) as client:
        assert "compression" not in client.admin.command({"hello": 1, "compression": ["zlib", "snappy", "zstd"]})


def test_it_listens_on_loopback_only(running: tuple[Embedded, Folder]) -> None:
    with _client(running[0].uri) as client:
        options = client.admin.command("getCmdLineOpts")["parsed"]["net"]
    assert options["bindIp"] == "127.0.0.1"


def test_the_password_is_in_no_command_line_and_no_log(running: tuple[Embedded, Folder]) -> None:
    embedded, folder = running
    password = embedded.uri.split(":")[2].split("@")[0]
    seen = [Path(f"/proc/{pid}/cmdline").read_text() for pid in (_supervisor_of(folder), _mongod_of(folder))]
    seen += [folder.log.read_text(), folder.supervisor_log.read_text(), repr(embedded)]
    assert not [text for text in seen if password in text]


def test_files_with_secrets_are_for_their_owner_alone(running: tuple[Embedded, Folder]) -> None:
    _, folder = running
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder.key, folder.record)} == {0o600}


def test_the_servers_secrets_do_not_reach_the_database_processes(running: tuple[Embedded, Folder]) -> None:
    pids = (_supervisor_of(running[1]), _mongod_of(running[1]))
    assert not [pid for pid in pids if SECRET in Path(f"/proc/{pid}/environ").read_text()]


def test_ctrl_c_at_the_terminal_does_not_reach_the_database(running: tuple[Embedded, Folder]) -> None:
    pids = (_supervisor_of(running[1]), _mongod_of(running[1]))
    assert os.getsid(0) not in {os.getsid(pid) for pid in pids}
