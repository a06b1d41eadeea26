"""A server with stand-ins for mail and WeCom, which sends when a test says so, not by its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.commands.mail_simulator import MailSimulator, receiving_mail
from plugins.commands.wecom_simulator import Simulator, simulating
from plugins.notification.sending import Sender
from plugins.testing import Client, People, serving
from tests.api.notification.outside import Outside


@pytest.fixture(scope="package")
def served(
    io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Running, MailSimulator, Simulator]]:
    """The server and its stand-ins."""
    stack = AsyncExitStack()

    async def start() -> tuple[Running, MailSimulator, Simulator]:
        mail = await stack.enter_async_context(receiving_mail(MailSimulator()))
        wecom = await stack.enter_async_context(simulating(Simulator()))
        settings = {
            "notification_smtp": f"smtp://127.0.0.1:{mail.port}?from=Tradewind%20%3Cno-reply@example.com%3E",
            "wecom_corp_id": wecom.corp_id,
            "wecom_agent_id": wecom.agent_id,
            "wecom_secret": wecom.secret,
            "wecom_redirect_uri": f"{wecom.url}/callback",
            "wecom_api_base": wecom.url,
        }
        plugins = [replace(one, jobs=()) for one in load_plugins(("notification", "system", "approval"))]
        block = serving(mongodb_uri, tmp_path_factory.mktemp("outside"), plugins, **settings)
        return await stack.enter_async_context(block), mail, wecom

    yield io_loop.run_sync(start)
    io_loop.run_sync(stack.aclose)


@pytest.fixture(scope="package")
def people_outside(io_loop: IOLoop, served: tuple[Running, MailSimulator, Simulator]) -> People:
    """Makes people of that server."""
    client: Client = io_loop.run_sync(lambda: Client(served[0].url).log_in("admin"))
    return People(client)


@pytest.fixture
def outside(served: tuple[Running, MailSimulator, Simulator], people_outside: People) -> Iterator[Outside]:
    """That server, with nothing sent yet and stand-ins that accept everything."""
    running, mail, wecom = served
    mail.mails.clear()
    wecom.messages.clear()
    yield Outside(running, mail, wecom, people_outside)
    mail.broken, mail.refused = "", {}
    running.service.part(Sender).forget_pauses()
