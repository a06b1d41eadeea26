"""Tradewind: settings → database → plugins → listen. `python server.py [--host H] [--port N]`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import uvloop
from pydantic import ValidationError

from config.embedded import Embedded, EmbeddedError, acquire
from config.local_secrets import demo_accounts
from config.logs import start_logging
from config.settings import Settings

if TYPE_CHECKING:
    from handlers.service import Catalogue
    from plugins.plugin import Plugin
    from plugins.runtime import Running

log = logging.getLogger("tradewind")
_COLLECT_AFTER = 10_000  # new objects; Python's 700 are as many as a few requests make


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT; the exit code."""
    parser = argparse.ArgumentParser(prog="server.py", description="Tradewind, the back end of a business platform.")
    parser.add_argument("--host", help="address to listen on (TRADEWIND_HOST)")
    parser.add_argument("--port", type=int, help="port to listen on (TRADEWIND_PORT)")
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    gc.disable()  # nearly everything that the imports make stays
    try:
        settings = Settings(**given)
        return run(settings, start_database(settings))
    except ValidationError as error:
        return fail([f"{_name(fault['loc'])}{fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()])
    except EmbeddedError as error:
        return fail([str(error)])
    finally:
        gc.enable()


def start_database(settings: Settings) -> Future[Embedded] | None:
    """Begin to start the embedded database; None where the settings name another one.

    It takes as long as importing the plugins, so both happen at once. Where the server does not come so far as to use
    it, it stops by itself.
    """
    if settings.mongodb_uri.get_secret_value():
        return None
    return ThreadPoolExecutor(1, "database").submit(acquire, settings.data_dir)


def run(settings: Settings, starting: Future[Embedded] | None) -> int:
    """Load the plugins and serve them; the exit code."""
    from plugins.registry import RegistryError, load_plugins  # late, while the database starts
    from plugins.runtime import StartError, catalogue_of

    try:
        plugins = load_plugins(settings.plugins)
        catalogue = catalogue_of(settings, plugins)
        gc.freeze()
        gc.enable()
        listener = start_logging(settings.log_level)
        try:
            uvloop.run(serve(settings, plugins, starting, catalogue))
        finally:
            listener.stop()
    except RegistryError as error:
        return fail(error.problems)
    except StartError as error:
        return fail([str(error)])
    return 0


async def serve(
    settings: Settings,
    plugins: Sequence[Plugin],
    starting: Future[Embedded] | None,
    catalogue: Catalogue | None = None,
) -> None:
    """Start, say so, and stop cleanly when asked to."""
    from plugins.runtime import running

    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    embedded = await asyncio.to_thread(starting.result) if starting else None
    uri = embedded.uri if embedded else settings.mongodb_uri.get_secret_value()
    try:
        async with running(settings, plugins, uri, catalogue=catalogue) as service:
            log.info("ready", extra={"url": service.url, "plugins": list(service.service.catalogue.plugins)})
            if settings.demo:
                welcome(service)
            await settle()
            await stopping.wait()
            log.info("stopping")
    finally:
        if embedded:
            await asyncio.to_thread(embedded.release_and_wait, 15)
    log.info("stopped")


async def settle() -> None:
    """Load what a start need not wait for, and spare the collector all that stays.

    Without that every full collection would walk through it and hold the event loop for 90 ms.
    """
    from handlers.data.search import load_pinyin

    gc.collect()
    gc.disable()  # many small objects, which would set the collector off again and again
    await asyncio.to_thread(load_pinyin)
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    gc.enable()


def welcome(service: Running) -> None:
    """Tell the visitor of a demo where to go and who to be."""
    accounts = {"admin": "as in TRADEWIND_ADMIN_PASSWORD", **demo_accounts(service.service.settings.data_dir)}
    lines = [
        "",
        f"  Tradewind  {service.url}",
        f"  Docs       {service.url}/api/docs",
        "",
        "  Log in as",
        *(f"    {username:<10} {password}" for username, password in accounts.items()),
        "",
        "  Ctrl-C stops the server and its database.",
        "",
        "",
    ]
    # in one piece, because log lines are written by another thread
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()


def _name(location: Sequence[object]) -> str:
    return f"TRADEWIND_{'_'.join(map(str, location)).upper()}: " if location else ""


def fail(problems: Sequence[str]) -> int:
    """Say every problem on a line of its own."""
    for problem in problems:
        print(f"tradewind: {problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `serve` listens Ctrl-C ends the process at once, with no trace
    sys.exit(main())
