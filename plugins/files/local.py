"""Files on a local disk: `<folder>/private/ab/<key>`, `<folder>/public/ab/<key>`, and `<folder>/arriving/<key>`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from plugins.files.names import checked_key
from plugins.files.signatures import Signatures
from plugins.files.storage import Address, Label, Stat, Visibility, out_of_reach

Result = TypeVar("Result")
PUBLIC_AT = "/api/files/public"
_BLOCK = 64 << 10  # twice that is held of what a client takes slowly
UPLOAD_AT = "/api/upload/direct"
DOWNLOAD_AT = "/api/file/dl"


class LocalStorage:
    """The two buckets as folders; they may be shared by several processes. Disk work is done in threads."""

    def __init__(self, folder: Path, signatures: Signatures, base_url: str = "") -> None:
        self._folder = folder
        self._signatures = signatures
        self._base_url = base_url

    def prepare(self) -> None:
        """Make the folders; nobody but the service's own user reads them."""
        for name in ("public", "private", "arriving"):
            (self._folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    async def check(self) -> None:
        """Write a byte, and forget it."""
        await asyncio.to_thread(self._try_out)

    def _try_out(self) -> None:
        with tempfile.TemporaryFile(dir=self._folder / "arriving") as file:
            file.write(b".")
            file.flush()

    @asynccontextmanager
    async def writer(self, key: str, visibility: Visibility | None, label: Label) -> AsyncIterator[_LocalWriter]:
        """A file is written beside, and renamed when it is whole."""
        arriving = self._arriving(key)
        file = await _disk("create", _create, arriving)
        writer = _LocalWriter(file, arriving, lambda visibility: self._path(visibility, key))
        try:
            yield writer
        except BaseException:
            # a cancelled request must still clean up
            await asyncio.shield(_disk("clean up", _drop, file, arriving, *writer.placed))
            raise
        await _disk("clean up", _drop, file, arriving)

    async def stat(self, visibility: Visibility, key: str) -> Stat | None:
        """Size and modification time, as on disk."""
        try:
            found = await asyncio.to_thread(os.stat, self._path(visibility, key))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise out_of_reach("stat", error) from error
        return Stat(found.st_size, _etag(found))

    async def open(self, visibility: Visibility, key: str, etag: str, start: int, stop: int) -> _LocalSource | None:
        """The file, opened before anything is answered."""
        try:
            file = await asyncio.to_thread(open, self._path(visibility, key), "rb", 0)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise out_of_reach("open", error) from error
        return _LocalSource(file, start, stop)

    async def delete(self, visibility: Visibility, key: str) -> None:
        """Unlink; a download that runs goes on."""
        await _disk("delete", self._path(visibility, key).unlink, True)

    async def discard(self, key: str) -> None:
        """Remove what is half-written, and what was whole and never recorded."""
        for path in (self._arriving(key), self._path("private", key), self._path("public", key)):
            await _disk("discard", path.unlink, True)

    async def tidy(self, before: datetime) -> None:
        """By the time of the last write."""
        await _disk("tidy", _unlink_older, self._folder / "arriving", before.timestamp())

    async def clear(self) -> None:
        """Unlink them all; what is arriving goes on."""
        for visibility in ("public", "private"):
            await _disk("clear", _unlink_below, self._folder / visibility)

    def public_url(self, key: str) -> str:
        """Served by the service itself."""
        return f"{self._base_url}{PUBLIC_AT}/{key}"

    async def upload_address(self, visibility: Visibility, key: str, label: Label, size: int, seconds: int) -> Address:
        """An address of the service itself."""
        bound = {"object_key": key, "content_type": label.type.media, "size": size}
        query = self._signatures.query("put", bound, seconds)
        return Address(f"{self._base_url}{UPLOAD_AT}?{query}", {"Content-Type": label.type.media})

    async def download_address(self, key: str, label: Label, seconds: int) -> str:
        """An address of the service itself."""
        return f"{self._base_url}{DOWNLOAD_AT}?{self._signatures.query('get', {'object_key': key}, seconds)}"

    def _path(self, visibility: Visibility, key: str) -> Path:
        return self._folder / visibility / checked_key(key)[9:11] / key

    def _arriving(self, key: str) -> Path:
        return self._folder / "arriving" / checked_key(key)


class _LocalWriter:
    """A file under `arriving/`."""

    def __init__(self, file: BinaryIO, arriving: Path, path: Callable[[Visibility], Path]) -> None:
        self._file = file
        self._arriving = arriving
        self._path = path
        self.placed: list[Path] = []

    async def write(self, block: bytes) -> None:
        """Append."""
        await _disk("write", _write_all, self._file, block)

    async def commit(self, visibility: Visibility, label: Label) -> str:
        """To the disk, then to its place in one step, then the step itself to the disk."""
        self.placed.append(self._path(visibility))
        return await _disk("commit", _publish, self._file, self._arriving, self._path(visibility))


class _LocalSource:
    """Bytes of an open file: at once where the system has them in memory, in threads where the disk is to be waited for."""

    def __init__(self, file: BinaryIO, start: int, stop: int) -> None:
        self._file = file
        self._at = start
        self._stop = stop

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces, in order; EOFError when the file is shorter than it was."""
        while self._at < self._stop:
            size = min(_BLOCK, self._stop - self._at)
            block = _in_memory(self._file.fileno(), size, self._at)
            if not block:
                block = await asyncio.to_thread(os.pread, self._file.fileno(), size, self._at)
            if not block:
                raise EOFError("the file ends too early")
            self._at += len(block)
            yield block

    async def aclose(self) -> None:
        """Close the file."""
        self._file.close()


def _in_memory(file: int, size: int, at: int) -> bytes:
    """So many bytes of a file, or fewer, without a wait for the disk; none where that cannot be (preadv2(2))."""
    if not hasattr(os, "RWF_NOWAIT"):
        return b""
    block = bytearray(size)
    try:
        return bytes(memoryview(block)[: os.preadv(file, [block], at, os.RWF_NOWAIT)])
    except OSError:  # EAGAIN, and file systems that do not know how
        return b""


async def _disk(action: str, work: Callable[..., Result], *arguments: Any) -> Result:
    try:
        return await asyncio.to_thread(work, *arguments)
    except OSError as error:
        raise out_of_reach(action, error) from error


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
    for folder in (path.parent, path.parent.parent):  # the name, and the folder of a first name
        _sync_folder(folder)
    return _etag(os.fstat(file.fileno()))


def _unlink_older(folder: Path, before: float) -> None:
    for path in folder.iterdir():
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def _unlink_below(folder: Path) -> None:
    for path in folder.glob("*/*"):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _drop(file: BinaryIO, *paths: Path) -> None:
    file.close()
    for path in paths:
        path.unlink(missing_ok=True)


def _etag(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns:x}-{found.st_size:x}"
