"""A backup that no database was read for: of any size, in a moment."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from bson import Timestamp, encode

from config.version import VERSION
from plugins.commands.backups.archive import ArchiveWriter
from plugins.commands.backups.encryption import Output, encrypting
from plugins.commands.backups.keys import Key
from plugins.commands.backups.pieces import described_moment

_DOCUMENTS, _BYTES = 100, 10_000
DESCRIBED = {"options": {}, "indexes": [], "uuid": uuid4().bytes}


@contextmanager
def writing(output: BinaryIO, version: str = VERSION) -> Iterator[ArchiveWriter]:
    """Begin a backup, which gets its end after the block."""
    manifest = {
        "version": version,
        "database": "large",
        "moment": described_moment(Timestamp(1_700_000_000, 1)),
        "collections": {},
    }
    with tempfile.TemporaryFile() as hashes:
        archive = ArchiveWriter(output, hashes, manifest, b"")
        yield archive
        archive.finish({"count": 0})


def write_backup(path: Path, megabytes: int, key: str = "") -> None:
    """Write a backup with one collection of documents that cannot be compressed."""
    pages = megabytes * 1_000_000 // (_BYTES * _DOCUMENTS)
    size = len(encode({"_id": 0, "bytes": bytes(_BYTES)})) * pages * _DOCUMENTS
    with ExitStack() as stack:
        output: Any = stack.enter_context(path.open("wb"))
        if key:
            output = stack.enter_context(encrypting(Output(output), Key(key)))
        archive = stack.enter_context(writing(output))
        member = stack.enter_context(archive.collection("large_things", DESCRIBED, size))
        for at in range(pages * _DOCUMENTS):
            member.write(encode({"_id": at, "bytes": os.urandom(_BYTES)}))
