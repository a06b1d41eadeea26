"""The command `tradewind` of an installed service; it runs the same code as the commands `scripts/…` of a checkout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from config.version import VERSION

_EPILOG = """\
`tradewind COMMAND --help` says what a command takes. All of them use the settings in the environment (TRADEWIND_…) and
in .env of this folder.

examples:
  tradewind serve --port 8000
  tradewind supervise --processes 4
  tradewind doctor --json
  tradewind backup /mnt/backups --keep 14
  tradewind restore newest.backup --check
  tradewind migrate --plan
  tradewind user unlock admin

exit codes: 0 done, or nothing found; 1 not done, or something found; 2 arguments, settings or the database. `serve` and
`supervise` end with 1 for settings and the database too. The help of a command has its own.
"""


@dataclass(frozen=True)
class Command:
    """A subcommand: the module whose `main(arguments, program)` returns the exit code, and a summary."""

    module: str
    summary: str


COMMANDS = {
    "serve": Command("plugins.commands.serve", "run the service in one process until SIGTERM"),
    "supervise": Command(
        "plugins.commands.supervise", "run one process for each core on one port; SIGHUP replaces them in turn"
    ),
    "check": Command("plugins.commands.check", "check what plugins declare"),
    "doctor": Command("plugins.commands.doctor", "look for what is wrong with this installation"),
    "backup": Command("plugins.commands.backup", "write documents and files of one moment into one file"),
    "restore": Command("plugins.commands.restore", "restore a backup into a new database, or check that it can be"),
    "migrate": Command("plugins.commands.migrate", "change what older versions have stored; --plan says what is due"),
    "verify": Command("plugins.commands.verify", "compare stock, balances and payments with their entries"),
    "user": Command(
        "plugins.commands.user", "create an account, unlock it, give it a new password, make it a super administrator"
    ),
    "plugin": Command("plugins.commands.purge", "remove for good what a plugin that is not enabled has left"),
    "export-openapi": Command("plugins.commands.export_openapi", "write the API description"),
    "fetch-console": Command(
        "plugins.commands.fetch_console", "fetch what the console in the browser draws its pages with"
    ),
    "new-plugin": Command("plugins.commands.new_plugin", "write the files of a new plugin"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand, and return its exit code."""
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="tradewind",
        usage="tradewind COMMAND [options]",
        description=f"Tradewind {VERSION}, the back end of a business platform.\n\ncommands:\n{listed}",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help=argparse.SUPPRESS)
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = parser.parse_args(given[:1]).command
    run: Callable[[Sequence[str], str], int] = import_module(COMMANDS[name].module).main
    return run(given[1:], f"tradewind {name}")


if __name__ == "__main__":
    sys.exit(main())
