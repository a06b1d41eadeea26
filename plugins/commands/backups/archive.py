"""The format of a backup: one file of pieces, which is written and read as a stream.

A piece consists of its kind, its packing, its length, its bytes, and a hash that chains it to the previous piece. This
detects a byte that differs, a piece that is missing, repeated or moved, and a file that is cut off. The first piece is
the header, which is readable without the key; the last one is the manifest.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, BinaryIO

from bson import Timestamp

from config.version import VERSION
from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.sealing import Seal

FORMAT = 1
MAGIC = b"tradewind backup\n"
_HEAD = struct.Struct(">ccI")
_HASH_BYTES = 16
_RAW, _PACKED = b"r", b"z"
_LEVEL = 1  # higher levels take several times the processor time to save another tenth of the size
_SAMPLE, _WORTH = 16 << 10, 0.9
_LARGEST_PIECE = 33 << 20  # a document has 16 MiB at most


class Kind(Enum):
    """The kind of content that a piece holds."""

    HEADER = b"H"
    SETTINGS = b"S"
    COLLECTION = b"C"
    DOCUMENTS = b"D"
    CHANGES = b"E"
    FILE = b"F"
    BYTES = b"B"
    MANIFEST = b"M"


class ArchiveWriter:
    """Writes a backup to `output`; with a `seal`, all pieces except the header are encrypted."""

    def __init__(self, output: BinaryIO, header: Mapping[str, Any], seal: Seal | None) -> None:
        self._output = output
        self._chain, self._number, self._seal = MAGIC, 0, None
        output.write(MAGIC)
        self.size = len(MAGIC)
        encryption = seal.described if seal is not None else None
        self.describe(Kind.HEADER, {"format": FORMAT, "version": VERSION, **header, "encryption": encryption})
        self._seal = seal

    def describe(self, kind: Kind, value: Mapping[str, Any]) -> None:
        """Write a piece whose content is JSON."""
        self.write(kind, json.dumps(value).encode())

    def write(self, kind: Kind, data: bytes) -> None:
        """Write a piece, compressed if that makes it smaller."""
        packing, body = _pack(data)
        if self._seal is not None:
            body = self._seal.close(self._number, body, self._chain + kind.value + packing)
        head = _HEAD.pack(kind.value, packing, len(body))
        self._chain = _hash(self._chain, head, body)
        self._number += 1
        for part in (head, body, self._chain):
            self._output.write(part)
        self.size += len(head) + len(body) + len(self._chain)


class ArchiveReader:
    """Reads and checks a backup from `source`, which error messages call `name`. Every fault raises `BackupError`.

    If `secret` is None, only the header can be read. With a secret, a backup without encryption is refused, because
    whoever can write where backups lie could have made it; `unencrypted` accepts it all the same.
    """

    def __init__(self, source: BinaryIO, name: str, secret: str | None, *, unencrypted: bool = False) -> None:
        self._source, self._name, self._unencrypted = source, name, unencrypted
        self._chain, self._number, self._at = MAGIC, 0, len(MAGIC)
        self._seal: Seal | None = None
        self.settings: dict[str, str] = {}  # filled once the piece with the settings has been read
        if source.read(len(MAGIC)) != MAGIC:
            raise BackupError(f"{name} is no backup of Tradewind.")
        kind, data = self._next()
        self.header = self.parse(data) if kind is Kind.HEADER else {}
        self._check_version()
        self._seal = self._open_seal(secret) if secret is not None else None

    def __iter__(self) -> Iterator[tuple[Kind, bytes]]:
        """Iterate over the pieces after the header, up to and including the manifest, which must be the last."""
        kind = Kind.HEADER
        while kind is not Kind.MANIFEST:
            kind, data = self._next()
            if kind is Kind.SETTINGS:
                self.settings = self.parse(data)
            yield kind, data
        if self._source.read(1):
            raise BackupError(f"{self._name} is damaged: something follows behind its end.")

    def parse(self, data: bytes) -> dict[str, Any]:
        """Return the content of a piece that is JSON."""
        try:
            value: dict[str, Any] = json.loads(data)
        except ValueError as error:
            raise self.damaged() from error
        return value

    def damaged(self) -> BackupError:
        """Return the error for a piece that is not as it was written."""
        return BackupError(f"{self._name} is damaged before byte {self._at:,}.")

    def _next(self) -> tuple[Kind, bytes]:
        head = self._read(_HEAD.size)
        kind, packing, length = _HEAD.unpack(head)
        if length > _LARGEST_PIECE:
            raise self.damaged()
        body = self._read(length)
        before, self._chain = self._chain, _hash(self._chain, head, body)
        if self._read(_HASH_BYTES) != self._chain:
            raise self.damaged()
        data = body if self._seal is None else self._seal.open(self._number, body, before + kind + packing)
        self._number += 1
        if data is None:
            raise self.damaged()
        try:
            return Kind(kind), _unpack(packing, data)
        except (ValueError, zlib.error) as error:
            raise self.damaged() from error

    def _read(self, length: int) -> bytes:
        data = self._source.read(length)
        self._at += len(data)
        if len(data) < length:
            raise BackupError(f"{self._name} is incomplete: it was cut off, or is damaged, before byte {self._at:,}.")
        return data

    def _check_version(self) -> None:
        header = self.header
        if not isinstance(header.get("format"), int) or not isinstance(header.get("version"), str):
            raise self.damaged()
        if header["format"] > FORMAT or _numbers(header["version"]) > _numbers(VERSION):
            raise BackupError(
                f"{self._name} was made by Tradewind {header['version']}, which is newer than this one, {VERSION}: "
                "restore it with that version."
            )

    def _open_seal(self, secret: str) -> Seal | None:
        described = self.header.get("encryption")
        if described is None:
            if secret and not self._unencrypted:
                raise BackupError(
                    f"{self._name} is not encrypted although there is a key, so anybody may have made it: "
                    "with --unencrypted it is read all the same."
                )
            return None
        if not secret:
            raise BackupError(f"{self._name} is encrypted: give its key, as TRADEWIND_BACKUP_KEY or by --key-file.")
        seal = Seal.of(secret, described)
        if seal is None:
            raise BackupError(f"{self._name} was encrypted with another key than this one.")
        return seal


def moment_of(described: Mapping[str, Any]) -> Timestamp:
    """Return the moment that a header or a manifest describes."""
    return Timestamp(described["seconds"], described["increment"])


def described_moment(moment: Timestamp) -> dict[str, Any]:
    """Return a moment in the form that headers and manifests hold."""
    at = datetime.fromtimestamp(moment.time, UTC).isoformat().replace("+00:00", "Z")
    return {"at": at, "seconds": moment.time, "increment": moment.inc}


def _pack(data: bytes) -> tuple[bytes, bytes]:
    """Compress `data`, unless a sample shows that compression gains too little, as with images."""
    sample = data[:_SAMPLE]
    if len(zlib.compress(sample, _LEVEL)) > _WORTH * len(sample):
        return _RAW, data
    return _PACKED, zlib.compress(data, _LEVEL)


def _unpack(packing: bytes, data: bytes) -> bytes:
    if packing == _RAW:
        return data
    if packing != _PACKED:
        raise ValueError("unknown packing")
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, _LARGEST_PIECE)
    if not unpacker.eof:
        raise ValueError("larger than any piece")
    return unpacked


def _hash(chain: bytes, head: bytes, body: bytes) -> bytes:
    hashed = hashlib.blake2b(chain, digest_size=_HASH_BYTES)
    hashed.update(head)
    hashed.update(body)
    return hashed.digest()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
