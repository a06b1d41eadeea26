"""`Intake`: receives one file. It measures, hashes and checks the file, and writes it to the storage block by block.

Memory holds two blocks, however large the file is: one that is being filled, and one that is being written.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import AsyncExitStack
from typing import BinaryIO, Self

from plugins.api import Actor, ApiError, invalid
from plugins.api.errors import TOO_LARGE
from plugins.files.inspection import check_end, check_type, needs_proof, prove
from plugins.files.messages import FILE_TOO_LARGE
from plugins.files.objects import Files
from plugins.files.record_types import StoredFile
from plugins.files.storage import Label, Visibility, Writer
from plugins.files.types import HEAD_BYTES, TAIL_BYTES, ZIP, FileType, detect

BLOCK_BYTES = 1 << 20


class Intake:
    """A context manager that receives a file: call `feed`, `end`, `store` and `accept`. Nothing stays without `accept`.

    `name` must be clean; `media` is the type that the client declares. `visibility` may be None until `end`.
    `expected`: the record of the file, if it has one already.
    """

    def __init__(
        self,
        files: Files,
        actor: Actor,
        name: str,
        media: str,
        visibility: Visibility | None,
        expected: StoredFile | None = None,
    ) -> None:
        self._files = files
        self._actor = actor
        self._name = name
        self._media = media
        self._visibility = visibility
        self._expected = expected
        self.key: str = expected["id"] if expected else ""
        self.size = 0
        self._hash = hashlib.sha256()
        self._buffered: list[bytes] = []
        self._buffered_size = 0
        self._head = self._tail = b""
        self._type: FileType | None = None
        self._label: Label | None = None
        self._writer: Writer | None = None
        self._spool: BinaryIO | None = None
        self._writing: asyncio.Task[None] | None = None
        self._stack = AsyncExitStack()
        self._etag = ""
        self._accepted = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._writing is not None:
            await asyncio.gather(self._writing, return_exceptions=True)
        if kind is None and not self._accepted:
            error = _NotAccepted()
        # the storage first: the sweep finds a record without a file, but not a file without a record
        await self._stack.__aexit__(type(error) if error else None, error, None)
        if not self._accepted and self.key:
            await asyncio.shield(self._files.give_back(self.key) if self._expected else self._files.forget(self.key))

    async def feed(self, data: bytes) -> None:
        """Add the next bytes. Raises 41300 beyond the size limit, and 41500 once the type is known to be refused."""
        self.size += len(data)
        self._buffered_size += len(data)
        self._check_size()
        self._buffered.append(data)
        if self._buffered_size >= BLOCK_BYTES:
            await self._flush()

    def _check_size(self) -> None:
        settings = self._files.settings
        proven = self._type is not None and needs_proof(self._type)
        limit = min(settings.max_image_bytes, settings.max_upload_bytes) if proven else settings.max_upload_bytes
        if self.size > limit:
            raise ApiError(TOO_LARGE, FILE_TOO_LARGE.filled(bytes=limit))

    async def _flush(self) -> None:
        block = b"".join(self._buffered)
        self._buffered, self._buffered_size = [], 0
        if self._type is None:
            await self._begin(block[:HEAD_BYTES])
        self._tail = block[-TAIL_BYTES:] if len(block) >= TAIL_BYTES else (self._tail + block)[-TAIL_BYTES:]
        await self._wait_for_block()
        self._writing = asyncio.create_task(self._write_block(block))

    async def _begin(self, head: bytes) -> None:
        """Detect the type from the first bytes, and open the destination of the file."""
        self._head = head
        self._type = detect(head, b"", self._name)
        if self._type is not ZIP:  # the table of contents of an archive is at its end
            check_type(self._files.settings, self._type, self._name, self._media, self._visibility)
        self._check_size()
        label = Label(self._name, self._type)
        if not self.key:
            self.key = await self._files.begin(self._actor, label, self._visibility or "private", "arriving")
        if needs_proof(self._type):
            self._spool = self._stack.enter_context(self._files.spool())
        else:
            await self._open_writer(label)

    async def _open_writer(self, label: Label) -> Writer:
        writer = self._files.storage.writer(self.key, self._visibility, label)
        self._writer = await self._stack.enter_async_context(writer)
        return self._writer

    async def _write_block(self, block: bytes) -> None:
        hashed = asyncio.to_thread(self._hash.update, block)
        if self._spool is not None:
            await asyncio.gather(hashed, asyncio.to_thread(self._spool.write, block))
        elif self._writer is not None:
            await asyncio.gather(hashed, self._writer.write(block))

    async def _wait_for_block(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            await writing

    async def end(self, visibility: Visibility) -> None:
        """Finish and check the file. Raises 40001 if it is empty, and 41500 if this bucket does not accept it."""
        if not self.size:
            raise invalid("file", "minLength")
        if self._buffered:
            await self._flush()
        await self._wait_for_block()
        type = detect(self._head, self._tail, self._name)
        check_type(self._files.settings, type, self._name, self._media, visibility)
        check_end(type, self._tail)
        label, self._visibility = Label(self._name, type), visibility
        if self._spool is not None:
            await prove(self._files.proving, self._files.settings, type, self._spool)
            await self._copy_spool(self._spool, label)
        self._label = label

    async def _copy_spool(self, spool: BinaryIO, label: Label) -> None:
        writer = await self._open_writer(label)
        spool.seek(0)
        while block := await asyncio.to_thread(spool.read, BLOCK_BYTES):
            await writer.write(block)

    async def store(self) -> StoredFile:
        """Commit the file to the storage and update its record. A transaction that runs again may repeat it."""
        if self._writer is None or self._label is None or self._visibility is None:
            raise RuntimeError("the file has not ended yet")
        self._etag = self._etag or await self._writer.commit(self._visibility, self._label)
        return await self._files.finish(
            self.key,
            {
                "visibility": self._visibility,
                "name": self._name,
                "size": self.size,
                "etag": self._etag,
                "content_type": self._label.type.media,
                "sha256": self._hash.hexdigest(),
            },
        )

    @property
    def sha256(self) -> str:
        """The hash of all bytes, in hexadecimal digits."""
        return self._hash.hexdigest()

    def accept(self) -> None:
        """Keep the file, because the response names it."""
        self._accepted = True


class _NotAccepted(Exception):
    """The block ended without `accept`: an earlier request with the same idempotency key has stored the file."""
