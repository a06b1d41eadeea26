"""The entry point of the service: reads the settings, starts the database, loads the plugins and serves requests.

`python server.py [--host H] [--port N] [--processes N]`
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence
from typing import NoReturn

from pydantic import ValidationError

from config.embedded.client import start_database
from config.process import end, fail
from config.settings import Settings, problems_of
from config.supervision import supervise
from config.tls import CertificateError

_EPILOG = """\
examples:
  {program} --port 8000
  {program} --processes 4 --host 0.0.0.0

exit codes: 0 stopped by a signal; 1 settings, plugins, database or port do not let it start, as a sentence says
"""


def main(arguments: Sequence[str] | None = None, program: str = "server.py") -> int:
    """Run until SIGTERM or SIGINT and return the exit code."""
    given = {name: value for name, value in vars(_parser(program).parse_args(arguments)).items() if value is not None}
    processes, descriptor = given.pop("processes", None), given.pop("fork_server", None)
    if processes is not None:
        return supervise(processes, [f"--{name}={value}" for name, value in given.items()])
    try:
        settings = Settings(**given)
        if settings.tls_files is not None:
            from config.tls import check_certificate  # late, as it imports what reads certificates

            check_certificate(settings.tls_files)
    except ValidationError as error:
        return fail(problems_of(error))
    except CertificateError as error:
        return fail([str(error)])
    starting = start_database(settings) if descriptor is None else None  # while the plugins are imported
    from plugins.boot.fork import run_fork_server
    from plugins.boot.process import run
    from plugins.commands import BACKUP

    if descriptor is not None:
        return run_fork_server(settings, descriptor, BACKUP)
    return run(settings, starting, BACKUP)


def _parser(program: str) -> argparse.ArgumentParser:
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
    return parser


def run_and_end(arguments: Sequence[str] | None = None, program: str = "server.py") -> NoReturn:
    """Do what `main` does, and end the process with its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a handler is set, Ctrl-C ends the process without a traceback
    end(main(arguments, program))


if __name__ == "__main__":
    run_and_end()
