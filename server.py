"""Tradewind: settings → database → plugins → listen. `python server.py [--host H] [--port N]`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Sequence

import uvloop
from pydantic import ValidationError

from config.embedded import EmbeddedError, acquire
from config.local_secrets import demo_accounts
from config.logs import start_logging
from config.settings import Settings
from plugins.plugin import Plugin
from plugins.registry import RegistryError, freeze, load_plugins
from plugins.runtime import Running, StartError, running

log = logging.getLogger("tradewind")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT; the exit code."""
    parser = argparse.ArgumentParser(prog="server.py", description="Tradewind, the back end of a business platform.")
    parser.add_argument("--host", help="address to listen on (TRADEWIND_HOST)")
    parser.add_argument("--port", type=int, help="port to listen on (TRADEWIND_PORT)")
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    try:
        settings = Settings(**given)
        plugins = load_plugins(settings.plugins)
        freeze(plugins)  # what does not fit together is told before a database is started
        listener = start_logging(settings.log_level)
        try:
            uvloop.run(serve(settings, plugins))
        finally:
            listener.stop()
    except ValidationError as error:
        return fail([f"{_name(fault['loc'])}{fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()])
    except RegistryError as error:
        return fail(error.problems)
    except (StartError, EmbeddedError) as error:
        return fail([str(error)])
    return 0


async def serve(settings: Settings, plugins: Sequence[Plugin]) -> None:
    """Start, say so, and stop cleanly when asked to."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    uri = settings.mongodb_uri.get_secret_value()
    embedded = None if uri else await asyncio.to_thread(acquire, settings.data_dir)
    if embedded:
        uri = embedded.uri
    try:
        async with running(settings, plugins, uri) as service:
            # what is there now stays: without this, every full collection walks it all and holds the loop for 90 ms
            gc.collect()
            gc.freeze()
            log.info("ready", extra={"url": service.url, "plugins": list(service.service.catalogue.plugins)})
            if settings.demo:
                welcome(service)
            await stopping.wait()
            log.info("stopping")
    finally:
        if embedded:
            await asyncio.to_thread(embedded.release_and_wait, 15)
    log.info("stopped")


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
    sys.exit(main())
