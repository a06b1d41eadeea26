"""A file on its way into S3: in one piece when it is small, else in parts, one on its way while the next one fills."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Mapping
from typing import Any

from plugins.api import ApiError, unavailable
from plugins.files.messages import STORAGE_AWAY
from plugins.files.s3_calls import GONE, PATIENCE, S3Calls
from plugins.files.storage import FOREVER, RETRY_SECONDS, Label, Visibility

log = logging.getLogger("tradewind.files")
PART_BYTES = 5 << 20  # the least that S3 takes as a part


class S3Writer:
    """Where the bucket is not told at first, the file comes into the private one and is copied at the end."""

    def __init__(
        self, calls: S3Calls, buckets: Mapping[Visibility, str], key: str, visibility: Visibility | None, label: Label
    ) -> None:
        self._calls = calls
        self._buckets = buckets
        self._key = key
        self._first: Visibility = visibility or "private"
        self._label = label
        self._waiting: list[bytes] = []
        self._size = 0
        self._upload: str | None = None
        self._parts: list[dict[str, Any]] = []
        self._sending: asyncio.Task[None] | None = None
        self._present: set[Visibility] = set()
        self._doubtful = False
        self.committed = False

    async def write(self, block: bytes) -> None:
        """Gather a part; wait only while the one before it is still on its way."""
        self._waiting.append(block)
        self._size += len(block)
        if self._size >= PART_BYTES:
            await self._send_part()

    async def commit(self, visibility: Visibility, label: Label) -> str:
        """Join the parts; nothing of the file was to be seen before."""
        etag = await (self._put(visibility, label) if self._upload is None else self._complete())
        # what browsers are told of a private file stands in each signed address
        told = visibility == "private" or label == self._label
        if self._upload is not None and not (visibility == self._first and told):
            etag = await self._move(visibility, label)
        self.committed = True
        return etag

    async def _put(self, visibility: Visibility, label: Label) -> str:
        body = io.BytesIO(b"".join(self._waiting))
        self._present.add(visibility)
        return _etag(await self._call("put_object", visibility, **_shown(visibility, label), Body=body))

    async def _send_part(self) -> None:
        if self._upload is None:
            begun = await self._call("create_multipart_upload", self._first, **_shown(self._first, self._label))
            self._upload = begun["UploadId"]
        await self._sent()
        part = io.BytesIO(b"".join(self._waiting))
        self._waiting, self._size = [], 0
        self._sending = asyncio.create_task(self._send(len(self._parts) + 1, part))

    async def _send(self, number: int, part: io.BytesIO) -> None:
        sent = await self._call("upload_part", self._first, UploadId=self._upload, PartNumber=number, Body=part)
        self._parts.append({"PartNumber": number, "ETag": sent["ETag"]})

    async def _sent(self) -> None:
        sending, self._sending = self._sending, None
        if sending is not None:
            await sending

    async def _complete(self) -> str:
        if self._waiting:
            await self._send_part()
        await self._sent()
        self._present.add(self._first)
        joined = await self._call(
            "complete_multipart_upload",
            self._first,
            PATIENCE,
            UploadId=self._upload,
            MultipartUpload={"Parts": self._parts},
        )
        return _etag(joined)

    async def _move(self, visibility: Visibility, label: Label) -> str:
        source = self._at(self._first)
        self._present.add(visibility)
        copied = await self._call(
            "copy_object",
            visibility,
            PATIENCE,
            **_shown(visibility, label),
            CopySource=source,
            MetadataDirective="REPLACE",
        )
        if visibility != self._first:
            await self._call("delete_object", self._first)
        return _etag(copied["CopyObjectResult"])

    async def abandon(self) -> None:
        """Forget the parts, and the file where it was joined already.

        Raises 50300 while something may be left: a call that failed may have been carried out, or still be.
        """
        if self._sending is not None:  # S3 may keep a part that arrives while the others are forgotten
            await asyncio.gather(self._sending, return_exceptions=True)
        if self._upload is not None:
            await self._forget("abort_multipart_upload", self._first, UploadId=self._upload)
        for visibility in self._present:
            await self._forget("delete_object", visibility)
        if self._doubtful:
            log.warning("what is left of a broken upload is left to the sweep", extra={"key": self._key})
            raise unavailable(RETRY_SECONDS, STORAGE_AWAY)

    async def _call(self, method: str, visibility: Visibility, patience: int = 1, **arguments: Any) -> Any:
        try:
            return await self._calls("write", method, patience=patience, **self._at(visibility), **arguments)
        except BaseException:
            self._doubtful = True
            raise

    async def _forget(self, method: str, visibility: Visibility, **arguments: Any) -> None:
        try:
            await self._calls("forget", method, gone=GONE, **self._at(visibility), **arguments)
        except ApiError:
            self._doubtful = True

    def _at(self, visibility: Visibility) -> dict[str, Any]:
        return {"Bucket": self._buckets[visibility], "Key": self._key}


def _shown(visibility: Visibility, label: Label) -> dict[str, Any]:
    """What S3 tells browsers of the file."""
    shown: dict[str, Any] = {"ContentType": label.type.media}
    if visibility == "public":
        shown |= {"ContentDisposition": label.disposition, "CacheControl": FOREVER}
    return shown


def _etag(answer: Mapping[str, Any]) -> str:
    return str(answer["ETag"]).strip('"')
