"""Files in S3 or a compatible storage: a public bucket and a private one.

The library, aiobotocore, is optional: local storage works without it, so only the S3 modules import it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any

from aiobotocore.config import AioConfig  # type: ignore[import-untyped]
from aiobotocore.session import get_session  # type: ignore[import-untyped]

from plugins.files.names import KEY, check_key
from plugins.files.s3_calls import GONE, PATIENCE, S3Calls
from plugins.files.s3_connections import BodyReader, create_small_socket
from plugins.files.s3_writer import S3Writer
from plugins.files.settings import FilesSettings
from plugins.files.storage import FOREVER, Address, Label, Stat, Visibility, make_storage_error

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
