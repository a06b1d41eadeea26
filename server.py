"""The entry point of the service: reads the settings, starts the database, loads the plugins and serves requests.

`python server.py [--host H] [--port N] [--processes N]`
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import uvloop
from pydantic import ValidationError

from config.embedded import Embedded, EmbeddedError, acquire, keep
from config.garbage_collection import exempt_what_exists
from config.listening import activated_sockets
from config.local_secrets import demo_accounts
from config.logs import start_logging
from config.service_manager import notify
from config.settings import Settings
from config.tls_files import CertificateError

if TYPE_CHECKING:
    from config.supervision.forking import Inherited
    from config.supervision.link import Message
    from handlers.catalogue.declarations import Catalogue
    from plugins.boot.runtime import Running
    from plugins.plugin import Plugin

log = logging.getLogger("tradewind")
_EPILOG = """\
examples:
  {program} --port 8000
  {program} --processes 4 --host 0.0.0.0

exit codes: 0 stopped by a signal; 1 settings, plugins, database or port do not let it start, as a sentence says
"""
_TIDY_SECONDS = 0.5
STOP_SECONDS = 30.0  # of a stop besides draining: for jobs, the operation log and the embedded database


def main(arguments: Sequence[str] | None = None, program: str = "server.py") -> int:
    """Run until SIGTERM or SIGINT and return the exit code."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Serves Tradewind, the back end of a business platform, until SIGTERM.",
        epilog=_EPILOG.format(program=program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", help="address to listen on (TRADEWIND_HOST)")
    parser.add_argument("--port", type=int, help="port to listen on (TRADEWIND_PORT)")
    parser.add_argument("--processes", type=int, help="run so many under a supervisor, as `tradewind supervise` does")
    parser.add_argument("--fork-server", type=int, help=argparse.SUPPRESS)  # set by a supervisor: its descriptor
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    processes, descriptor = given.pop("processes", None), given.pop("fork_server", None)
    if processes is not None:
        return run_supervised(processes, given)
    try:
        settings = Settings(**given)
        if problem := certificate_problem(settings):
            return fail([problem])
        if descriptor is not None:
            return run_fork_server(settings, descriptor)
        return run(settings, start_database(settings))
    except ValidationError as error:
        return fail([f"{_name(fault['loc'])}{fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()])
    except EmbeddedError as error:
        return fail([str(error)])


def certificate_problem(settings: Settings) -> str | None:
    """Return why the certificate of the settings cannot be used now; None if it can, or if there is none."""
    if settings.tls_files is None:
        return None
    from config.tls import check_certificate

    try:
        check_certificate(settings.tls_files)
    except CertificateError as error:
        return str(error)
    return None


class Starting:
    """The embedded database while it starts, in a thread.

    The start takes as long as importing the plugins, so both run at the same time. If the server fails to start before
    it uses the database, the database stops by itself.
    """

    def __init__(self, data_dir: Path, database: str) -> None:
        self._given_up = threading.Event()
        begin = partial(acquire, data_dir, given_up=self._given_up, database=database)
        self._future = ThreadPoolExecutor(1, "database").submit(begin)

    async def database(self) -> Embedded:
        """Wait for the database and return it; if the caller is cancelled, its start is given up.

        Raises `EmbeddedError`.
        """
        try:
            return await asyncio.wrap_future(self._future)
        finally:
            self._given_up.set()


def start_database(settings: Settings) -> Starting | None:
    """Start the embedded database in the background; return None if the settings name another database."""
    return None if settings.mongodb_uri.get_secret_value() else Starting(settings.data_dir, settings.mongodb_database)


def run(settings: Settings, starting: Starting | None) -> int:
    """Load the plugins, serve them, and return the exit code."""
    from plugins.boot.registry import RegistryError, load_plugins  # imported late, while the database starts

    try:
        plugins = load_plugins(settings.plugins)
        return run_loaded(settings, plugins, starting, load_catalogue(settings, plugins))
    except RegistryError as error:
        return fail(error.problems)


def run_supervised(processes: int | None, given: Mapping[str, object]) -> int:
    """Serve with several processes under this one, each with the arguments `given`; return the exit code."""
    from config.supervision import supervise

    return supervise(processes, [f"--{name}={value}" for name, value in given.items()])


def run_fork_server(settings: Settings, descriptor: int) -> int:
    """Load the plugins, and fork processes that serve them for the supervisor at `descriptor`; return the exit code."""
    from config.logs import log_at_once
    from config.parent_death import stop_with_parent
    from config.supervision.forking import fork_servers
    from handlers.data.lists.pinyin import reader
    from plugins.boot.registry import RegistryError, load_plugins

    stop_with_parent(os.getppid())
    if settings.port == 0:
        return fail(["Several processes take a --port that is not 0."])
    try:
        plugins = load_plugins(settings.plugins)
        catalogue = load_catalogue(settings, plugins)
    except RegistryError as error:
        return fail(error.problems)
    log_at_once(settings.log_level)
    reader()  # its dictionaries are memory that all servers share
    exempt_what_exists()

    def serve_one(inherited: Inherited) -> int:
        try:
            return run_loaded(settings, plugins, start_database(settings), catalogue, inherited)
        except EmbeddedError as error:
            return fail([str(error)])

    stop_seconds = settings.drain_notice_seconds + settings.drain_seconds + STOP_SECONDS
    loaded: Message = {
        "host": settings.host,
        "port": settings.port,
        "unix_socket": settings.unix_socket,
        "unix_socket_mode": settings.unix_socket_mode,
        "log_level": settings.log_level,
        "stop_seconds": stop_seconds,
    }
    return fork_servers(descriptor, loaded, serve_one)


def run_loaded(
    settings: Settings,
    plugins: Sequence[Plugin],
    starting: Starting | None,
    catalogue: Catalogue,
    inherited: Inherited | None = None,
) -> int:
    """Serve these loaded plugins, and return the exit code."""
    from plugins.boot.listen import StartError
    from plugins.boot.unknown_settings import unknown_settings

    listener = start_logging(settings.log_level)
    for variable, advice in unknown_settings(plugins).items():
        log.warning(f"{variable} {advice}", extra={"setting": variable})
    try:
        uvloop.run(serve(settings, plugins, starting, catalogue, inherited))
    except StartError as error:
        return fail([str(error)])
    finally:
        listener.stop()
    return 0


def load_catalogue(settings: Settings, plugins: Sequence[Plugin]) -> Catalogue:
    """Return the catalogue of the plugins; check it unless an earlier start with the same code did so."""
    from plugins.boot.check_cache import CheckNotes, digest_of
    from plugins.boot.runtime import catalogue_of

    notes, digest = CheckNotes(settings.data_dir), digest_of(plugin.name for plugin in plugins)
    if notes.has(digest):
        return catalogue_of(settings, plugins, check=False)
    catalogue = catalogue_of(settings, plugins)
    notes.add(digest)
    return catalogue


class Stop:
    """Handles SIGTERM and SIGINT: they cancel a start, and ask a running service to stop.

    With `replaceable`, SIGHUP does the same: it means that another process is ready to take the place of this one.
    """

    def __init__(self, replaceable: bool) -> None:
        self.asked = asyncio.Event()
        self.replaced = False
        self._loop = asyncio.get_running_loop()
        self._starting = asyncio.current_task()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ask)
        if replaceable:
            self._loop.add_signal_handler(signal.SIGHUP, self._replace)

    def call_on_hangup(self, call: Callable[[], object]) -> None:
        """Call `call` on every SIGHUP from now on."""
        self._loop.add_signal_handler(signal.SIGHUP, call)

    def started(self) -> None:
        """Note that the start is over: from now on a signal asks the service to stop and cancels nothing."""
        self._starting = None

    def _replace(self) -> None:
        self.replaced = True
        self._ask()

    def _ask(self) -> None:
        self.asked.set()
        self._end_start()

    def _end_start(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            # cancelled again later, because the clean-up of a start may itself wait for the database
            self._loop.call_later(_TIDY_SECONDS, self._end_start)


async def serve(
    settings: Settings,
    plugins: Sequence[Plugin],
    starting: Starting | None,
    catalogue: Catalogue | None = None,
    inherited: Inherited | None = None,
) -> None:
    """Start the service, log that it is ready, and stop it cleanly on a signal. `inherited` is from a supervisor."""
    from handlers.operations.jobs import Jobs
    from plugins.boot.runtime import running
    from plugins.commands import BACKUP

    stop = Stop(replaceable=inherited is not None)
    sockets = activated_sockets() if inherited is None else inherited.sockets
    embedded = None
    try:
        embedded = await starting.database() if starting else None
        uri = embedded.uri if embedded else settings.mongodb_uri.get_secret_value()
        started = running(settings, plugins, uri, catalogue=catalogue, sockets=sockets, turn=settle, backup=BACKUP)
        async with started as service:
            stop.started()
            if service.certificate is not None and inherited is None:
                renew = partial(service.certificate.look, unchanged=True)
                jobs = service.service.part(Jobs)
                stop.call_on_hangup(lambda: jobs.spawn("certificate", renew()))
            log.info("ready", extra={"url": service.url, "plugins": list(service.catalogue.plugins)})
            if settings.demo and (inherited is None or inherited.first):
                welcome(service)
            tell_ready(inherited)
            await until_asked(stop, embedded)
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


def tell_ready(inherited: Inherited | None) -> None:
    """Notify the supervisor, or the service manager if there is none, that this process serves requests."""
    if inherited is None:
        notify("READY=1")
    else:
        inherited.tell_ready()


async def until_asked(stop: Stop, embedded: Embedded | None) -> None:
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


async def settle() -> None:
    """Load dictionaries while no request has to wait, and exempt what a start makes from garbage collections."""
    from handlers.data.lists.pinyin import reader

    await asyncio.to_thread(reader)
    exempt_what_exists()


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


def _name(location: Sequence[object]) -> str:
    return f"TRADEWIND_{'_'.join(map(str, location)).upper()}: " if location else ""


def fail(problems: Sequence[str]) -> int:
    """Print every problem on a line of its own and return the exit code."""
    for problem in problems:
        print(f"tradewind: {problem}", file=sys.stderr)
    return 1


def end(code: int) -> NoReturn:
    """End the process at once. A thread waiting for an unresponsive database would delay it by a whole time limit."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # until `serve` handles it, Ctrl-C ends the process without a traceback
    end(main())
