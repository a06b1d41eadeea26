"""Fixtures for tests of every route or collection: a maker of requests, people, and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.runtime import Running
from plugins.testing import Client, People, Reply
from scripts.s3_stand_in import S3Server, s3_server
from tests.support.demo import serving_demo
from tests.support.office import Office, open_office
from tests.support.openapi_checks import Described
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker


@pytest.fixture(scope="session")
def tradewind(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with every built-in plugin and demo data, which are loaded from a dump."""
    block = serving_demo(mongodb_uri, tmp_path_factory.mktemp("data"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def maker(admin: Client, tradewind: Running) -> Maker:
    """Makes valid requests, and the records that they need."""
    return Maker(admin, HAND_MADE, tradewind.catalogue)


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
def s3() -> Iterator[S3Server]:
    """An S3 over HTTP."""
    with s3_server() as server:
        yield server
