"""`Storage`: where the bytes are. Two implementations, `local` and `s3`, keep the same promises (one contract test).

Keys are made by the service. A file is not there until its writer has committed it, and then it is whole.
Whatever goes wrong with the place itself is 50300, with the reason in the log.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from plugins.api import ApiError, unavailable
from plugins.files.messages import STORAGE_AWAY
from plugins.files.names import disposition
from plugins.files.types import FileType

log = logging.getLogger("tradewind.files")
Visibility = Literal["public", "private"]
FOREVER = "public, max-age=31536000, immutable"  # a key never gets another content
BLOCK_BYTES = 256 << 10
RETRY_SECONDS = 5


@dataclass(frozen=True)
class Label:
    """What a file is called, and what it is."""

    name: str
    type: FileType

    @property
    def disposition(self) -> str:
        """Shown in place only where a browser runs nothing of it."""
        return disposition(self.name, self.type.inline)


@dataclass(frozen=True)
class Stat:
    """A stored file: its size in bytes, and what the storage calls this content."""

    size: int
    etag: str


@dataclass(frozen=True)
class Address:
    """A signed address, and the headers that must go with it."""

    url: str
    headers: Mapping[str, str]


class Source(Protocol):
    """The bytes of a file, or of a part of it. Iterate it once; close it in any case."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces, in order."""

    async def aclose(self) -> None:
        """Let go of what is open."""


class Writer(Protocol):
    """A file on its way into the storage."""

    async def write(self, block: bytes) -> None:
        """The next bytes."""

    async def commit(self, visibility: Visibility, label: Label) -> str:
        """The file is whole: let it appear under its key, for good. Answers its `etag`."""


class Storage(Protocol):
    """The two buckets."""

    async def check(self) -> None:
        """Raise while files cannot be read or written."""

    def writer(self, key: str, visibility: Visibility | None, label: Label) -> AbstractAsyncContextManager[Writer]:
        """A block that writes one file; left without a commit, or by an error, it leaves nothing behind.

        `visibility` None: it is told at the commit.
        """

    async def stat(self, visibility: Visibility, key: str) -> Stat | None:
        """What is stored under `key`; None where nothing is."""

    async def open(self, visibility: Visibility, key: str, etag: str, start: int, stop: int) -> Source | None:
        """The bytes from `start` up to `stop` of the content `etag`; None where there is no such content."""

    async def delete(self, visibility: Visibility, key: str) -> None:
        """Remove the file, if it is there, for good."""

    async def discard(self, key: str) -> None:
        """Remove whatever an interrupted writer of `key` has left."""

    async def tidy(self, before: datetime) -> None:
        """Remove what was begun before that time, was never committed, and nobody remembers."""

    async def clear(self) -> None:
        """Remove every file of either bucket, for good."""

    def public_url(self, key: str) -> str:
        """The direct link of a public file."""

    async def upload_address(self, visibility: Visibility, key: str, label: Label, size: int, seconds: int) -> Address:
        """Where a client may PUT this very file: the signature binds key, type and size."""

    async def download_address(self, key: str, label: Label, seconds: int) -> str:
        """Where whoever has the address may read a private file."""


def out_of_reach(action: str, error: BaseException) -> ApiError:
    """The 50300 for a storage that fails; the reason goes into the log, not to the client."""
    log.warning("storage fails", extra={"action": action, "reason": f"{type(error).__name__}: {error}"[:300]})
    return unavailable(RETRY_SECONDS, STORAGE_AWAY)
