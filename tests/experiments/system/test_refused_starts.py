"""A start that cannot succeed says so in one sentence, and ends with 1."""

from __future__ import annotations

import logging
import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from tornado.ioloop import IOLoop

import server
from config.database import open_driver
from config.settings import EXAMPLE_SECRET
from plugins.testing import eventually, unique
from tests.support.lone_mongod import lone_mongod, make_member
from tests.support.server_process import environment, server_process

NOWHERE = "mongodb://someone:hunter2@127.0.0.1:1/"


REFUSED = {
    "no secret": ({"JWT_SECRET": ""}, r"TRADEWIND_JWT_SECRET is not set"),
    "a short secret": (
        {"JWT_SECRET": "aB3-5678901234567890123456789-1"},
        r"TRADEWIND_JWT_SECRET is shorter than 32 bytes",
    ),
    "the example": ({"JWT_SECRET": EXAMPLE_SECRET}, r"TRADEWIND_JWT_SECRET is the documented example"),
    "few characters": (
        {"JWT_SECRET": "abcdefg" * 8},
        r"TRADEWIND_JWT_SECRET has fewer than eight different characters",
    ),
    "a pattern": ({"JWT_SECRET": "abcdefgh" * 8}, r"TRADEWIND_JWT_SECRET repeats itself or counts up"),
    "the password admin": ({"ADMIN_PASSWORD": "admin"}, r"TRADEWIND_ADMIN_PASSWORD is too easy to guess"),
    "the password of the manual": (
        {"ADMIN_PASSWORD": "Aa1-$(openssl rand -hex 12)"},
        r"TRADEWIND_ADMIN_PASSWORD is too easy to guess",
    ),
    "an old secret that is short": ({"JWT_OLD_SECRETS": "short"}, r"TRADEWIND_JWT_OLD_SECRETS"),
    "an unknown plugin": ({"PLUGINS": "auth,rbac,sales"}, r"Plugin sales is unknown"),
    "a plugin that is a path": ({"PLUGINS": "auth,rbac,../evil"}, r"Plugin \.\./evil is unknown"),
    "no plugin for log-in": ({"PLUGINS": "rbac"}, r"No plugin provides Authenticator"),
    "a port that is none": ({"PORT": "http"}, r"TRADEWIND_PORT: "),
    "an unknown driver": ({"MONGODB_DRIVER": "odbc"}, r"TRADEWIND_MONGODB_DRIVER: "),
    "no address of MongoDB": ({"MONGODB_URI": "http://127.0.0.1/"}, r"TRADEWIND_MONGODB_URI "),
    "a port that MongoDB cannot have": ({"MONGODB_URI": "mongodb://127.0.0.1:99999/"}, r"TRADEWIND_MONGODB_URI "),
    "an unknown time zone": ({"TIME_ZONE": "Mars/Olympus"}, r"TRADEWIND_TIME_ZONE: "),
    "a time zone that is a path": ({"TIME_ZONE": "../etc/passwd"}, r"TRADEWIND_TIME_ZONE: "),
    "no network": ({"TRUSTED_PROXIES": "127.0.0.1,proxy"}, r"TRADEWIND_TRUSTED_PROXIES: "),
    "no network of metrics": ({"METRICS_CLIENTS": "10.0.0.0/99"}, r"TRADEWIND_METRICS_CLIENTS: "),
    "a database name that is none": ({"MONGODB_DATABASE": "a/b"}, r"TRADEWIND_MONGODB_DATABASE: "),
    "a plugin's own setting": ({"BCRYPT_COST": "99"}, r"TRADEWIND_BCRYPT_COST: "),
    "a word for a number": ({"ACCESS_TOKEN_MINUTES": "soon"}, r"TRADEWIND_ACCESS_TOKEN_MINUTES: "),
}


Refusal = Callable[..., str]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Refusal]:
    """What `server.main` says, in this process, when it does not start with these settings."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def refuse(*arguments: str, uri: str = NOWHERE, **settings: str) -> str:
        env = environment(uri, tmp_path, **{"MONGODB_TIMEOUT_MS": "300", **settings})
        for name in [name for name in os.environ if name.startswith("TRADEWIND_")]:
            monkeypatch.delenv(name)
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        assert server.main(arguments) == 1
        printed = capsys.readouterr()
        assert '"ready"' not in printed.out
        return printed.err

    yield refuse
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(("settings", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_setting_that_cannot_be_is_reported_in_one_line(
    said: Refusal, mongodb_uri: str, settings: dict[str, str], sentence: str
) -> None:
    # a plugin's own settings are read once the database is reachable
    own = {"BCRYPT_COST", "ACCESS_TOKEN_MINUTES", "ADMIN_PASSWORD"} & set(settings)
    line = said(uri=mongodb_uri if own else NOWHERE, **settings)
    assert re.match(f"tradewind: {sentence}", line)
    assert line.count("\n") == 1


def test_a_setting_that_cannot_be_is_reported_without_its_value(said: Refusal) -> None:
    assert "hunter2" not in said(JWT_SECRET="hunter2-hunter2")


def test_a_port_of_another_program_is_reported_in_one_line(said: Refusal, mongodb_uri: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        line = said("--port", str(port), uri=mongodb_uri)
    assert line.startswith(f"tradewind: Cannot listen on 127.0.0.1 port {port}: ")
    assert line.count("\n") == 1


def test_a_database_that_does_not_respond_is_reported_in_one_line(said: Refusal) -> None:
    line = said()
    assert line == "tradewind: MongoDB does not respond: check TRADEWIND_MONGODB_URI and that the server runs.\n"


def test_a_wrong_database_password_is_reported_in_one_line(said: Refusal, mongodb_uri: str) -> None:
    line = said(uri=mongodb_uri.replace("@", "x@", 1))
    assert line == "tradewind: MongoDB refuses the user or the password in TRADEWIND_MONGODB_URI.\n"


def test_rows_that_a_unique_index_cannot_hold_are_reported_in_one_line(
    said: Refusal, io_loop: IOLoop, mongodb_uri: str
) -> None:
    name = unique("twins")
    driver = open_driver("pymongo", mongodb_uri, name, timeout_ms=30_000)
    twins = [{"_id": number, "username": "twin", "deleted": False} for number in (7, 8)]
    try:
        io_loop.run_sync(lambda: driver.insert("rbac_users", twins))
        line = said(uri=mongodb_uri, MONGODB_DATABASE=name, MONGODB_TIMEOUT_MS="5000", PLUGINS="auth,rbac")
    finally:
        io_loop.run_sync(lambda: driver.command({"dropDatabase": 1}))
        io_loop.run_sync(driver.close)
    assert line == (
        "tradewind: Records in the collection rbac_users have the same username, which must be unique: "
        "change or remove all but one of them, then start again.\n"
    )


# Databases that are no replica set, or another one


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a `mongod` without a replica set."""
    with lone_mongod(tmp_path_factory.mktemp("standalone") / "mongod") as uri:
        yield uri


@pytest.mark.parametrize("options", ["", "?directConnection=true", "?replicaSet=rs0"])
def test_a_standalone_mongodb_is_reported_in_one_line(said: Refusal, standalone: str, options: str) -> None:
    line = said(uri=standalone + options, MONGODB_TIMEOUT_MS="600")
    assert "is no replica set: start mongod with --replSet, then run rs.initiate() once" in line
    assert line.count("\n") == 1


def test_a_replica_set_without_members_or_with_one_that_cannot_be_reached_is_reported_in_one_line(
    said: Refusal, io_loop: IOLoop, tmp_path: Path
) -> None:
    hosts, name = tmp_path / "hosts", "db-1.invalid"
    hosts.write_text(f"127.0.0.1 localhost {name}\n")
    # a machine of its own as far as names go
    within = ("unshare", "-rm", "sh", "-ec", 'mount --bind "$0" /etc/hosts; exec "$@"', hosts)
    permitted = not subprocess.run((*within, "true"), capture_output=True, check=False).returncode
    with lone_mongod(tmp_path / "mongod", "--replSet", "rs0", within=within if permitted else ()) as uri:
        line = said(uri=uri, MONGODB_TIMEOUT_MS="600")
        assert "has a replica set without members: run rs.initiate() once" in line
        assert line.count("\n") == 1
        if not permitted:
            pytest.skip("`unshare -rm` is not permitted here")
        there = uri.strip("/").replace("mongodb://127.0.0.1", name)
        make_member(uri, there)

        async def is_primary() -> bool:
            with MongoClient[dict[str, Any]](uri, directConnection=True) as client:
                return bool(client.admin.command("hello")["isWritablePrimary"])

        io_loop.run_sync(lambda: eventually(is_primary, seconds=20))
        line = said(uri=f"{uri}?replicaSet=rs0", MONGODB_TIMEOUT_MS="600")
    assert f"calls its primary {there}, and nothing responds there" in line
    assert line.count("\n") == 1


def test_another_replica_set_than_the_address_says_is_reported_in_one_line(said: Refusal, mongodb_uri: str) -> None:
    line = said(uri=re.sub(r"replicaSet=\w+", "replicaSet=other", mongodb_uri), MONGODB_TIMEOUT_MS="600")
    assert line.endswith("; the address says other.\n")
    assert line.count("\n") == 1


# Data folders


def data_folders(folder: Path) -> dict[str, Path]:
    """Places that cannot be a data folder."""
    (folder / "file").write_text("")
    return {"a file": folder / "file", "below a file": folder / "file" / "data", "nowhere": Path("/proc/data")}


@pytest.mark.parametrize("place", ["a file", "below a file", "nowhere"])
@pytest.mark.parametrize("embedded", [True, False])
def test_a_data_folder_that_cannot_be_is_reported_in_one_line(
    said: Refusal, tmp_path: Path, mongodb_uri: str, place: str, embedded: bool
) -> None:
    folder = data_folders(tmp_path)[place]
    line = said(uri="" if embedded else mongodb_uri, DATA_DIR=str(folder), PLUGINS="auth,rbac,files")
    assert line.startswith(f"tradewind: Cannot use the data folder {folder} (")
    assert line.endswith("): make it writable, or set TRADEWIND_DATA_DIR.\n")
    assert line.count("\n") == 1


# In a process of its own


@pytest.mark.gen_test(timeout=40)
async def test_a_process_that_does_not_start_says_a_line_for_each_fault_and_ends_with_1(tmp_path: Path) -> None:
    env = environment("", tmp_path, JWT_SECRET="short", PORT="99999", MONGODB_DRIVER="odbc", LOG_LEVEL="LOUD")
    async with server_process(env, tmp_path) as running:
        assert await running.ended() == 1
        assert running.stdout == ""
        lines = running.stderr.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == [
        "TRADEWIND_PORT",
        "TRADEWIND_MONGODB_DRIVER",
        "TRADEWIND_LOG_LEVEL",
    ]
