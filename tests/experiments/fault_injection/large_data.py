"""A million customers and 10 GiB of files, written directly into the database and the storage."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from bson import ObjectId
from pymongo import MongoClient

from handlers.access.signatures import Signatures
from plugins.files.local import LocalStorage
from plugins.files.names import new_key
from plugins.files.records import OBJECTS
from plugins.files.storage import Label
from plugins.files.types import UNKNOWN

FILE_BYTES = 4 << 20
_AT_ONCE = 2000
_POOL_BYTES = 64 << 20


def copy_customers(uri: str, source: str, target: str, count: int) -> None:
    """Insert `count` copies of a customer of `source` into `target`, each with its own id, code and name."""
    with MongoClient[dict[str, Any]](uri) as client:
        pattern = client[source].crm_customers.find_one() or {}
        rows = (
            {**pattern, "_id": ObjectId(), "code": f"L{number:08}", "name": f"Customer {number}"}
            for number in range(count)
        )
        while batch := list(islice(rows, _AT_ONCE)):
            client[target].crm_customers.insert_many(batch, ordered=False)


def write_files(uri: str, database: str, folder: Path, total_bytes: int) -> int:
    """Store incompressible files of 4 MiB and their records, and return how many."""
    contents = _contents(max(1, total_bytes // FILE_BYTES))
    return asyncio.run(_write_files(uri, database, folder, contents))


async def _write_files(uri: str, database: str, folder: Path, contents: Iterator[bytes]) -> int:
    storage, count = LocalStorage(folder, Signatures(())), 0
    storage.prepare()
    with MongoClient[dict[str, Any]](uri) as client:
        for content in contents:
            key, now = new_key(datetime.now(UTC), ".bin"), datetime.now(UTC)
            label = Label(f"file {count}.bin", UNKNOWN)
            async with storage.writer(key, "private", label) as writer:
                await writer.write(content)
                etag = await writer.commit("private", label)
            record = {
                "_id": key,
                "visibility": "private",
                "name": label.name,
                "size": len(content),
                "content_type": UNKNOWN.media,
                "sha256": hashlib.sha256(content).hexdigest(),
                "etag": etag,
                "uploader_id": 1,
                "uploader_name": "admin",
                "attached": True,
                "state": "stored",
                "writer": None,
                "created_at": now,
            }
            client[database][OBJECTS.name].insert_one(record)
            count += 1
    return count


def _contents(count: int) -> Iterator[bytes]:
    """Yield different random contents: 32 bytes unique to each, followed by a different slice of one shared pool."""
    pool = os.urandom(_POOL_BYTES + FILE_BYTES)
    for number in range(count):
        own = os.urandom(32)
        at = (number * 4099) % _POOL_BYTES
        yield own + pool[at : at + FILE_BYTES - len(own)]
