"""Makes a `mongod` a one-member replica set, corrects it at later starts, and keeps past states for a backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pymongo import MongoClient, WriteConcern
from pymongo.errors import PyMongoError

from config.embedded.diagnosis import EmbeddedError
from config.embedded.folder import Folder, Lock, until
from config.embedded.mongod import HOST, REPLICA_SET

OPERATION_MS = 10_000

Client = MongoClient[dict[str, Any]]


def move_member(folder: Folder, port: int) -> bool:
    """Write the current port into the stored set; return True if the port was different, so `mongod` must restart.

    A reconfiguration would have to wait until `mongod` has contacted the old port, which takes 30 seconds if nothing
    replies there.
    """
    with as_member(folder, port) as client:
        stored = client.local.get_collection("system.replset", write_concern=WriteConcern(w=1, j=True))
        config = stored.find_one()
        if config is None or config["members"][0]["host"] == _member(port):
            return False
        stored.update_one({}, {"$set": {"members.0.host": _member(port)}, "$inc": {"version": 1}})
        return True


def make_ready(folder: Folder, port: int, deadline: float) -> None:
    """Initiate the set if necessary and wait until the `mongod` on `port` accepts writes. Raises EmbeddedError."""
    with as_member(folder, port) as client:
        if client.local.get_collection("system.replset").find_one() is None:
            members = [{"_id": 0, "host": _member(port)}]
            client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": members})
        if not until(lambda: bool(client.admin.command("hello")["isWritablePrimary"]), deadline):
            raise EmbeddedError(f"mongod runs, but its replica set has no primary; its log is {folder.log}.")


def acknowledge_at_once(folder: Folder, port: int) -> None:
    """Let `mongod` acknowledge writes that are not in its journal yet; it may lose them if it is killed."""
    with as_member(folder, port) as client:
        config = client.admin.command("replSetGetConfig")["config"]
        changed = {"version": config["version"] + 1, "writeConcernMajorityJournalDefault": False}
        client.admin.command("replSetReconfig", {**config, **changed})
        # the change drops the snapshot of majority reads, which would wait up to ten seconds for the next write
        note = {"appendOplogNote": 1, "data": {"acknowledge": "at once"}, "writeConcern": {"w": "majority"}}
        client.admin.command(note)


def address(port: int) -> str:
    """Return the address of the set: the part of a URI after the user."""
    return f"{_member(port)}/?replicaSet={REPLICA_SET}"


def _member(port: int) -> str:
    return f"{HOST}:{port}"


@contextmanager
def as_member(folder: Folder, port: int) -> Iterator[Client]:
    """Connect with the key file, as the members of a set connect to each other: this works in any state of the set."""
    try:
        with _connect(port, "__system", folder.key.read_text(), "local") as client:
            yield client
    except PyMongoError as error:
        raise EmbeddedError(f"mongod does not become ready ({error}); its log is {folder.log}.") from error


def _connect(port: int, username: str, password: str, source: str) -> Client:
    return MongoClient(
        HOST,
        port,
        username=username,
        password=password,
        authSource=source,
        directConnection=True,
        timeoutMS=OPERATION_MS,
    )


_PARAMETER = "minSnapshotHistoryWindowInSeconds"
_SECONDS = 24 * 3600
_NONE = 0  # the value that `mongod` is started with; the reason is in mongod.py


@contextmanager
def snapshot_history(data_dir: Path) -> Iterator[None]:
    """Keep the history until the block ends; the caller has acquired the database. Raises EmbeddedError.

    A process that is killed leaves the history on, which costs disk space until the next backup or start of `mongod`.
    """
    folder = Folder(data_dir)
    lock = Lock(folder.path / "backup.lock")
    try:
        if not lock.try_exclusive():
            raise EmbeddedError(f"Another backup of the database in {folder.path} is running.")
        _keep(folder, _SECONDS)
        try:
            yield
        finally:
            _keep(folder, _NONE)
    finally:
        lock.close()


def _keep(folder: Folder, seconds: int) -> None:
    # late: importing the driver takes a fifth of a second

    record = folder.live_record()
    if record is not None:
        with as_member(folder, record.port) as client:
            client.admin.command({"setParameter": 1, _PARAMETER: seconds})
