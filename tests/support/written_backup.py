"""A backup that no database was read for: of any size, in a moment."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from bson import Timestamp, encode

from config.version import VERSION
from plugins.commands.backups.archive import ArchiveWriter
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


def write_backup(path: Path, megabytes: int) -> None:
    """Write a backup with one collection of documents that cannot be compressed."""
    pages = megabytes * 1_000_000 // (_BYTES * _DOCUMENTS)
    size = len(encode({"_id": 0, "bytes": bytes(_BYTES)})) * pages * _DOCUMENTS
    with (
        path.open("wb") as output,
        writing(output) as archive,
        archive.collection("large_things", DESCRIBED, size) as to,
    ):
        for at in range(pages * _DOCUMENTS):
            to.write(encode({"_id": at, "bytes": os.urandom(_BYTES)}))
