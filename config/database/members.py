"""Members of a replica set: whether a MongoDB is one, which the service requires, and reads from secondaries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError
from pymongo.uri_parser import parse_uri

from config.database.commands import Document

_ASK_MS = 2000
_NO_SET = (
    "The MongoDB of TRADEWIND_MONGODB_URI is no replica set: start mongod with --replSet, then run rs.initiate() once "
    "(transactions and change streams need a replica set; one member will do)."
)
_NOT_INITIATED = "The MongoDB of TRADEWIND_MONGODB_URI has a replica set without members: run rs.initiate() once."


def missing_set(hello: Document) -> str | None:
    """Return why the server of this reply to `hello` is no replica set, as a sentence; None for a member or mongos."""
    if "setName" in hello or hello.get("msg") == "isdbgrid":
        return None
    return _NOT_INITIATED if hello.get("isreplicaset") else _NO_SET


async def missing_set_at(uri: str) -> str | None:
    """Return why no driver finds a primary at `uri`, in a sentence, by the reply of its first host to `hello`.

    Returns None if the host does not reply or shows no reason, or if the scheme of `uri` is not `mongodb://`. Connects
    without authentication, as a set that was not initiated has no users.
    """
    parsed = parse_uri(uri) if uri.startswith("mongodb://") else None
    if parsed is None:
        return None
    host, port = parsed["nodelist"][0]
    options = {name: value for name, value in parsed["options"].items() if name.lower().startswith("tls")}
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        host,
        port,
        directConnection=True,
        serverSelectionTimeoutMS=_ASK_MS,
        connectTimeoutMS=_ASK_MS,
        socketTimeoutMS=_ASK_MS,
        **options,
    )
    async with client:
        try:
            hello = await client.admin.command("hello")
        except PyMongoError:
            return None
    wanted, named = parsed["options"].get("replicaSet"), hello.get("setName")
    if wanted and named and wanted != named:
        return f"The MongoDB of TRADEWIND_MONGODB_URI is of the replica set {named}; the address says {wanted}."
    primary = hello.get("primary")
    if primary and primary not in [f"{host}:{port}" for host, port in parsed["nodelist"]]:
        return (
            f"The replica set {named} calls its primary {primary}, and nothing responds there from this machine: "
            "make that name known here, or give the members names that everybody can reach (rs.reconfig)."
        )
    return missing_set(hello)


_spread: ContextVar[bool] = ContextVar("spread reads", default=False)


@contextmanager
def reading_from_secondaries() -> Iterator[None]:
    """Let the aggregations of the block read from a secondary. The data they read are no older than their start."""
    token = _spread.set(True)
    try:
        yield
    finally:
        _spread.reset(token)


def may_read_from_secondaries() -> bool:
    """Return whether the caller runs in a block of `reading_from_secondaries`."""
    return _spread.get()
