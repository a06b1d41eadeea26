"""Waits until a demo server on this machine is ready, and enters the business of the demonstration company into a new one."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from datetime import timedelta
from typing import Any

from config.settings import Settings
from handlers.data.database import utc_now
from handlers.service import Service
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import MARKS, started
from plugins.commands.demo_company.business import do_business
from plugins.commands.doctor import database_uri
from plugins.rbac.directory import Directory, people_of_the_demo

MARK = "demo:company"
_WAIT_SECONDS = 300
_NEW = timedelta(hours=1)


def main(port: str) -> int:
    """Return 0 when the business is entered, or if the demo is not a new one."""
    if not _listens(int(port)):
        return 1
    given: dict[str, Any] = {"demo": True}
    settings = Settings(**given)
    with database_uri(settings) as uri:
        if uri is not None:
            asyncio.run(_enter(settings, uri))
    return 0


def _listens(port: int) -> bool:
    """Wait until the server listens, which it does once the demo data of the plugins are in."""
    until = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return True
    return False


async def _enter(settings: Settings, uri: str) -> None:
    plugins = load_plugins(settings.plugins)
    async with started(settings, plugins, uri) as service:
        await enter(service)


async def enter(service: Service) -> bool:
    """Enter the business, once for a database; return whether that was done. A demo in use stays as it is."""
    driver, people = service.database.driver, await people_of_the_demo(service)
    manager = await service.part(Directory).by_username("manager")
    if manager is None or not people or utc_now() - manager["created_at"] > _NEW:
        return False
    if await driver.find(MARKS, {"_id": MARK}, limit=1):
        return False
    await driver.insert(MARKS, [{"_id": MARK}])  # first: what is interrupted is not entered again
    await do_business(service, people)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
