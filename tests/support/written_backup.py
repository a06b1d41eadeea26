"""A backup that no database was read for: of any size, in a moment."""

from __future__ import annotations

import os
from pathlib import Path

from bson import Timestamp, encode

from config.database.raw_documents import RawDocument
from plugins.commands.backups.archive import ArchiveWriter, Kind, described_moment
from plugins.commands.backups.tally import Tally

_DOCUMENTS, _BYTES = 100, 10_000


def write_backup(path: Path, megabytes: int) -> None:
    """Write a backup with one collection of documents that cannot be compressed."""
    about = {"database": "large", "moment": described_moment(Timestamp(1_700_000_000, 1))}
    with path.open("wb") as output:
        archive, tally = ArchiveWriter(output, about, None), Tally()
        archive.describe(Kind.SETTINGS, {})
        archive.describe(Kind.COLLECTION, {"name": "large_things"})
        for first in range(0, megabytes * 1_000_000 // _BYTES, _DOCUMENTS):
            page: list[RawDocument] = [
                encode({"_id": first + at, "bytes": os.urandom(_BYTES)}) for at in range(_DOCUMENTS)
            ]
            archive.write(Kind.DOCUMENTS, tally.add(page))
        files = {"count": 0, "missing": 0, "missing_keys": [], "damaged": 0, "damaged_keys": []}
        archive.describe(Kind.MANIFEST, {**about, "collections": {"large_things": tally.as_json()}, "files": files})
