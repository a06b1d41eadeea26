"""Make a `mongod` a one-member replica set, and keep the set right at later starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient, WriteConcern
from pymongo.errors import PyMongoError

from config.embedded.diagnosis import EmbeddedError
from config.embedded.folder import Folder, until
from config.embedded.mongod import HOST, REPLICA_SET

OPERATION_MS = 10_000

Client = MongoClient[dict[str, Any]]


def move_member(folder: Folder, port: int) -> bool:
    """Make the stored set name today's port. True where it named another, and so where `mongod` must start again.

    A reconfiguration would have to wait until `mongod` has asked the owner of the old port who it is, which takes
    30 seconds if that one never answers.
    """
    with as_member(folder, port) as client:
        stored = client.local.get_collection("system.replset", write_concern=WriteConcern(w=1, j=True))
        config = stored.find_one()
        if config is None or config["members"][0]["host"] == _member(port):
            return False
        stored.update_one({}, {"$set": {"members.0.host": _member(port)}, "$inc": {"version": 1}})
        return True


def make_ready(folder: Folder, port: int, deadline: float) -> None:
    """Bring the `mongod` on `port` to take writes. Raises EmbeddedError."""
    with as_member(folder, port) as client:
        if client.local.get_collection("system.replset").find_one() is None:
            members = [{"_id": 0, "host": _member(port)}]
            client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": members})
        if not until(lambda: bool(client.admin.command("hello")["isWritablePrimary"]), deadline):
            raise EmbeddedError(f"mongod runs, but its replica set has no primary; its log is {folder.log}.")


def address(port: int) -> str:
    """Where the set is, as a uri has it behind the user."""
    return f"{_member(port)}/?replicaSet={REPLICA_SET}"


def _member(port: int) -> str:
    return f"{HOST}:{port}"


@contextmanager
def as_member(folder: Folder, port: int) -> Iterator[Client]:
    """Sign in as the members of a set do among each other, with the key: that works in any state of the set."""
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
