"""Fixtures for tests of every route or collection: a maker of requests, people, and the OpenAPI document."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from handlers.data.database import Database
from plugins.boot.runtime import Running
from plugins.testing import Client, People, Reply, serving
from tests.support.catalogue import CATALOGUE, PLUGINS, chosen_collections
from tests.support.demo import serving_demo
from tests.support.dictionary_entries import Entries
from tests.support.office import Office, open_office
from tests.support.openapi_checks import Described
from tests.support.query_plans import database_of_its_own, fill
from tests.support.s3_stand_in import S3Server, s3_server
from tests.support.special_requests import HAND_MADE
from tests.support.strange_rows import rows_of
from tests.support.valid_requests import Maker


@pytest.fixture(scope="session")
def tradewind(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with every built-in plugin and demo data, which are loaded from a dump."""
    block = serving_demo(mongodb_uri, tmp_path_factory.mktemp("data"), plugins=PLUGINS)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def maker(admin: Client, tradewind: Running) -> Maker:
    """Makes valid requests, and the records that they need."""
    return Maker(admin, HAND_MADE, tradewind.catalogue)


@pytest.fixture(scope="module")
def no_collection() -> Iterator[None]:
    """For tests that parse: CPython 3.11 miscounts its recursion if a collection runs callbacks while it makes a tree."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def entries(io_loop: IOLoop, admin: Client, tradewind: Running) -> Iterator[Entries]:
    """Adds entries to declared dictionaries, and takes them away when the test ends."""
    adding = Entries(admin, tradewind)
    yield adding
    io_loop.run_sync(adding.take_away)


@pytest.fixture(scope="session")
def nobody(io_loop: IOLoop, people: People) -> Client:
    """A person who is logged in and may do nothing."""

    async def made() -> Client:
        return await people.admin.log_in((await people.account())["username"])

    client: Client = io_loop.run_sync(made)
    return client


@pytest.fixture(scope="session")
def described(io_loop: IOLoop, anonymous: Client) -> Described:
    """The OpenAPI document of the server."""
    reply: Reply = io_loop.run_sync(lambda: anonymous.get("/api/openapi.json"))
    return Described(reply.json)


@pytest.fixture(scope="session")
def office(io_loop: IOLoop, maker: Maker, people: People, tradewind: Running) -> Office:
    """Five colleagues and their rows."""
    opened: Office = io_loop.run_sync(lambda: open_office(maker, people, tradewind.service.database))
    return opened


@pytest.fixture(scope="session")
def filled(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Database]:
    """A database with the declared indexes, and hundreds of rows in every collection that is listed or sorted by names."""
    listed = {route.collection for route in CATALOGUE.routes if route.paged}

    async def prepare(database: Database) -> None:
        await database.prepare()
        for collection in chosen_collections():
            if collection.scoped or collection.stored_orders or collection.name in listed:
                await fill(database, collection)

    with database_of_its_own(io_loop, mongodb_uri, CATALOGUE.collections.values(), prepare) as database:
        yield database


@pytest.fixture(scope="session")
def strange(io_loop: IOLoop, mongodb_uri: str) -> Iterator[Database]:
    """A database without unique indexes, and rows of any values in every collection that is sorted by something."""

    async def prepare(database: Database) -> None:
        for collection in chosen_collections():
            if collection.sortable:
                await database.driver.insert(collection.name, await rows_of(collection, anything=True))

    with database_of_its_own(io_loop, mongodb_uri, CATALOGUE.collections.values(), prepare) as database:
        yield database


@pytest.fixture(scope="module")
def elsewhere(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own: nobody else writes what its tables hold."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("elsewhere"), PLUGINS)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def chief(io_loop: IOLoop, elsewhere: Running) -> Client:
    """User 1 of that server."""
    client: Client = io_loop.run_sync(lambda: Client(elsewhere.url).log_in("admin"))
    return client


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """An S3 over HTTP."""
    with s3_server() as server:
        yield server
