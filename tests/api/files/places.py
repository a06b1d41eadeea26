"""Servers that store files: on a local disk, behind either HTTP connection, and in S3."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from handlers.docs.openapi import describe
from handlers.route import Route
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.files.objects import Files
from plugins.files.records import ATTACHMENTS, OBJECTS
from plugins.testing import Client, People, serving
from tests.support.openapi_checks import Described
from tests.support.s3_stand_in import S3Server

PLUGINS = ("auth", "rbac", "system", "crm", "files")
SECRET = "a-signing-secret-of-the-tests-of-files"
MEBIBYTE = 1 << 20
# what the storage promises is tried on S3 too; every test with `here` runs on S3 and behind Tornado's own HTTP
# connection in tests/experiments/files/test_other_storages.py
on_both = pytest.mark.parametrize("here", ["local", "s3"], indirect=True, scope="module")


@dataclass(frozen=True)
class Place:
    """A server, its administrator, and access to its files from outside."""

    running: Running
    admin: Client
    folder: Path
    s3: S3Server | None
    buckets: tuple[str, ...]

    @property
    def url(self) -> str:
        return self.running.url

    @property
    def people(self) -> People:
        return People(self.admin)

    @property
    def anonymous(self) -> Client:
        return Client(self.url)

    @property
    def files(self) -> Files:
        return self.running.service.part(Files)

    @cached_property
    def described(self) -> Described:
        """The OpenAPI document of the server."""
        return Described(describe(self.running.catalogue.routes, "test"))

    def route(self, method: str, path: str) -> Route:
        """The route of a path without parameters."""
        name = f"{method} {path.partition('?')[0]}"
        return next(one for one in self.running.catalogue.routes if f"{one.method} {one.path}" == name)

    def address(self, url: str) -> tuple[Client, str]:
        """A client and a path for an address that the service gave out: its own, or S3's."""
        if url.startswith("/"):
            return self.anonymous, url
        scheme, _, rest = url.partition("://")
        host, _, path = rest.partition("/")
        return Client(f"{scheme}://{host}"), f"/{path}"

    async def list_stored(self) -> set[str]:
        """Everything stored: records, and complete and partial files in the storage."""
        database = self.running.service.database
        records = await database.store(OBJECTS).find()
        attachments = await database.store(ATTACHMENTS).find()
        named = {f"record {row['id']} {row['state']}" for row in records} | {
            f"attachment {row['id']}" for row in attachments
        }
        return named | await asyncio.to_thread(self._list_files)

    def _list_files(self) -> set[str]:
        if self.s3 is not None:
            return {f"{bucket}/{key}" for bucket in self.buckets for key in self.s3.holds(bucket)}
        return {str(path) for path in self.folder.glob("files/**/*") if path.is_file() and "writers" not in path.parts}


@asynccontextmanager
async def place(
    uri: str, folder: Path, s3: S3Server | None = None, plugins: tuple[str, ...] = PLUGINS, **settings: Any
) -> AsyncIterator[Place]:
    """A separate server, with S3 if it is given."""
    shared = {"demo": False, "jwt_secret": SECRET, "max_upload_bytes": 12 * MEBIBYTE}
    own_buckets = s3.buckets() if s3 and "s3_public_bucket" not in settings else {}
    options = {**shared, **own_buckets, **settings}
    async with serving(uri, folder, load_plugins(plugins), **options) as running:
        buckets = tuple(value for name, value in options.items() if name.endswith("_bucket"))
        yield Place(running, await Client(running.url).log_in("admin"), folder, s3, buckets)
