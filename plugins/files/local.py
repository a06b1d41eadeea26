"""Files on a local disk: `<folder>/private/ab/<key>`, `<folder>/public/ab/<key>`, and `<folder>/arriving/<key>`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from plugins.api import NOT_FOUND, ApiError
from plugins.api.requests import Signatures
from plugins.files.names import check_key
from plugins.files.records import VISIBILITIES
from plugins.files.storage import Address, Label, Stat, Visibility, make_storage_error

Result = TypeVar("Result")
PUBLIC_AT = "/api/files/public"
_BLOCK = 64 << 10  # a slow download holds at most twice that in memory
UPLOAD_AT = "/api/upload/direct"
DOWNLOAD_AT = "/api/file/dl"


class LocalStorage:
    """The two buckets as folders. Several processes may share them. Disk work runs in threads."""

    def __init__(self, folder: Path, signatures: Signatures, base_url: str = "") -> None:
        self._folder = folder
        self._signatures = signatures
        self._base_url = base_url

    def prepare(self) -> None:
        """Create the folders, readable only by the user of the service."""
        for name in ("public", "private", "arriving"):
            (self._folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    async def check(self) -> None:
        """Write a byte to a temporary file."""
        await asyncio.to_thread(self._write_test_file)

    def _write_test_file(self) -> None:
        with tempfile.TemporaryFile(dir=self._folder / "arriving") as file:
            file.write(b".")
            file.flush()

    @asynccontextmanager
    async def writer(self, key: str, visibility: Visibility | None, label: Label) -> AsyncIterator[_LocalWriter]:
        """Write a file under `arriving/` and rename it when it is complete."""
        arriving = self._get_arriving_path(key)
        file = await _run_on_disk("create", _create, arriving)
        writer = _LocalWriter(file, arriving, lambda visibility: self._get_path(visibility, key))
        try:
            yield writer
        except BaseException:
            # shielded, because a cancelled request must still clean up
            await asyncio.shield(_run_on_disk("clean up", _close_and_unlink, file, arriving, *writer.placed))
            raise
        await _run_on_disk("clean up", _close_and_unlink, file, arriving)

    async def stat(self, visibility: Visibility, key: str) -> Stat | None:
        """Return the size, and the modification time as etag."""
        try:
            found = await asyncio.to_thread(os.stat, self._get_path(visibility, key))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise make_storage_error("stat", error) from error
        return Stat(found.st_size, _make_etag(found))

    async def open(self, visibility: Visibility, key: str, etag: str, start: int, stop: int) -> _LocalSource | None:
        """Open the file, before the response begins."""
        try:
            file = await asyncio.to_thread(open, self._get_path(visibility, key), "rb", 0)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise make_storage_error("open", error) from error
        return _LocalSource(file, start, stop)

    async def delete(self, visibility: Visibility, key: str) -> None:
        """Unlink the file. Downloads in progress continue."""
        await _run_on_disk("delete", self._get_path(visibility, key).unlink, True)

    async def discard(self, key: str) -> None:
        """Remove a partial file, and a complete one whose record was never written."""
        for path in (self._get_arriving_path(key), self._get_path("private", key), self._get_path("public", key)):
            await _run_on_disk("discard", path.unlink, True)

    async def tidy(self, before: datetime) -> None:
        """Remove partial files that were last written before this time."""
        await _run_on_disk("tidy", _unlink_older, self._folder / "arriving", before.timestamp())

    async def clear(self) -> None:
        """Unlink all files. Uploads in progress continue."""
        for visibility in ("public", "private"):
            await _run_on_disk("clear", _unlink_below, self._folder / visibility)

    def public_url(self, key: str) -> str:
        """Return a link to the service itself."""
        return f"{self._base_url}{PUBLIC_AT}/{key}"

    async def upload_address(self, visibility: Visibility, key: str, label: Label, size: int, seconds: int) -> Address:
        """Return a signed URL of the service itself."""
        bound = {"object_key": key, "content_type": label.type.media, "size": size}
        query = self._signatures.make_query("files:put", bound, seconds)
        return Address(f"{self._base_url}{UPLOAD_AT}?{query}", {"Content-Type": label.type.media})

    async def download_address(self, key: str, label: Label, seconds: int) -> str:
        """Return a signed URL of the service itself."""
        return f"{self._base_url}{DOWNLOAD_AT}?{self._signatures.make_query('files:get', {'object_key': key}, seconds)}"

    def _get_path(self, visibility: Visibility, key: str) -> Path:
        if visibility not in VISIBILITIES:
            raise ApiError(NOT_FOUND)  # as for a wrong key: a record that a backup brought may hold any text
        return self._folder / visibility / check_key(key)[9:11] / key

    def _get_arriving_path(self, key: str) -> Path:
        return self._folder / "arriving" / check_key(key)


class _LocalWriter:
    """Writes a file under `arriving/`."""

    def __init__(self, file: BinaryIO, arriving: Path, path: Callable[[Visibility], Path]) -> None:
        self._file = file
        self._arriving = arriving
        self._path = path
        self.placed: list[Path] = []

    async def write(self, block: bytes) -> None:
        """Append the block."""
        await _run_on_disk("write", _write_all, self._file, block)

    async def commit(self, visibility: Visibility, label: Label) -> str:
        """Sync the file, rename it to its place, and sync the folders."""
        self.placed.append(self._path(visibility))
        return await _run_on_disk("commit", _publish, self._file, self._arriving, self._path(visibility))


class _LocalSource:
    """The bytes of an open file. Reads from the page cache directly, and from the disk in threads."""

    def __init__(self, file: BinaryIO, start: int, stop: int) -> None:
        self._file = file
        self._at = start
        self._stop = stop

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Iterate over the pieces in order. Raises EOFError if the file has become shorter."""
        while self._at < self._stop:
            piece = await self._read(min(_BLOCK, self._stop - self._at))
            if not piece:
                raise EOFError("the file ends too early")
            self._at += len(piece)
            yield piece

    async def _read(self, size: int) -> bytes:
        # allocated here, as memory that a thread allocates stays with the process when it is freed
        block = bytearray(size)
        read = _read_cached(self._file.fileno(), block, self._at)
        if not read:
            read = await asyncio.to_thread(os.preadv, self._file.fileno(), [block], self._at)
        return bytes(memoryview(block)[:read])

    async def aclose(self) -> None:
        """Close the file."""
        self._file.close()


def _read_cached(file: int, block: bytearray, at: int) -> int:
    """Read into `block` from the page cache (preadv2(2)). Returns the number of bytes, 0 if the disk is needed."""
    if not hasattr(os, "RWF_NOWAIT"):
        return 0
    try:
        return os.preadv(file, [block], at, os.RWF_NOWAIT)
    except OSError:  # EAGAIN, or the file system does not support it
        return 0


async def _run_on_disk(action: str, work: Callable[..., Result], *arguments: Any) -> Result:
    try:
        return await asyncio.to_thread(work, *arguments)
    except OSError as error:
        raise make_storage_error(action, error) from error


def _create(path: Path) -> BinaryIO:
    return open(path, "xb", 0)


def _write_all(file: BinaryIO, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[file.write(rest) :]


def _publish(file: BinaryIO, arriving: Path, path: Path) -> str:
    os.fsync(file.fileno())
    path.parent.mkdir(mode=0o700, exist_ok=True)
    arriving.rename(path)
    for folder in (path.parent, path.parent.parent):  # the second, if this created the first
        _sync_folder(folder)
    return _make_etag(os.fstat(file.fileno()))


def _unlink_older(folder: Path, before: float) -> None:
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # an upload that ends meanwhile renames its file
            if path.stat().st_mtime < before:
                path.unlink()


def _unlink_below(folder: Path) -> None:
    for path in folder.glob("*/*"):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _close_and_unlink(file: BinaryIO, *paths: Path) -> None:
    file.close()
    for path in paths:
        path.unlink(missing_ok=True)


def _make_etag(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns:x}-{found.st_size:x}"
