"""Check what plugins declare: those of TRADEWIND_PLUGINS, and those named here."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import entry_points

from config.settings import EnvironmentSettings
from plugins.boot.registry import GROUP, RegistryError, built_in_names, freeze, load_plugins
from plugins.commands.command_parser import command_parser

_EPILOG = """\
examples:
  {program}
  {program} harbour                # an installed plugin that TRADEWIND_PLUGINS does not name
  {program} --json | jq .routes

exit codes: 0 all is well; 1 something is not, as sentences say
"""


class _Chosen(EnvironmentSettings):
    """The plugins that a server would load here; the check needs no other settings."""

    plugins: str = ""


def main(arguments: Sequence[str], program: str = "tradewind check") -> int:
    """Print every problem; return 0 if there is none, else 1."""
    given = command_line(program).parse_args(arguments)
    return report(check(given.plugins), as_json=given.json)


def command_line(program: str) -> ArgumentParser:
    """Return the parser of the arguments."""
    parser = command_parser(program, __doc__, _EPILOG)
    parser.add_argument("plugins", nargs="*", help="installed plugins to check besides those of TRADEWIND_PLUGINS")
    parser.add_argument("--json", action="store_true", help="what was checked and found, as JSON")
    return parser


@dataclass
class Result:
    """What was checked, and the problems found: the plugins by name, the counts of their routes and collections."""

    plugins: list[str] = field(default_factory=list)
    routes: int = 0
    collections: int = 0
    not_checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def check(named: Sequence[str]) -> Result:
    """Check the plugins of TRADEWIND_PLUGINS and these."""
    try:
        chosen = _chosen()
        plugins = load_plugins([*chosen, *(name if chosen else f"+{name}" for name in named)])
        catalogue = freeze(plugins)
    except RegistryError as error:
        return Result(problems=list(error.problems))
    names = [plugin.name for plugin in plugins]
    others = sorted({point.name for point in entry_points(group=GROUP)} - set(names))
    return Result(names, len(catalogue.routes), len(catalogue.collections), others)


def report(result: Result, as_json: bool) -> int:
    """Print the result, and return the exit code."""
    if as_json:
        print(json.dumps(asdict(result), ensure_ascii=False))
    else:
        _tell(result)
    return int(bool(result.problems))


def _tell(result: Result) -> None:
    if result.problems:
        print("\n".join(result.problems), file=sys.stderr)
        return
    if result.not_checked:
        print(f"Installed, and not checked as nothing names them: {', '.join(result.not_checked)}.")
    own = ", ".join(name for name in result.plugins if name not in built_in_names())
    print(
        f"{len(result.plugins)} plugins{own and f' with {own}'}, {result.routes} routes, "
        f"{result.collections} collections: all well."
    )


def _chosen() -> list[str]:
    return [name for part in _Chosen().plugins.split(",") if (name := part.strip())]
