"""`Storage`: where the bytes are. `local` and `s3` implement it, and the same tests run on both.

The service makes the keys. A file becomes visible as a whole, when its writer commits it. Failures of the storage are
50300, with the reason in the log.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from plugins.api import ApiError
from plugins.api.errors import unavailable
from plugins.files.messages import STORAGE_AWAY
from plugins.files.names import disposition
from plugins.files.types import FileType

log = logging.getLogger("tradewind.files")
Visibility = Literal["public", "private"]
FOREVER = "public, max-age=31536000, immutable"  # the content of a key never changes
BLOCK_BYTES = 256 << 10
RETRY_SECONDS = 5


@dataclass(frozen=True)
class Label:
    """Name and type of a file."""

    name: str
    type: FileType

    @property
    def disposition(self) -> str:
        """The header value: `inline` only for types that browsers display without running anything."""
        return disposition(self.name, self.type.inline)


@dataclass(frozen=True)
class Stat:
    """A stored file: its size in bytes, and the etag of its content in the storage."""

    size: int
    etag: str


@dataclass(frozen=True)
class Address:
    """A signed URL, and the headers that must be sent with it."""

    url: str
    headers: Mapping[str, str]


class Source(Protocol):
    """The bytes of a file, or of a range of it. Iterate over it once, and always close it."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Iterate over the pieces in order."""

    async def aclose(self) -> None:
        """Close what is open."""


class Writer(Protocol):
    """Writes a file to the storage."""

    async def write(self, block: bytes) -> None:
        """Add the next bytes."""

    async def commit(self, visibility: Visibility, label: Label) -> str:
        """Make the complete file visible under its key. Returns its etag."""


class Storage(Protocol):
    """The two buckets."""

    async def check(self) -> None:
        """Raise while files cannot be read or written."""

    def writer(self, key: str, visibility: Visibility | None, label: Label) -> AbstractAsyncContextManager[Writer]:
        """Return a context manager that writes one file. Without a commit, or after an error, nothing is kept.

        If `visibility` is None, the commit decides.
        """

    async def stat(self, visibility: Visibility, key: str) -> Stat | None:
        """Return size and etag of the file, or None if there is none."""

    async def open(self, visibility: Visibility, key: str, etag: str, start: int, stop: int) -> Source | None:
        """Open the bytes from `start` up to `stop`. Returns None if there is no file with this etag."""

    async def delete(self, visibility: Visibility, key: str) -> None:
        """Remove the file if it exists."""

    async def discard(self, key: str) -> None:
        """Remove what an interrupted writer of `key` left behind."""

    async def tidy(self, before: datetime) -> None:
        """Remove uploads that began before that time, were never committed and have no record."""

    async def clear(self) -> None:
        """Remove every file of both buckets."""

    def public_url(self, key: str) -> str:
        """Return the direct link of a public file."""

    async def upload_address(self, visibility: Visibility, key: str, label: Label, size: int, seconds: int) -> Address:
        """Return the URL to which a client may PUT this file. The signature covers key, type and size."""

    async def download_address(self, key: str, label: Label, seconds: int) -> str:
        """Return a URL by which anybody may read the private file."""


def make_storage_error(action: str, error: BaseException) -> ApiError:
    """Return the 50300 for a failure of the storage. The reason is logged and not sent to the client."""
    log.warning("storage fails", extra={"action": action, "reason": f"{type(error).__name__}: {error}"[:300]})
    return unavailable(RETRY_SECONDS, STORAGE_AWAY)
