"""The interface of a storage, tested on a local disk and on S3 over HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tornado.ioloop import IOLoop

from handlers.access.signatures import Signatures
from plugins.api import ApiError, utc_now
from plugins.files.local import LocalStorage
from plugins.files.names import new_key
from plugins.files.s3 import S3Storage, open_s3_storage
from plugins.files.settings import S3_NEEDS, FilesSettings
from plugins.files.storage import Label, Storage, Visibility
from plugins.files.types import PDF, PNG as PNG_TYPE
from tests.api.files.places import MEBIBYTE
from tests.support.s3_stand_in import S3Server

pytestmark = pytest.mark.gen_test(timeout=30)
LABEL = Label("文件.pdf", PDF)
BOTH: tuple[Visibility, ...] = ("public", "private")


@pytest.fixture(scope="module", params=["local", "s3"])
def storage(
    request: pytest.FixtureRequest, io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Storage]:
    if request.param == "local":
        local = LocalStorage(tmp_path_factory.mktemp("storage"), Signatures(["secret"]))
        local.prepare()
        yield local
        return
    s3: S3Server = request.getfixturevalue("s3")
    stack = AsyncExitStack()
    settings = FilesSettings(_env_file=None, **s3.buckets())  # type: ignore[arg-type]
    yield io_loop.run_sync(lambda: stack.enter_async_context(open_s3_storage(settings)))
    io_loop.run_sync(stack.aclose)


def key(label: Label = LABEL) -> str:
    return new_key(utc_now(), label.type.extension)


async def put(
    storage: Storage, content: bytes, visibility: Visibility = "private", bucket_known: bool = True
) -> tuple[str, str]:
    """Store a file; its key and etag."""
    name = key()
    async with storage.writer(name, visibility if bucket_known else None, LABEL) as writer:
        for at in range(0, len(content), MEBIBYTE):
            await writer.write(content[at : at + MEBIBYTE])
        return name, await writer.commit(visibility, LABEL)


async def read(storage: Storage, visibility: Visibility, name: str, etag: str, start: int, stop: int) -> bytes | None:
    source = await storage.open(visibility, name, etag, start, stop)
    if source is None:
        return None
    try:
        return b"".join([block async for block in source])
    finally:
        await source.aclose()


@pytest.mark.parametrize("bucket_known", [True, False])
@pytest.mark.parametrize("visibility", BOTH)
@pytest.mark.parametrize("size", [1, MEBIBYTE, 5 * MEBIBYTE, 11 * MEBIBYTE + 3])
async def test_what_was_committed_is_read_back(
    storage: Storage, visibility: Visibility, size: int, bucket_known: bool
) -> None:
    content = os.urandom(size)
    name, etag = await put(storage, content, visibility, bucket_known)
    found = await storage.stat(visibility, name)
    assert found is not None
    assert (found.size, found.etag) == (size, etag)
    assert await read(storage, visibility, name, etag, 0, size) == content


async def test_a_range_is_exactly_that_range(storage: Storage) -> None:
    content = os.urandom(MEBIBYTE)
    name, etag = await put(storage, content)
    for start, stop in ((0, 1), (MEBIBYTE - 1, MEBIBYTE), (1000, 700_000)):
        assert await read(storage, "private", name, etag, start, stop) == content[start:stop]


async def test_the_buckets_are_separate(storage: Storage) -> None:
    name, etag = await put(storage, b"public", "public", bucket_known=False)
    assert await storage.stat("private", name) is None
    assert await read(storage, "private", name, etag, 0, 1) is None


async def test_nothing_is_visible_before_the_commit(storage: Storage) -> None:
    name = key()
    async with storage.writer(name, "private", LABEL) as writer:
        for _ in range(6):
            await writer.write(bytes(MEBIBYTE))
        assert await storage.stat("private", name) is None


@pytest.mark.parametrize("size", [1, 6])
async def test_an_uncommitted_file_leaves_nothing(storage: Storage, size: int) -> None:
    name = key()
    async with storage.writer(name, "private", LABEL) as writer:
        for _ in range(size):
            await writer.write(bytes(MEBIBYTE))
    await nothing_left(storage, name)


@pytest.mark.parametrize("size", [1, 6])
@pytest.mark.parametrize("committed", [True, False])
async def test_an_error_leaves_nothing(storage: Storage, size: int, committed: bool) -> None:
    name = key()

    async def fail() -> None:
        async with storage.writer(name, None, LABEL) as writer:
            for _ in range(size):
                await writer.write(bytes(MEBIBYTE))
            if committed:
                await writer.commit("public", LABEL)
            raise EOFError

    with pytest.raises(EOFError):
        await fail()
    await nothing_left(storage, name)


async def test_a_cancelled_writer_leaves_nothing(storage: Storage) -> None:
    name, writing = key(), asyncio.Event()

    async def write() -> None:
        async with storage.writer(name, "private", LABEL) as writer:
            for _ in range(6):
                await writer.write(bytes(MEBIBYTE))
            writing.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await writing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await nothing_left(storage, name)


async def nothing_left(storage: Storage, name: str) -> None:
    for visibility in BOTH:
        assert await storage.stat(visibility, name) is None
    async with storage.writer(name, "private", LABEL) as writer:  # a half-written one would be in the way
        await writer.write(b"again")
        await writer.commit("private", LABEL)
    await storage.delete("private", name)


async def test_a_deleted_file_is_gone_and_may_be_deleted_again(storage: Storage) -> None:
    name, etag = await put(storage, b"text")
    for _ in range(2):
        await storage.delete("private", name)
        assert await read(storage, "private", name, etag, 0, 4) is None


async def test_a_discarded_file_is_gone_from_everywhere(storage: Storage) -> None:
    name, _ = await put(storage, b"text")
    await storage.discard(name)
    assert await storage.stat("private", name) is None
    await storage.discard(name)


async def begun(storage: Storage, name: str) -> None:
    """What a killed server leaves behind."""
    if isinstance(storage, LocalStorage):
        storage._get_arriving_path(name).write_bytes(b"half")
    elif isinstance(storage, S3Storage):
        await storage._calls("begin", "create_multipart_upload", **storage._at("private", name))


async def left(storage: Storage, name: str) -> bool:
    if isinstance(storage, LocalStorage):
        return storage._get_arriving_path(name).exists()
    listed = await storage._calls("look", "list_multipart_uploads", Bucket=storage._buckets["private"], Prefix=name)
    return bool(listed.get("Uploads"))


async def test_abandoned_uploads_are_removed(storage: Storage) -> None:
    name, (stored, etag) = key(), await put(storage, b"text")
    await begun(storage, name)
    await storage.tidy(utc_now() - timedelta(hours=1))
    assert await left(storage, name)
    await storage.tidy(utc_now() + timedelta(hours=1))
    assert not await left(storage, name)
    assert await read(storage, "private", stored, etag, 0, 4) == b"text"


@pytest.mark.parametrize("storage", ["s3"], indirect=True)
async def test_abandoned_uploads_are_removed_from_every_page(
    storage: S3Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = sorted(key() for _ in range(3))
    for name in names:
        await begun(storage, name)
    calls = storage._calls

    async def paging(action: str, method: str, **arguments: Any) -> Any:
        """S3 with one upload a page, which the stand-in does not have."""
        after = arguments.pop("KeyMarker", "")
        arguments.pop("UploadIdMarker", None)
        found = await calls(action, method, **arguments)
        if method != "list_multipart_uploads":
            return found
        uploads = sorted(found.get("Uploads", ()), key=lambda upload: str(upload["Key"]))
        later = [upload for upload in uploads if upload["Key"] > after]
        markers = {"NextKeyMarker": later[0]["Key"], "NextUploadIdMarker": later[0]["UploadId"]} if later else {}
        return {"Uploads": later[:1], "IsTruncated": len(later) > 1, **markers}

    monkeypatch.setattr(storage, "_calls", paging)
    await storage.tidy(utc_now() + timedelta(hours=1))
    monkeypatch.undo()
    assert [await left(storage, name) for name in names] == [False, False, False]


async def test_a_cleared_storage_is_empty(storage: Storage) -> None:
    stored = [(visibility, *await put(storage, b"text", visibility)) for visibility in BOTH]
    await storage.clear()
    for visibility, name, _ in stored:
        assert await storage.stat(visibility, name) is None


async def test_a_working_storage_passes_its_check(storage: Storage) -> None:
    await storage.check()


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a/b", "", ".", "20261120-0123456789abcdef0123456789abcdef"]
)
async def test_an_invalid_key_reaches_nothing(storage: Storage, name: str) -> None:
    with pytest.raises(ApiError) as refused:
        await storage.discard(name)
    assert refused.value.kind.code == 40400


@pytest.mark.parametrize("visibility", ["../elsewhere", "/elsewhere", "arriving"])
async def test_a_bucket_that_is_none_reaches_nothing(tmp_path: Path, visibility: Any) -> None:
    local = LocalStorage(tmp_path / "storage", Signatures(["secret"]))
    local.prepare()
    name = key()
    for call in (local.stat(visibility, name), local.delete(visibility, name)):
        with pytest.raises(ApiError):
            await call


async def test_the_label_goes_with_the_addresses(storage: Storage) -> None:
    label = Label("图.png", PNG_TYPE)
    address = await storage.upload_address("private", key(label), label, 5, 900)
    assert address.headers == {"Content-Type": "image/png"}
    assert storage.public_url(key(label)).endswith(".png")


# -- local storage only


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("plugins.files.local._write_all", no_space)
        yield


async def test_a_full_disk_is_50300_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    disk = LocalStorage(tmp_path, Signatures(["secret"]))
    disk.prepare()
    with full_disk(monkeypatch), pytest.raises(ApiError) as refused:
        await put(disk, b"text")
    assert (refused.value.kind.code, refused.value.headers["Retry-After"]) == (50300, "5")
    assert "No space left on device" in str([vars(record) for record in caplog.records])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_a_disk_that_cannot_be_written_is_not_ready(tmp_path: Path) -> None:
    disk = LocalStorage(tmp_path / "gone", Signatures(["secret"]))
    with pytest.raises(OSError, match="No such file"):
        await disk.check()


async def test_nobody_else_reads_the_folders(tmp_path: Path) -> None:
    disk = LocalStorage(tmp_path / "files", Signatures(["secret"]))
    disk.prepare()
    await put(disk, b"text")
    folders = [path for path in tmp_path.rglob("*") if path.is_dir() and path != tmp_path / "files"]
    assert {path.stat().st_mode & 0o077 for path in folders} == {0}


Sync = Callable[[int], None]


async def test_a_file_is_on_the_disk_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, steps, fsync, rename = LocalStorage(tmp_path, Signatures(["secret"])), [], os.fsync, Path.rename
    disk.prepare()
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append(os.readlink(f"/proc/self/fd/{fd}")), fsync(fd)))
    monkeypatch.setattr(Path, "rename", lambda path, target: (steps.append("rename"), rename(path, target)))
    name, _ = await put(disk, b"text")
    folder = tmp_path / "private" / name[9:11]
    assert steps == [str(tmp_path / "arriving" / name), "rename", str(folder), str(folder.parent)]


def test_s3_without_its_library_is_a_sentence_that_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict.fromkeys(S3_NEEDS, "first") | {"storage": "s3", "s3_private_bucket": "second"}
    FilesSettings(_env_file=None, **given)  # type: ignore[arg-type]  # settings of several types
    monkeypatch.setattr("plugins.files.settings.find_spec", lambda name: None)
    with pytest.raises(ValidationError, match=r"TRADEWIND_STORAGE=s3 needs a library: pip install 'tradewind\[s3\]'"):
        FilesSettings(_env_file=None, **given)  # type: ignore[arg-type]  # settings of several types
