"""Counts and hashes of collections: those in a manifest, and those of a restored database to compare with them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from config.database.raw_documents import RawDatabase, RawDocument
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.progress import Progress


class Tally:
    """The count, size and hash of the documents of one collection, in the order of their ids."""

    def __init__(self) -> None:
        self.documents = self.bytes = 0
        self._hash = hashlib.sha256()

    def add(self, page: Sequence[RawDocument]) -> int:
        """Count a page, and return its bytes."""
        data = b"".join(page)
        self.documents += len(page)
        self.bytes += len(data)
        self._hash.update(data)
        return len(data)

    def as_json(self) -> dict[str, Any]:
        """Return the tally in the form that a manifest holds."""
        return {"documents": self.documents, "bytes": self.bytes, "sha256": self._hash.hexdigest()}


async def compare(database: RawDatabase, collections: Mapping[str, Mapping[str, Any]], progress: Progress) -> None:
    """Read the collections back. Raises `BackupError` if one differs from the manifest."""
    for name, wanted in collections.items():
        tally = Tally()
        async for page in database.pages(name):
            progress.add(tally.add(page), len(page))
        found = tally.as_json()
        if found != wanted:
            raise BackupError(
                f"The restored collection {name} differs from the backup: {found['documents']:,} documents of "
                f"{found['bytes']:,} bytes, where it has {wanted['documents']:,} of {wanted['bytes']:,}."
            )
