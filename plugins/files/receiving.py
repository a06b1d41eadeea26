"""`Intake`: one file on its way in, measured, hashed, checked by content, and passed on a block at a time.

What is held in memory is two blocks, however large the file: one that fills, one that is on its way.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import AsyncExitStack
from typing import BinaryIO, Self

from plugins.api import TOO_LARGE, Actor, ApiError, invalid
from plugins.files.inspection import check_end, check_type, needs_proof, prove
from plugins.files.messages import FILE_TOO_LARGE
from plugins.files.objects import File, Files
from plugins.files.storage import Label, Visibility, Writer
from plugins.files.types import HEAD_BYTES, TAIL_BYTES, ZIP, FileType, detect

BLOCK_BYTES = 1 << 20


class Intake:
    """A block in which a file arrives: `feed` it, `end` it, `store` it, `accept` it; else it leaves nothing behind.

    `name` is clean, `media` is what the client says it is. `visibility` may be told at the end. `awaited`: the record
    of a file that has one already.
    """

    def __init__(
        self,
        files: Files,
        actor: Actor,
        name: str,
        media: str,
        visibility: Visibility | None,
        awaited: File | None = None,
    ) -> None:
        self._files = files
        self._actor = actor
        self._name = name
        self._media = media
        self._visibility = visibility
        self._awaited = awaited
        self.key: str = awaited["id"] if awaited else ""
        self.size = 0
        self._hash = hashlib.sha256()
        self._waiting: list[bytes] = []
        self._gathered = 0
        self._head = self._tail = b""
        self._type: FileType | None = None
        self._label: Label | None = None
        self._writer: Writer | None = None
        self._spool: BinaryIO | None = None
        self._passing: asyncio.Task[None] | None = None
        self._stack = AsyncExitStack()
        self._etag = ""
        self._accepted = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._passing is not None:
            await asyncio.gather(self._passing, return_exceptions=True)
        if kind is None and not self._accepted:
            error = _NotTaken()
        # the storage first: a record without a file is swept, a file without a record would stay
        await self._stack.__aexit__(type(error) if error else None, error, None)
        if not self._accepted and self.key:
            await asyncio.shield(self._files.give_back(self.key) if self._awaited else self._files.forget(self.key))

    async def feed(self, data: bytes) -> None:
        """The next bytes; 41300 beyond the limit, 41500 as soon as the type is known to be refused."""
        self.size += len(data)
        self._gathered += len(data)
        self._check_size()
        self._waiting.append(data)
        if self._gathered >= BLOCK_BYTES:
            await self._pass_on()

    def _check_size(self) -> None:
        settings = self._files.settings
        proven = self._type is not None and needs_proof(self._type)
        limit = min(settings.max_image_bytes, settings.max_upload_bytes) if proven else settings.max_upload_bytes
        if self.size > limit:
            raise ApiError(TOO_LARGE, FILE_TOO_LARGE.filled(bytes=limit))

    async def _pass_on(self) -> None:
        block = b"".join(self._waiting)
        self._waiting, self._gathered = [], 0
        if self._type is None:
            await self._begin(block[:HEAD_BYTES])
        self._tail = block[-TAIL_BYTES:] if len(block) >= TAIL_BYTES else (self._tail + block)[-TAIL_BYTES:]
        await self._passed()
        self._passing = asyncio.create_task(self._pass(block))

    async def _begin(self, head: bytes) -> None:
        """The first bytes are there: they tell the type, and where the rest goes."""
        self._head = head
        self._type = detect(head, b"", self._name)
        if self._type is not ZIP:  # what is in an archive stands at its end
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

    async def _pass(self, block: bytes) -> None:
        hashed = asyncio.to_thread(self._hash.update, block)
        if self._spool is not None:
            await asyncio.gather(hashed, asyncio.to_thread(self._spool.write, block))
        elif self._writer is not None:
            await asyncio.gather(hashed, self._writer.write(block))

    async def _passed(self) -> None:
        passing, self._passing = self._passing, None
        if passing is not None:
            await passing

    async def end(self, visibility: Visibility) -> None:
        """No more bytes: 40001 for none at all, 41500 for a file that is not taken by this bucket."""
        if not self.size:
            raise invalid("file", "minLength")
        if self._waiting:
            await self._pass_on()
        await self._passed()
        type = detect(self._head, self._tail, self._name)
        check_type(self._files.settings, type, self._name, self._media, visibility)
        check_end(type, self._tail)
        label, self._visibility = Label(self._name, type), visibility
        if self._spool is not None:
            await prove(self._files.proving, self._files.settings, type, self._spool)
            await self._unspool(self._spool, label)
        self._label = label

    async def _unspool(self, spool: BinaryIO, label: Label) -> None:
        writer = await self._open_writer(label)
        spool.seek(0)
        while block := await asyncio.to_thread(spool.read, BLOCK_BYTES):
            await writer.write(block)

    async def store(self) -> File:
        """Put the file into its place and its record; may be called again, as a transaction may run again."""
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
        """Of all bytes, in hexadecimal digits."""
        return self._hash.hexdigest()

    def accept(self) -> None:
        """The caller has the answer: the file stays."""
        self._accepted = True


class _NotTaken(Exception):
    """The block ended, and the file was not wanted in the end: a retry had stored it before."""
