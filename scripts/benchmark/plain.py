"""What plain Tornado streaming handlers do with a file, the measure for ours: `python -m scripts.benchmark.plain FOLDER [S3 BUCKET]`.

`/plain` writes and reads a file. `/careful` does besides what a file of ours must have: its SHA-256, and its bytes on
the disk before the answer. `/relay` passes the bytes on to S3, and back.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import uvloop
from aiobotocore.session import get_session  # type: ignore[import-untyped]
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler, stream_request_body

from scripts.s3_stand_in import ACCESS_KEY, REGION, SECRET_KEY

BLOCK = 256 << 10
PART_BYTES = 5 << 20


@stream_request_body
class Plain(RequestHandler):
    """PUT writes the body to a file, GET reads it back."""

    def initialize(self, path: Path) -> None:
        """Where the file is."""
        self.path = path

    def prepare(self) -> None:
        """The head of the request is there."""
        if self.request.method == "PUT":
            self.file = self.path.open("wb")

    def data_received(self, chunk: bytes) -> None:
        """A piece of the body."""
        self.file.write(chunk)

    def put(self) -> None:
        """The body is whole."""
        self.file.close()

    def delete(self) -> None:
        """Give the room back."""
        self.path.unlink(missing_ok=True)

    async def get(self) -> None:
        """Read and send."""
        self.set_header("Content-Length", self.path.stat().st_size)
        with self.path.open("rb") as file:
            while block := file.read(BLOCK):
                self.write(block)
                await self.flush()


class Careful(Plain):
    """The same, hashed and synchronised."""

    def prepare(self) -> None:
        """The head of the request is there."""
        super().prepare()
        self.hash = hashlib.sha256()

    def data_received(self, chunk: bytes) -> None:
        """A piece of the body."""
        super().data_received(chunk)
        self.hash.update(chunk)

    def put(self) -> None:
        """The body is whole."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self.finish(self.hash.hexdigest())


@stream_request_body
class Relay(RequestHandler):
    """PUT sends the body to S3 in parts, GET fetches it."""

    def initialize(self, s3: Any, bucket: str) -> None:
        """Where the file goes."""
        self.s3 = s3
        self.at = {"Bucket": bucket, "Key": "relayed"}

    async def prepare(self) -> None:
        """The head of the request is there."""
        if self.request.method == "PUT":
            self.waiting = bytearray()
            self.parts: list[dict[str, Any]] = []
            self.upload = (await self.s3.create_multipart_upload(**self.at))["UploadId"]

    async def data_received(self, chunk: bytes) -> None:
        """A piece of the body."""
        self.waiting += chunk
        if len(self.waiting) >= PART_BYTES:
            await self._send()

    async def _send(self) -> None:
        part = {"UploadId": self.upload, "PartNumber": len(self.parts) + 1}
        sent = await self.s3.upload_part(**self.at, **part, Body=bytes(self.waiting))
        self.parts.append({"PartNumber": part["PartNumber"], "ETag": sent["ETag"]})
        self.waiting.clear()

    async def put(self) -> None:
        """The body is whole."""
        await self._send()
        await self.s3.complete_multipart_upload(**self.at, UploadId=self.upload, MultipartUpload={"Parts": self.parts})

    async def get(self) -> None:
        """Fetch and send."""
        found = await self.s3.get_object(**self.at)
        self.set_header("Content-Length", found["ContentLength"])
        while block := await found["Body"].read(BLOCK):
            self.write(block)
            await self.flush()


async def main(folder: str, endpoint: str = "", bucket: str = "") -> None:
    """Serve until killed; the port is the first line of the output."""
    path = {"path": Path(folder) / "file"}
    async with AsyncExitStack() as stack:
        client = get_session().create_client(
            "s3", endpoint_url=endpoint or None, region_name=REGION, aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )  # fmt: skip
        relay = {"s3": await stack.enter_async_context(client), "bucket": bucket}
        routes = [("/plain", Plain, path), ("/careful", Careful, path), ("/relay", Relay, relay)]
        server = HTTPServer(Application(routes), max_body_size=1 << 40)
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        print(sockets[0].getsockname()[1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
