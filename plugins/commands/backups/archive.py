"""The format of a backup: a tar, compressed by gzip, that `tar`, `sha256sum`, `mongorestore` and `age` read as well.

    manifest.json                              version, database, moment, documents and bytes of the collections
    settings.env
    dump/DATABASE/COLLECTION.metadata.json     options and indexes, as `mongodump` writes them
    dump/DATABASE/COLLECTION.bson              its documents
    files/VISIBILITY/KEY                       the stored files
    files.json                                 how many they are, and which are missing or damaged
    SHA256SUMS                                 hashes of everything before it

With a key it is encrypted in the age format. It is written and read as a stream. The stored files are not compressed once
more: they are a gzip member of their own.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Any, BinaryIO, Protocol, Self
from urllib.parse import quote

import pyrage
from bson.json_util import CANONICAL_JSON_OPTIONS, dumps, loads

from plugins.commands.backups.encryption import decrypting
from plugins.commands.backups.kept_settings import parse_settings
from plugins.commands.backups.keys import Key
from plugins.commands.backups.pieces import BLOCK_BYTES, LARGEST, Backup, Collection, File, Piece
from plugins.commands.backups.progress import BackupError
from plugins.files.names import KEY
from plugins.files.records import VISIBILITIES

FORMAT = 2
GZIP_MAGIC = b"\x1f\x8b"
_PACKED = 1  # higher levels take several times the processor time to save another tenth of the size
_AS_IT_IS = 0
_MANIFEST, _SETTINGS, _FILES, _SUMS = "manifest.json", "settings.env", "files.json", "SHA256SUMS"
_METADATA, _BSON = ".metadata.json", ".bson"
_FAULTS = (OSError, zlib.error, tarfile.TarError, ValueError, KeyError, TypeError, pyrage.DecryptError)


class Target(Protocol):
    """What an archive is written to."""

    def write(self, data: bytes, /) -> object:
        """Write all of `data`."""

    def flush(self) -> object:
        """Write what is still in a buffer."""


class Member:
    """A member of the archive that is being written."""

    def __init__(self, output: gzip.GzipFile, size: int) -> None:
        self._output = output
        self._hash = hashlib.sha256()
        self.left = size

    def write(self, data: bytes) -> None:
        """Write the next part of the content."""
        self._output.write(data)
        self._hash.update(data)
        self.left -= len(data)

    @property
    def sha256(self) -> str:
        """The hash of what was written so far."""
        return self._hash.hexdigest()


class ArchiveWriter:
    """Writes a backup to `output`; `spool` takes the list of hashes until the end."""

    def __init__(self, output: Target, spool: BinaryIO, manifest: Mapping[str, Any], settings: bytes) -> None:
        self._target, self._level = output, _PACKED
        self._output = gzip.GzipFile(fileobj=output, mode="wb", compresslevel=_PACKED)
        self._spool = spool
        self._folder = f"dump/{manifest['database']}"
        self._mtime = int(manifest["moment"]["seconds"])
        self._add(_MANIFEST, json.dumps({"format": FORMAT, **manifest}, indent=1).encode())
        self._add(_SETTINGS, settings)

    def collection(self, name: str, described: Mapping[str, Any], size: int) -> AbstractContextManager[Member]:
        """Add a collection that RawDatabase has described; the block writes its documents, of so many bytes."""
        metadata = {
            "options": described["options"],
            "indexes": described["indexes"],
            "uuid": described["uuid"].hex(),
            "collectionName": name,
            "type": "collection",
        }
        path = f"{self._folder}/{_escaped(name)}"
        self._add(path + _METADATA, dumps(metadata, json_options=CANONICAL_JSON_OPTIONS).encode())
        return self._member(path + _BSON, size)

    def file(self, visibility: str, key: str, size: int) -> AbstractContextManager[Member]:
        """Add a stored file; the block writes its content."""
        if self._level != _AS_IT_IS:
            self._change_level(_AS_IT_IS)
        return self._member(f"files/{visibility}/{key}", size)

    def finish(self, files: Mapping[str, Any]) -> None:
        """Write what is to say about the files, the hashes and the end."""
        self._change_level(_PACKED)
        self._add(_FILES, json.dumps(files).encode())
        self._header(_SUMS, self._spool.tell())
        self._spool.seek(0)
        while data := self._spool.read(BLOCK_BYTES):
            self._output.write(data)
        self._pad(self._spool.tell())
        self._output.write(bytes(2 * tarfile.BLOCKSIZE))
        self._output.close()

    def _change_level(self, level: int) -> None:
        self._output.close()
        self._output = gzip.GzipFile(fileobj=self._target, mode="wb", compresslevel=level)
        self._level = level

    def _add(self, path: str, data: bytes) -> None:
        with self._member(path, len(data)) as member:
            member.write(data)

    @contextmanager
    def _member(self, path: str, size: int) -> Iterator[Member]:
        self._header(path, size)
        member = Member(self._output, size)
        yield member
        if member.left:
            raise BackupError(f"{path} has {-member.left:+,} bytes more than MongoDB counted before.")
        self._pad(size)
        self._spool.write(f"{member.sha256}  {path}\n".encode())

    def _header(self, path: str, size: int) -> None:
        info = tarfile.TarInfo(path)
        info.size, info.mode, info.mtime = size, 0o600, self._mtime
        self._output.write(info.tobuf(tarfile.PAX_FORMAT))

    def _pad(self, size: int) -> None:
        self._output.write(bytes(-size % tarfile.BLOCKSIZE))


class Archive(Backup):
    """A backup in that format, which has to be encrypted if there is a key."""

    def __init__(self, source: BinaryIO, name: str, key: Key | None) -> None:
        super().__init__(source, name)
        self._key = key

    def __iter__(self) -> Generator[Piece, None, None]:
        """Iterate over the pieces of which it consists."""
        self.source.seek(0)
        try:
            with self._decrypted() as stream, gzip.GzipFile(fileobj=stream) as unpacked:
                yield from _Reading(self).pieces(unpacked)
                while unpacked.read(BLOCK_BYTES):  # up to the end that proves that all is there
                    pass
        except EOFError as error:
            raise self.incomplete() from error
        except _FAULTS as error:
            raise self.damaged() from error

    @contextmanager
    def _decrypted(self) -> Iterator[BinaryIO]:
        if self._key is None:
            yield self.source
        else:
            with decrypting(self.source, self._key, self.name) as stream:
                yield stream


class _Member(tarfile.TarInfo):
    """The header of a member: of a file, or of its long name or size, which `tarfile` reads as a whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return the header in these bytes. Raises `BackupError` for a link, a device, a folder or a long extension."""
        member = super().frombuf(buf, encoding, errors)
        if member.type != tarfile.REGTYPE and not (member.type == tarfile.XHDTYPE and member.size < BLOCK_BYTES):
            raise BackupError(
                f"The backup has {member.name}, which is none that Tradewind stores, but a link or the like."
            )
        return member


class _Reading:
    """One reading of an archive."""

    def __init__(self, backup: Archive) -> None:
        self._backup = backup
        self._sums = hashlib.sha256()
        self._manifest: dict[str, Any] = {}
        self._collections: dict[str, dict[str, Any]] = {}
        self._collection = ""
        self._files: dict[str, Any] = {}

    def pieces(self, stream: gzip.GzipFile) -> Iterator[Piece]:
        """Iterate over the pieces of all members."""
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as opened:
            tar: Any = opened
            while (member := tar.next()) is not None:
                hashed = hashlib.sha256()
                blocks = _blocks(tar.extractfile(member), hashed)
                if member.name == _SUMS:
                    return self._end(tar, blocks, hashed)
                yield from self._member(member, blocks, hashed)
                self._sums.update(f"{hashed.hexdigest()}  {member.name}\n".encode())
                tar.members.clear()  # there may be millions
        raise EOFError

    def _member(self, member: tarfile.TarInfo, blocks: Iterator[bytes], hashed: Any) -> Iterator[Piece]:
        folder, _, name = member.name.rpartition("/")
        kind, _, visibility = folder.partition("/")
        if not self._manifest:
            self._begin(_whole(member, blocks) if member.name == _MANIFEST else b"")
        elif member.name == _SETTINGS:
            self._backup.settings = parse_settings(_whole(member, blocks).decode())
        elif folder == f"dump/{self._manifest['database']}" and name.endswith(_METADATA):
            metadata = loads(_whole(member, blocks), json_options=CANONICAL_JSON_OPTIONS)
            self._collection = metadata["collectionName"]
            yield Collection(self._collection, metadata["options"])
        elif folder == f"dump/{self._manifest['database']}" and name == _escaped(self._collection) + _BSON:
            yield from self._documents(member, blocks, hashed)
        elif kind == "files" and visibility in VISIBILITIES and KEY.fullmatch(name):
            yield File(name)
            yield from blocks
        elif member.name == _FILES:
            self._files = self._backup.parse(_whole(member, blocks))
        else:
            raise BackupError(f"{self._backup.name} has {member.name}, which is none that Tradewind stores.")

    def _begin(self, data: bytes) -> None:
        self._manifest = self._backup.parse(data)
        self._backup.check_version(self._manifest, FORMAT)
        _ = self._manifest["database"], self._manifest["moment"]["at"], self._manifest["collections"]

    def _documents(self, member: tarfile.TarInfo, blocks: Iterator[bytes], hashed: Any) -> Iterator[Piece]:
        rest, count = b"", 0
        for block in blocks:
            documents, rest = self._backup.split(rest + block)
            count += len(documents)
            yield documents
        if rest:
            raise self._backup.damaged()
        tally = {"documents": count, "bytes": member.size, "sha256": hashed.hexdigest()}
        self._collections[self._collection] = tally

    def _end(self, tar: Any, blocks: Iterator[bytes], hashed: Any) -> None:
        for _ in blocks:
            pass
        if hashed.digest() != self._sums.digest() or tar.next() is not None:
            raise self._backup.damaged()
        self._backup.manifest = {**self._manifest, "collections": self._collections, "files": self._files}


def _escaped(collection: str) -> str:
    """Return a name that file systems take; `mongorestore` reads it."""
    if not collection:
        raise ValueError("documents without a collection")
    return quote(collection, safe="")


def _blocks(content: IO[bytes], hashed: Any) -> Iterator[bytes]:
    while data := content.read(BLOCK_BYTES):
        hashed.update(data)
        yield data


def _whole(member: tarfile.TarInfo, blocks: Iterator[bytes]) -> bytes:
    if member.size > LARGEST:
        raise ValueError("larger than anything that is read as a whole")
    return b"".join(blocks)
