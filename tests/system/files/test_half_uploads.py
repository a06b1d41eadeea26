"""After `kill -9` during an upload the next start removes what is left in S3; uploads of running servers are not touched.

What is left on a local disk is a matter of tests/experiments/system/test_killed_processes.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from plugins.testing import Client, eventually, expect, unique
from tests.api.files.places import MEBIBYTE, SECRET, Place, place
from tests.api.files.samples import BOUNDARY, RAR
from tests.support.raw_http import Wire, connected, request
from tests.support.s3_stand_in import S3Server
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
PLUGINS = ("auth", "rbac", "files")
HALF = RAR + bytes(7 * MEBIBYTE)
END = f"\r\n--{BOUNDARY}--\r\n".encode()


@dataclass
class Deployment:
    """A database, a data folder and a storage that several servers share."""

    uri: str
    folder: Path
    s3: S3Server | None
    settings: dict[str, str]
    database: str = field(default_factory=lambda: unique("killed").replace("-", "_"))

    def server(self) -> Any:
        """A server of the deployment, in this process."""
        options: dict[str, Any] = {**self.settings, "max_upload_bytes": 100 * MEBIBYTE}
        return place(self.uri, self.folder, self.s3, PLUGINS, mongodb_database=self.database, **options)

    def process(self) -> Any:
        """A server of the deployment, in a separate process."""
        named = {name.upper(): value for name, value in self.settings.items()}
        env = environment(
            self.uri, self.folder, MONGODB_DATABASE=self.database, PLUGINS=",".join(PLUGINS), JWT_SECRET=SECRET, **named
        )
        return server_process(env, self.folder / "process")

    def left(self) -> set[str]:
        """The complete and partial files in the storage."""
        if self.s3 is not None:
            return self.s3.holds(self.settings["s3_private_bucket"])
        return {path.name for path in (self.folder / "files").glob("[ap]*/**/*") if path.is_file()}

    async def half_written(self) -> bool:
        return bool(self.left())

    async def clean(self) -> bool:
        return not self.left()


@pytest.fixture
def deployment(request: pytest.FixtureRequest, mongodb_uri: str, tmp_path: Path) -> Deployment:
    s3: S3Server | None = request.getfixturevalue("s3") if request.param == "s3" else None
    return Deployment(mongodb_uri, tmp_path, s3, s3.buckets() if s3 else {})


@asynccontextmanager
async def half_sent(client: Client) -> AsyncIterator[Wire]:
    """A connection that has sent half of a file."""
    first = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="a.rar"\r\n\r\n' % BOUNDARY.encode() + HALF
    headers = f"Authorization: Bearer {client.token}", f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
    async with connected(client.url) as wire:
        length = len(first) + len(HALF) + len(END)
        await wire.send(request("POST /api/upload", *headers, f"Content-Length: {length}") + first)
        yield wire


@pytest.mark.parametrize("deployment", ["s3"], indirect=True)
async def test_what_a_killed_server_was_writing_is_gone_after_the_next_start(deployment: Deployment) -> None:
    async with deployment.process() as killed, half_sent(await Client(await killed.url()).log_in("admin")):
        await eventually(deployment.half_written, seconds=10)
        killed.process.send_signal(SIGKILL)
        await killed.ended()
    assert deployment.left()
    next_one: Place
    async with deployment.server() as next_one:
        await eventually(deployment.clean, seconds=10)

        async def forgotten() -> bool:
            return await next_one.list_stored() == set()

        await eventually(forgotten)


@pytest.mark.parametrize("deployment", ["local"], indirect=True)  # locks say which process writes, whatever the storage
async def test_a_start_leaves_alone_what_another_server_is_writing(deployment: Deployment) -> None:
    first: Place
    async with deployment.server() as first, half_sent(first.admin) as wire:
        await eventually(deployment.half_written, seconds=10)
        async with deployment.server():
            pass
        await wire.send(HALF + END)
        stored = expect(await wire.reply())
        assert stored["size"] == 2 * len(HALF)
        assert (await first.admin.get(f"/api/file/dl?object_key={stored['objectKey']}")).status == 200
