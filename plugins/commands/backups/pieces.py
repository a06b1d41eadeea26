"""What a backup consists of, whatever the format of its file: a reader yields these pieces in order, and checks them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

from bson import Timestamp

from config.version import VERSION
from plugins.commands.backups.progress import BackupError, Progress

BLOCK_BYTES = 1 << 20
LARGEST = 17 << 20  # bytes of a document, which MongoDB limits to 16 MiB and a little for its own use
_LEAST_DOCUMENT = 5  # bytes: MongoDB's empty document


@dataclass(frozen=True)
class Collection:
    """The documents that follow are of this collection."""

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class File:
    """The content that follows is of the stored file with this key."""

    key: str


Piece = Collection | list[bytes] | File | bytes  # a list of documents, each as BSON; bytes are of the file


class Backup(ABC):
    """A backup in `source`, which error messages call `name`. Whatever is wrong with it raises `BackupError`.

    `manifest` and `settings` are filled in by an iteration over all pieces, as `check` does one.
    """

    def __init__(self, source: BinaryIO, name: str) -> None:
        self.source = source
        self.name = name
        self.manifest: dict[str, Any] = {}
        self.settings: dict[str, str] = {}

    @abstractmethod
    def __iter__(self) -> Generator[Piece, None, None]:
        """Iterate over the pieces from the beginning, and check every byte up to the end."""

    def check(self) -> dict[str, Any]:
        """Read everything, and return the manifest."""
        progress = Progress("Check")
        try:
            for piece in self:
                if isinstance(piece, list):
                    progress.add(sum(map(len, piece)), len(piece))
                elif isinstance(piece, bytes):
                    progress.add(len(piece))
        finally:
            progress.end()
        return self.manifest

    def parse(self, data: bytes) -> dict[str, Any]:
        """Return an object in JSON."""
        try:
            value = json.loads(data)
        except ValueError as error:
            raise self.damaged() from error
        if not isinstance(value, dict):
            raise self.damaged()
        return value

    def check_version(self, manifest: Mapping[str, Any], newest_format: int) -> None:
        """Refuse the backup of a newer version."""
        if not isinstance(manifest.get("format"), int) or not isinstance(manifest.get("version"), str):
            raise self.damaged()
        if manifest["format"] > newest_format or _numbers(manifest["version"]) > _numbers(VERSION):
            raise BackupError(
                f"{self.name} was made by Tradewind {manifest['version']}, which is newer than this one, {VERSION}: "
                "restore it with that version."
            )

    def damaged(self) -> BackupError:
        """Return the error for bytes that are not as they were written."""
        return BackupError(f"{self.name} is damaged before byte {self.source.tell():,}.")

    def incomplete(self) -> BackupError:
        """Return the error for a file that ends too early."""
        return BackupError(
            f"{self.name} is incomplete: it was cut off, or is damaged, before byte {self.source.tell():,}."
        )

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        """Return the whole documents at the start of `data`, and the rest."""
        documents, at = [], 0
        while len(data) - at >= 4:
            size = int.from_bytes(data[at : at + 4], "little")
            if not _LEAST_DOCUMENT <= size <= LARGEST:
                raise self.damaged()
            if size > len(data) - at:
                break
            documents.append(data[at : at + size])
            at += size
        return documents, data[at:]


def described_moment(moment: Timestamp) -> dict[str, Any]:
    """Return a moment in the form that manifests hold: the time, and MongoDB's timestamp."""
    at = datetime.fromtimestamp(moment.time, UTC).isoformat().replace("+00:00", "Z")
    return {"at": at, "seconds": moment.time, "increment": moment.inc}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
