"""The command `tradewind supervise`: runs several server processes on one port; restarts and replaces them in turn."""

from __future__ import annotations

from collections.abc import Sequence

from config.supervision import supervise
from plugins.commands.command_parser import command_parser

_EPILOG = """\
signals:
  TERM, INT  stop: every process finishes its requests first
  HUP        replace the processes one after the other, with the code and the settings (.env) of that moment; no request
             is lost, WebSockets are closed with 1012, and if a new process does not start, the old ones go on

A process that ends is started again. While starts fail, the next one waits from 100 ms up to 10 s.

examples:
  tradewind supervise
  tradewind supervise --processes 4 --port 8000
  systemctl reload tradewind        # sends HUP

exit codes: 0 stopped by a signal; 1 settings, plugins, database or port do not let it start, as a sentence says
"""


def main(arguments: Sequence[str], program: str = "tradewind supervise") -> int:
    """Supervise until SIGTERM or SIGINT, and return the exit code."""
    parser = command_parser(program, "Runs one server process for each core on one port.", _EPILOG)
    parser.add_argument("--processes", type=int, metavar="N", help="so many instead of one for each core")
    parser.add_argument("--host", help="address to listen on (TRADEWIND_HOST)")
    parser.add_argument("--port", type=int, help="port to listen on (TRADEWIND_PORT)")
    given = vars(parser.parse_args(arguments))
    processes = given.pop("processes")
    return supervise(processes, [f"--{name}={value}" for name, value in given.items() if value is not None])
