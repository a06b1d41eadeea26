"""Files in S3 or a compatible storage: a public bucket and a private one.

The library, aiobotocore, is optional: local storage works without it, so only this module imports it. By default the
event loop reads up to 256 KB at once, and aiohttp reads ahead until it has 512 KiB for each download; connections here
have small buffers and do not read ahead, so that a slow download holds little memory. A small file is written in one
request, others in parts: one is sent while the next one fills. Every failure becomes 50300 or "not found".
"""

from __future__ import annotations

import asyncio
import io
import logging
import socket
from collections.abc import AsyncIterator, Container, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any

import aiohttp
from aiobotocore.config import AioConfig  # type: ignore[import-untyped]
from aiobotocore.session import get_session  # type: ignore[import-untyped]
from aiohttp import ClientResponse
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

from plugins.api import ApiError
from plugins.api.errors import unavailable
from plugins.api.requests import span, trace_headers
from plugins.files.messages import STORAGE_AWAY
from plugins.files.names import KEY, check_key
from plugins.files.settings import FilesSettings
from plugins.files.storage import FOREVER, RETRY_SECONDS, Address, Label, Stat, Visibility, make_storage_error

PATIENCE = 5  # S3 may take this many times longer to join or to copy a large file
GONE = frozenset({"404", "NoSuchKey", "NoSuchUpload", "412", "PreconditionFailed"})


class S3Calls:
    """Calls a client's methods by name. `seconds`: the time limit of one call, including its second attempt."""

    def __init__(self, client: Any, seconds: float) -> None:
        self._client = client
        self.seconds = seconds
        client.meta.events.register("before-send.s3", _pass_trace_on)

    async def __call__(
        self, action: str, method: str, gone: Container[str] = (), patience: int = 1, **arguments: Any
    ) -> Any:
        """Return the response of S3, or None for an error code of `gone`. Raises 50300 and logs the reason."""
        try:
            called = span(f"S3 {method}", "CLIENT", rpc_system="aws-api", rpc_service="S3", rpc_method=method)
            async with asyncio.timeout(self.seconds * patience):
                with called:
                    return await getattr(self._client, method)(**arguments)
        except ClientError as error:
            if str(error.response.get("Error", {}).get("Code")) in gone:
                return None
            raise make_storage_error(f"s3 {action}", error) from error
        except (BotoCoreError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise make_storage_error(f"s3 {action}", error) from error


def _pass_trace_on(request: Any, **_: Any) -> None:
    """botocore: a request that is signed already goes out."""
    for name, value in trace_headers().items():
        request.headers[name] = value


# the system doubles it (socket(7)), and the event loop may read all of it at once
_RECEIVE_BYTES = 64 << 10
_UNDECRYPTED_BYTES = 16 << 10


def create_small_socket(address: tuple[Any, ...]) -> socket.socket:
    """Create a socket with a small receive buffer, for an entry of `getaddrinfo`."""
    family, kind, protocol = address[:3]
    created = socket.socket(family, kind, protocol)
    # set before connecting, because the size of the TCP window is announced then
    created.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
    return created


class BodyReader:
    """Reads the body of a response piece by piece. Between two pieces the connection does not read."""

    def __init__(self, response: ClientResponse) -> None:
        self._response = response
        self._connection = response.connection  # None when the whole body has arrived
        transport: Any = self._connection and self._connection.transport
        if hasattr(transport, "set_read_buffer_limits"):  # TLS: the buffer of undecrypted bytes
            transport.set_read_buffer_limits(_UNDECRYPTED_BYTES)

    async def read_next(self) -> bytes:
        """Return the next piece, or no bytes at the end. Further data stays in the socket until the next call."""
        protocol = self._connection and self._connection.protocol
        if protocol is not None:
            protocol.resume_reading()
        piece = await self._response.content.readany()
        protocol = self._connection and self._connection.protocol
        if protocol is not None:
            protocol.pause_reading()
        return piece


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


_CONNECTIONS = 64


@asynccontextmanager
async def open_s3_storage(settings: FilesSettings) -> AsyncIterator[S3Storage]:
    """Open the two buckets while the block runs. S3 need not be available yet."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(_create_client(settings, settings.s3_endpoint))
        signer = await stack.enter_async_context(
            _create_client(settings, settings.s3_public_endpoint or settings.s3_endpoint)
        )
        storage = S3Storage(client, signer, settings)
        await storage.prepare()
        yield storage


def _create_client(settings: FilesSettings, endpoint: str) -> Any:
    # no endpoint means AWS, where signed path-style URLs would be redirected to another region first
    aws_style = settings.s3_addressing == "auto" and not endpoint
    config = AioConfig(
        signature_version="s3v4",
        connect_timeout=settings.s3_connect_seconds,
        read_timeout=settings.s3_request_seconds * PATIENCE,
        retries={"total_max_attempts": 2, "mode": "standard"},
        max_pool_connections=_CONNECTIONS,
        connector_args={"socket_factory": create_small_socket},
        # S3-compatible storages do not support the newer checksums; TLS or the signature protects the content
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        s3={
            "addressing_style": "virtual" if aws_style else settings.s3_addressing,
            "payload_signing_enabled": endpoint.startswith("http://"),
        },
    )
    return get_session().create_client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=settings.s3_region,
        aws_access_key_id=settings.s3_access_key.get_secret_value() or None,
        aws_secret_access_key=settings.s3_secret_key.get_secret_value() or None,
        config=config,
    )


class S3Storage:
    """The two buckets. `client` uses the endpoint of the service, `signer` signs for the endpoint that browsers use."""

    def __init__(self, client: Any, signer: Any, settings: FilesSettings) -> None:
        self._calls = S3Calls(client, settings.s3_request_seconds)
        self._signer = signer
        self._buckets: dict[Visibility, str] = {
            "public": settings.s3_public_bucket,
            "private": settings.s3_private_bucket,
        }
        self._public_url = settings.s3_public_url

    async def prepare(self) -> None:
        """Compute the URL of the public bucket, in the addressing style of the settings. Makes no request."""
        if not self._public_url:
            signed = await self._sign("get_object", "public", "x", 60)
            self._public_url = signed.partition("?")[0].removesuffix("/x")

    async def check(self) -> None:
        """Request the head of both buckets."""
        for bucket in self._buckets.values():
            await self._calls("check", "head_bucket", Bucket=bucket)

    @asynccontextmanager
    async def writer(self, key: str, visibility: Visibility | None, label: Label) -> AsyncIterator[S3Writer]:
        """Write a file in parts. It appears in S3 when the parts are joined; if they are not, they are removed."""
        writer = S3Writer(self._calls, self._buckets, check_key(key), visibility, label)
        try:
            yield writer
        except BaseException:
            # a cancelled request must still clean up
            await asyncio.shield(writer.abandon())
            raise
        if not writer.committed:
            await writer.abandon()

    async def stat(self, visibility: Visibility, key: str) -> Stat | None:
        """Return size and ETag as S3 reports them."""
        found = await self._calls("stat", "head_object", gone=GONE, **self._at(visibility, key))
        return None if found is None else Stat(int(found["ContentLength"]), str(found["ETag"]).strip('"'))

    async def open(self, visibility: Visibility, key: str, etag: str, start: int, stop: int) -> _S3Source | None:
        """Open exactly this content. Returns None if a signed address was used to overwrite it."""
        at = self._at(visibility, key)
        found = await self._calls(
            "open", "get_object", gone=GONE, **at, IfMatch=f'"{etag}"', Range=f"bytes={start}-{stop - 1}"
        )
        return None if found is None else _S3Source(found["Body"], stop - start, self._calls.seconds)

    async def delete(self, visibility: Visibility, key: str) -> None:
        """Delete the object. S3 reports no error if it does not exist."""
        await self._calls("delete", "delete_object", gone=GONE, **self._at(visibility, key))

    async def discard(self, key: str) -> None:
        """Abort every multipart upload of this key, and remove the file from both buckets."""
        await self._abort(check_key(key))
        for visibility in self._buckets:
            await self.delete(visibility, key)

    async def tidy(self, before: datetime) -> None:
        """Abort multipart uploads that began before this time."""
        await self._abort("", before)

    async def _abort(self, prefix: str, before: datetime | None = None) -> None:
        for visibility, bucket in self._buckets.items():
            async for upload in self._uploads(bucket, prefix):
                ours = KEY.fullmatch(upload["Key"]) and (before is None or upload["Initiated"] < before)
                at = self._at(visibility, upload["Key"])
                if ours:
                    await self._calls("abort", "abort_multipart_upload", gone=GONE, **at, UploadId=upload["UploadId"])

    async def _uploads(self, bucket: str, prefix: str) -> AsyncIterator[Mapping[str, Any]]:
        """The multipart uploads of a bucket that have not ended, read a thousand at a time."""
        after: dict[str, Any] = {}
        while True:
            page = await self._calls("abort", "list_multipart_uploads", Bucket=bucket, Prefix=prefix, **after)
            for upload in page.get("Uploads", ()):
                yield upload
            if not page.get("IsTruncated"):
                return
            after = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]}

    async def clear(self) -> None:
        """Delete the objects that have keys of the service, one page of the bucket at a time."""
        for bucket in self._buckets.values():
            after = ""
            while True:
                page = await self._calls("clear", "list_objects_v2", Bucket=bucket, StartAfter=after)
                keys = [found["Key"] for found in page.get("Contents", ())]
                for key in filter(KEY.fullmatch, keys):
                    await self._calls("clear", "delete_object", gone=GONE, Bucket=bucket, Key=key)
                if not page.get("IsTruncated"):
                    break
                after = keys[-1]

    def public_url(self, key: str) -> str:
        """Return the link in the public bucket, or in the CDN before it."""
        return f"{self._public_url}/{key}"

    async def upload_address(self, visibility: Visibility, key: str, label: Label, size: int, seconds: int) -> Address:
        """Return a presigned PUT. For a public file it also sets the headers that browsers get."""
        headers = {"Content-Type": label.type.media}
        bound: dict[str, Any] = {"ContentType": label.type.media, "ContentLength": size}
        if visibility == "public":
            headers |= {"Content-Disposition": label.disposition, "Cache-Control": FOREVER}
            bound |= {"ContentDisposition": label.disposition, "CacheControl": FOREVER}
        return Address(await self._sign("put_object", visibility, key, seconds, **bound), headers)

    async def download_address(self, key: str, label: Label, seconds: int) -> str:
        """Return a presigned GET. The response has the name and the type of the file."""
        shown = {"ResponseContentDisposition": label.disposition, "ResponseContentType": label.type.media}
        return await self._sign("get_object", "private", key, seconds, **shown)

    async def _sign(self, method: str, visibility: Visibility, key: str, seconds: int, **bound: Any) -> str:
        signed: str = await self._signer.generate_presigned_url(
            method, Params={**self._at(visibility, key), **bound}, ExpiresIn=seconds
        )
        return signed

    def _at(self, visibility: Visibility, key: str) -> dict[str, Any]:
        return {"Bucket": self._buckets[visibility], "Key": key}


class _S3Source:
    """The body of a response of S3. Raises if it stalls or ends too early."""

    def __init__(self, body: Any, length: int, seconds: float) -> None:
        self._body = body
        self._body_reader = BodyReader(body.raw_stream)
        self._left = length
        self._seconds = seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Iterate over the pieces in order. Raises EOFError if the body is shorter than announced."""
        while self._left:
            try:
                async with asyncio.timeout(self._seconds):
                    block = await self._body_reader.read_next()
            except Exception as error:
                raise make_storage_error("read", error) from error
            if not block:
                raise EOFError("the object ends too early")
            self._left -= len(block)
            yield block

    async def aclose(self) -> None:
        """Return the connection to the pool, or close it if bytes are left."""
        self._body.close()
