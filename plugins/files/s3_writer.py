"""Writes a file to S3: a small one in one request, others in parts. One part is sent while the next one fills."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Mapping
from typing import Any

from plugins.api import ApiError
from plugins.api.errors import unavailable
from plugins.files.messages import STORAGE_AWAY
from plugins.files.s3_calls import GONE, PATIENCE, S3Calls
from plugins.files.storage import FOREVER, RETRY_SECONDS, Label, Visibility

log = logging.getLogger("tradewind.files")
PART_BYTES = 5 << 20  # the smallest part that S3 accepts


class S3Writer:
    """Writes one file. If the bucket is not known at the start, it goes to the private one and is copied at the end."""

    def __init__(
        self, calls: S3Calls, buckets: Mapping[Visibility, str], key: str, visibility: Visibility | None, label: Label
    ) -> None:
        self._calls = calls
        self._buckets = buckets
        self._key = key
        self._first: Visibility = visibility or "private"
        self._label = label
        self._buffered: list[bytes] = []
        self._size = 0
        self._upload: str | None = None
        self._parts: list[dict[str, Any]] = []
        self._sending: asyncio.Task[None] | None = None
        self._present: set[Visibility] = set()
        self._may_be_left = False
        self.committed = False

    async def write(self, block: bytes) -> None:
        """Add a block to the current part. Waits only while the previous part is still being sent."""
        self._buffered.append(block)
        self._size += len(block)
        if self._size >= PART_BYTES:
            await self._send_part()

    async def commit(self, visibility: Visibility, label: Label) -> str:
        """Join the parts, which makes the file visible, and return its etag."""
        etag = await (self._put(visibility, label) if self._upload is None else self._complete())
        # the headers of a private file are in each signed address
        has_headers = visibility == "private" or label == self._label
        if self._upload is not None and not (visibility == self._first and has_headers):
            etag = await self._move(visibility, label)
        self.committed = True
        return etag

    async def _put(self, visibility: Visibility, label: Label) -> str:
        body = io.BytesIO(b"".join(self._buffered))
        self._present.add(visibility)
        return _get_etag(await self._call("put_object", visibility, **_make_headers(visibility, label), Body=body))

    async def _send_part(self) -> None:
        if self._upload is None:
            begun = await self._call("create_multipart_upload", self._first, **_make_headers(self._first, self._label))
            self._upload = begun["UploadId"]
        await self._wait_for_part()
        part = io.BytesIO(b"".join(self._buffered))
        self._buffered, self._size = [], 0
        self._sending = asyncio.create_task(self._send(len(self._parts) + 1, part))

    async def _send(self, number: int, part: io.BytesIO) -> None:
        sent = await self._call("upload_part", self._first, UploadId=self._upload, PartNumber=number, Body=part)
        self._parts.append({"PartNumber": number, "ETag": sent["ETag"]})

    async def _wait_for_part(self) -> None:
        sending, self._sending = self._sending, None
        if sending is not None:
            await sending

    async def _complete(self) -> str:
        if self._buffered:
            await self._send_part()
        await self._wait_for_part()
        self._present.add(self._first)
        joined = await self._call(
            "complete_multipart_upload",
            self._first,
            PATIENCE,
            UploadId=self._upload,
            MultipartUpload={"Parts": self._parts},
        )
        return _get_etag(joined)

    async def _move(self, visibility: Visibility, label: Label) -> str:
        source = self._at(self._first)
        self._present.add(visibility)
        copied = await self._call(
            "copy_object",
            visibility,
            PATIENCE,
            **_make_headers(visibility, label),
            CopySource=source,
            MetadataDirective="REPLACE",
        )
        if visibility != self._first:
            await self._call("delete_object", self._first)
        return _get_etag(copied["CopyObjectResult"])

    async def abandon(self) -> None:
        """Remove the parts, and the file if it was joined already.

        Raises 50300 if something may be left, because a call that failed may still have had an effect.
        """
        if self._sending is not None:  # S3 may keep a part that arrives while the others are removed
            await asyncio.gather(self._sending, return_exceptions=True)
        if self._upload is not None:
            await self._remove("abort_multipart_upload", self._first, UploadId=self._upload)
        for visibility in self._present:
            await self._remove("delete_object", visibility)
        if self._may_be_left:
            log.warning(
                "an upload failed and could not be cleaned up; the sweep will remove it", extra={"key": self._key}
            )
            raise unavailable(RETRY_SECONDS, STORAGE_AWAY)

    async def _call(self, method: str, visibility: Visibility, patience: int = 1, **arguments: Any) -> Any:
        try:
            return await self._calls("write", method, patience=patience, **self._at(visibility), **arguments)
        except BaseException:
            self._may_be_left = True
            raise

    async def _remove(self, method: str, visibility: Visibility, **arguments: Any) -> None:
        try:
            await self._calls("remove", method, gone=GONE, **self._at(visibility), **arguments)
        except ApiError:
            self._may_be_left = True

    def _at(self, visibility: Visibility) -> dict[str, Any]:
        return {"Bucket": self._buckets[visibility], "Key": self._key}


def _make_headers(visibility: Visibility, label: Label) -> dict[str, Any]:
    """Return the headers that S3 sends with the file."""
    headers: dict[str, Any] = {"ContentType": label.type.media}
    if visibility == "public":
        headers |= {"ContentDisposition": label.disposition, "CacheControl": FOREVER}
    return headers


def _get_etag(response: Mapping[str, Any]) -> str:
    return str(response["ETag"]).strip('"')
