"""How a backup is going: its progress, its errors, and what it counted."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections.abc import Awaitable, Mapping
from typing import Any

from bson import Timestamp

from config.database.raw_documents import RawDatabase


class BackupError(Exception):
    """A backup cannot be made or restored; the message is one sentence for the person at the terminal."""


_QUIET_SECONDS = 2.0
_LINE_SECONDS = 10.0  # into a log file, where each line stays
_LOOK_SECONDS = 0.5


class Progress:
    """The progress so far; `title` names the work, `total` is the number of documents, if it is known."""

    def __init__(self, title: str, total: int = 0) -> None:
        self._title = title
        self._total = total
        self._begun = self._told = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._has_line = False
        self.documents = self.files = self.bytes = 0

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._begun

    def add(self, size: int, documents: int = 0, files: int = 0) -> None:
        """Count finished work, and show the progress from time to time."""
        self.documents += documents
        self.files += files
        self.bytes += size
        self._report_sometimes()

    async def during(self, work: Awaitable[None]) -> None:
        """Wait for work that cannot report its progress, showing the time that has passed."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
                self._report_sometimes()
        finally:
            task.cancel()
            self.end()
        task.result()

    def _report_sometimes(self) -> None:
        now = time.monotonic()
        pause = _LINE_SECONDS if self._has_line and not self._is_terminal else _QUIET_SECONDS
        if now - self._told >= pause:
            self._told, self._has_line = now, True
            self._tell()

    def end(self) -> None:
        """End the line on a terminal."""
        if self._has_line and self._is_terminal:
            sys.stderr.write("\n")

    def _tell(self) -> None:
        of = f" of about {self._total:,}" if self._total else ""
        counted = f"{self.documents:,}{of} documents, {self.files:,} files, {self.bytes / 1e6:,.0f} MB, "
        start, stop = ("\r", " ") if self._is_terminal else ("", "\n")
        sys.stderr.write(f"{start}{self._title}: {counted if self.bytes else ''}{self.seconds:.0f} s{stop}")
        sys.stderr.flush()


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
