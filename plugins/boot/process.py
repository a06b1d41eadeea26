"""One process that serves the plugins of its settings until a signal stops it."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from functools import partial

import uvloop
from pydantic import ValidationError

from config.embedded import Embedded, EmbeddedError, keep
from config.embedded.client import Starting
from config.listening import activated_sockets
from config.local_secrets import demo_accounts
from config.logs import start_logging
from config.process import fail, notify
from config.settings import Settings, problems_of
from config.stop_signals import Stop
from config.supervision.forking import Inherited
from handlers.operations.jobs import Jobs
from plugins.boot.listen import StartError
from plugins.boot.load import Loaded, load
from plugins.boot.registry import RegistryError
from plugins.boot.runtime import Running, running
from plugins.boot.unknown_settings import unknown_settings


def welcome(service: Running) -> None:
    """Print the addresses and accounts of a demo."""
    accounts = {"admin": "as in TRADEWIND_ADMIN_PASSWORD", **demo_accounts(service.service.settings.data_dir)}
    console = [f"  Console    {service.url}/console"] if "console" in service.catalogue.plugins else []
    lines = [
        "",
        *console,
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
    # in one piece, because another thread writes log lines
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()


log = logging.getLogger("tradewind")


def run(settings: Settings, starting: Starting | None, backup: Sequence[str]) -> int:
    """Load the plugins, serve them, and return the exit code. `backup`: the arguments of Python for a backup."""
    try:
        loaded = load(settings, backup)
    except RegistryError as error:
        return fail(error.problems)
    return run_loaded(loaded, starting)


def run_loaded(loaded: Loaded, starting: Starting | None, inherited: Inherited | None = None) -> int:
    """Serve the loaded plugins, and return the exit code. `inherited` is from a supervisor."""
    listener = start_logging(loaded.settings.log_level)
    for variable, advice in unknown_settings(loaded.plugins).items():
        log.warning(f"{variable} {advice}", extra={"setting": variable})
    try:
        uvloop.run(_serve(loaded, starting, inherited))
    except (StartError, EmbeddedError) as error:
        return fail([str(error)])
    except ValidationError as error:  # of the settings of a plugin
        return fail(problems_of(error))
    finally:
        listener.stop()
    return 0


async def _serve(loaded: Loaded, starting: Starting | None, inherited: Inherited | None) -> None:
    """Start the service, log that it is ready, and stop it cleanly on a signal."""
    stop = Stop(replaceable=inherited is not None)
    sockets = activated_sockets() if inherited is None else inherited.sockets
    embedded = None
    try:
        embedded = await starting.database() if starting else None
        uri = embedded.uri if embedded else loaded.settings.mongodb_uri.get_secret_value()
        started = running(
            loaded.settings,
            loaded.plugins,
            uri,
            catalogue=loaded.catalogue,
            sockets=sockets,
            backup=loaded.backup,
        )
        async with started as service:
            stop.started()
            _report_ready(service, stop, inherited)
            await _until_asked(stop, embedded)
            service.service.replaced = stop.replaced
            log.info("stopping")
            notify("STOPPING=1")
    except asyncio.CancelledError:
        if not stop.asked.is_set():
            raise
    finally:
        stop.started()
        if embedded:
            await asyncio.to_thread(embedded.release_and_wait, 15)
    log.info("stopped")


def _report_ready(running: Running, stop: Stop, inherited: Inherited | None) -> None:
    """Log that this process serves requests, and notify its supervisor, or the service manager if there is none."""
    if running.certificate is not None and inherited is None:
        renew = partial(running.certificate.look, unchanged=True)
        jobs = running.service.part(Jobs)
        stop.call_on_hangup(lambda: jobs.spawn("certificate", renew()))
    log.info("ready", extra={"url": running.url, "plugins": list(running.catalogue.plugins)})
    if running.service.settings.demo and (inherited is None or inherited.first):
        welcome(running)
    if inherited is None:
        notify("READY=1")
    else:
        inherited.report_ready()


async def _until_asked(stop: Stop, embedded: Embedded | None) -> None:
    """Wait for the signal to stop, and keep the embedded database running. Raises `EmbeddedError` if it is lost."""
    asked = asyncio.create_task(stop.asked.wait())
    kept = [asyncio.create_task(keep(embedded))] if embedded else []
    try:
        await asyncio.wait([asked, *kept], return_when=asyncio.FIRST_COMPLETED)
        for ended in filter(asyncio.Task.done, kept):
            ended.result()
    finally:
        for task in (asked, *kept):
            task.cancel()
