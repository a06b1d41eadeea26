"""Opens an archive for reading, also one that an older version wrote."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Generator, Iterator
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from plugins.commands.backups import encryption
from plugins.commands.backups.archive import GZIP_MAGIC, Archive
from plugins.commands.backups.keys import Key
from plugins.commands.backups.pieces import Backup, Collection, File, Piece
from plugins.commands.backups.progress import BackupError

MAGIC = b"tradewind backup\n"
_FORMAT = 1
_HEAD = struct.Struct(">ccI")  # kind, packing, length
_HASH_BYTES, _NONCE_BYTES = 16, 12
_LARGEST_PIECE = 33 << 20
_HEADER, _SETTINGS, _COLLECTION, _DOCUMENTS, _FILE, _BYTES, _MANIFEST = b"H", b"S", b"C", b"D", b"F", b"B", b"M"


class OldArchive(Backup):
    """A backup in that format; its header is not encrypted."""

    def __init__(self, source: BinaryIO, name: str, key: Key | None) -> None:
        super().__init__(source, name)
        self._key = key

    @property
    def is_encrypted(self) -> bool:
        """Whether its pieces are encrypted. Raises `BackupError`."""
        self.source.seek(len(MAGIC))
        _, _, header = self._next(0, MAGIC, None)
        return self.parse(header).get("encryption") is not None

    def __iter__(self) -> Generator[Piece, None, None]:
        """Iterate over the pieces of which it consists."""
        self.source.seek(len(MAGIC))
        kind, chain, data = self._next(0, MAGIC, None)
        header = self.parse(data)
        self.check_version(header, _FORMAT)
        if kind != _HEADER:
            raise self.damaged()
        if "since" in header:
            raise BackupError(f"{self.name} has changes since a backup alone: restore it with Tradewind 0.2.")
        cipher = self._cipher(header["encryption"]) if header.get("encryption") else None
        number = 0
        while kind != _MANIFEST:
            number += 1
            kind, chain, data = self._next(number, chain, cipher)
            yield from self._pieces(kind, data)
        if self.source.read(1):
            raise self.damaged()
        self.manifest = {**header, **self.parse(data)}

    def _pieces(self, kind: bytes, data: bytes) -> Iterator[Piece]:
        if kind == _SETTINGS:
            self.settings = self.parse(data)
        elif kind == _COLLECTION:
            yield Collection(str(self.parse(data)["name"]), {})
        elif kind == _DOCUMENTS:
            documents, rest = self.split(data)
            if rest:
                raise self.damaged()
            yield documents
        elif kind == _FILE:
            yield File(str(self.parse(data)["key"]))
        elif kind == _BYTES:
            yield data

    def _next(self, number: int, chain: bytes, cipher: AESGCM | None) -> tuple[bytes, bytes, bytes]:
        """Return the kind of the next piece, its hash and its content."""
        head = self._read(_HEAD.size)
        kind, packing, length = _HEAD.unpack(head)
        if length > _LARGEST_PIECE:
            raise self.damaged()
        body = self._read(length)
        hashed = hashlib.blake2b(chain + head + body, digest_size=_HASH_BYTES).digest()
        if self._read(_HASH_BYTES) != hashed:
            raise self.damaged()
        try:
            if cipher is not None:
                body = cipher.decrypt(number.to_bytes(_NONCE_BYTES), body, chain + kind + packing)
            return kind, hashed, _unpacked(body) if packing == b"z" else body
        except (InvalidTag, ValueError, zlib.error) as error:
            raise self.damaged() from error

    def _read(self, length: int) -> bytes:
        data = self.source.read(length)
        if len(data) < length:
            raise self.incomplete()
        return data

    def _cipher(self, described: dict[str, Any]) -> AESGCM:
        secret = self._key.secret if self._key else ""
        key = Scrypt(bytes.fromhex(described["salt"]), 32, n=1 << 14, r=8, p=1).derive(secret.encode())
        if hashlib.sha256(b"fingerprint" + key).hexdigest()[:16] != described["fingerprint"]:
            raise BackupError(f"{self.name} was encrypted with another key than this one.")
        return AESGCM(key)


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, _LARGEST_PIECE)
    if not unpacker.eof:
        raise ValueError("larger than any piece")
    return unpacked


def open_backup(source: BinaryIO, name: str, key: Key | None, *, unencrypted: bool = False) -> Backup:
    """Return the backup in `source`, which error messages call `name`, before anything of it is checked.

    With a key, a backup without encryption is refused, because whoever can write where backups lie could have made it;
    `unencrypted` accepts it all the same. Raises `BackupError`.
    """
    start = source.read(len(encryption.MAGIC))
    backup: Backup
    if start.startswith(MAGIC):
        old = OldArchive(source, name, key)
        backup, is_encrypted = old, old.is_encrypted
    elif start.startswith((encryption.MAGIC, GZIP_MAGIC)):
        is_encrypted = start.startswith(encryption.MAGIC)
        backup = Archive(source, name, key if is_encrypted else None)
    else:
        raise BackupError(f"{name} is no backup of Tradewind.")
    if is_encrypted and key is None:
        raise BackupError(f"{name} is encrypted: give its key, as TRADEWIND_BACKUP_KEY or by --key-file.")
    if key is not None and not is_encrypted and not unencrypted:
        raise BackupError(
            f"{name} is not encrypted although there is a key, so anybody may have made it: "
            "with --unencrypted it is read all the same."
        )
    return backup
