"""A proxy before a MongoDB that may be killed, and two servers: one behind the proxy, one beside it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tornado.ioloop import IOLoop

from config.embedded import acquire
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, People, eventually, serving
from tests.support import probe
from tests.support.proxy import Proxy
from tests.support.watchdog import LoopWatchdog

TIMEOUT_MS = 500


@dataclass(frozen=True)
class Site:
    """`behind` is a server whose database is reached through `proxy`; `beside` one on the same database without it."""

    proxy: Proxy
    behind: Running
    beside: Running
    admin: Client
    admin_beside: Client
    open_another: Callable[..., AbstractAsyncContextManager[Running]]

    @property
    def people(self) -> People:
        """Makes people through the server that has its database."""
        return People(self.admin_beside)


@pytest.fixture(scope="session")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the `mongod` of these tests keeps its data."""
    return tmp_path_factory.mktemp("hurt")


@pytest.fixture(scope="session")
def site_mongodb(own_folder: Path) -> Iterator[str]:
    """A `mongod` that nobody else uses."""
    embedded = acquire(own_folder)
    yield embedded.uri
    embedded.release_and_wait(15)


@pytest.fixture(scope="session")
def site(io_loop: IOLoop, site_mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    block = building(site_mongodb, tmp_path_factory)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@asynccontextmanager
async def building(uri: str, folders: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Both servers, with the database in working order until a test hurts it."""
    address = urlsplit(uri)
    proxy = Proxy(address.port or 0)
    await proxy.up()
    through = f"mongodb://{address.username}:{address.password}@127.0.0.1:{proxy.port}/?directConnection=true&authSource=admin"
    plugins = [*load_plugins(("auth", "rbac", "system")), probe.plugin]
    folder = folders.mktemp("site")
    shared = {"mongodb_database": f"test_{uuid.uuid4().hex[:12]}", "demo": False, "jwt_secret": uuid.uuid4().hex}
    another = partial(serving, through, folder, plugins, mongodb_timeout_ms=TIMEOUT_MS, **shared)
    async with serving(uri, folder, plugins, **shared) as beside, another() as behind:
        admin = await Client(behind.url).log_in("admin")
        yield Site(proxy, behind, beside, admin, Client(beside.url, admin.token, admin.user), another)
        await proxy.up()
    await proxy.close()


@pytest.fixture(autouse=True)
def in_working_order(io_loop: IOLoop, site: Site) -> Iterator[None]:
    """Whatever a test did, the next one finds the database in reach."""
    yield
    io_loop.run_sync(site.proxy.up)
    io_loop.run_sync(lambda: back(site))


@pytest.fixture(autouse=True)
def watchdog(io_loop: IOLoop, site: Site) -> Iterator[LoopWatchdog]:
    """Nothing may block the event loop, whatever fails: the service responds to other requests meanwhile."""
    with LoopWatchdog(io_loop.asyncio_loop) as watching:
        yield watching
    assert watching.blocks == [], "\n".join(map(str, watching.blocks))


async def back(site: Site) -> None:
    """Wait until the server behind the proxy serves again."""

    async def serves() -> bool:
        replies = [await site.admin.get("/api/health/ready"), await site.admin.get(probe.WIDGETS_AT)]
        return [reply.code for reply in replies] == [0, 0]

    await eventually(serves, seconds=10, every=0.1)
