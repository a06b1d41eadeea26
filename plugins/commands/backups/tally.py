"""Counts and hashes of collections: those of a restored database, to compare them with a manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from bson import Timestamp

from config.database.raw_documents import RawDatabase
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.progress import Progress


async def tally(
    database: RawDatabase, collection: str, progress: Progress, moment: Timestamp | None = None
) -> dict[str, Any]:
    """Return the count, the bytes and the hash of the documents in the order of their ids, as a manifest has them."""
    documents, size, hashed = 0, 0, hashlib.sha256()
    async for page in database.pages(collection, moment):
        data = b"".join(page)
        hashed.update(data)
        documents, size = documents + len(page), size + len(data)
        progress.add(len(data), len(page))
    return {"documents": documents, "bytes": size, "sha256": hashed.hexdigest()}


async def compare(database: RawDatabase, collections: Mapping[str, Mapping[str, Any]], progress: Progress) -> None:
    """Read the collections back. Raises `BackupError` if one differs from the manifest."""
    for name, wanted in collections.items():
        found = await tally(database, name, progress)
        if found != wanted:
            raise BackupError(
                f"The restored collection {name} differs from the backup: {found['documents']:,} documents of "
                f"{found['bytes']:,} bytes, where it has {wanted['documents']:,} of {wanted['bytes']:,}."
            )
