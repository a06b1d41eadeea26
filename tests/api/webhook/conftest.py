"""A server that may send to loopback, and retries at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, serving
from tests.api.webhook.receivers import Receiver, receiving


@pytest.fixture(scope="package")
def hooked(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The server."""
    plugins = load_plugins(("crm", "notification", "webhook"))
    block = serving(mongodb_uri, tmp_path_factory.mktemp("hooked"), plugins, webhook_networks=("127.0.0.0/8",))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture
def admin(io_loop: IOLoop, hooked: Running) -> Client:
    """The super administrator of that server."""
    return io_loop.run_sync(lambda: Client(hooked.url).log_in("admin"))


@pytest.fixture
def people(admin: Client) -> People:
    """People of that server."""
    return People(admin)


@pytest.fixture
def receiver(io_loop: IOLoop, admin: Client) -> Iterator[Receiver]:
    """A receiver that accepts everything; no webhook stays that leads to it."""
    block = receiving()
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
    io_loop.run_sync(lambda: _delete_all(admin))


async def _delete_all(admin: Client) -> None:
    at = "/api/v1/system/webhooks"
    for hook in expect(await admin.get(f"{at}?page_size=200"))["items"]:
        expect(await admin.delete(f"{at}/{hook['id']}"))


@pytest.fixture(autouse=True)
def retried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for the retries of three days."""
    monkeypatch.setattr("plugins.webhook.sending.RETRY_SECONDS", (0.05,) * 5)


@pytest.fixture
def admin_of_demo(io_loop: IOLoop, tradewind: Running) -> Client:
    """The super administrator of the shared server, which may send outside only."""
    return io_loop.run_sync(lambda: Client(tradewind.url).log_in("admin"))
