"""Check what plugins declare: those of TRADEWIND_PLUGINS, and those named here; `--write` renews the types of records."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from warnings import catch_warnings, filterwarnings

from config.settings import EnvironmentSettings
from plugins.boot.registry import GROUP, RegistryError, built_in_names, freeze, load_plugins
from plugins.commands.command_parser import command_parser
from plugins.commands.typed_records import typed_records

_COMMAND = "tradewind check --write"
_EPILOG = """\
examples:
  {program}
  {program} harbour                # an installed plugin that TRADEWIND_PLUGINS does not name
  {program} harbour --write        # also write record_types.py with the types of its records, for type checkers
  {program} --json | jq .routes

exit codes: 0 all is well; 1 something is not, as sentences say
"""


class _Chosen(EnvironmentSettings):
    """The plugins that a server would load here; the check needs no other settings."""

    plugins: str = ""


def main(arguments: Sequence[str], program: str = "tradewind check") -> int:
    """Print every problem; return 0 if there is none, else 1."""
    given = command_line(program).parse_args(arguments)
    result = check(given.plugins, write=given.write)
    return report(result, as_json=given.json)


def command_line(program: str) -> ArgumentParser:
    """Return the parser of the arguments."""
    parser = command_parser(program, __doc__, _EPILOG)
    parser.add_argument("plugins", nargs="*", help="installed plugins to check besides those of TRADEWIND_PLUGINS")
    parser.add_argument("--write", action="store_true", help="renew what is generated, such as record_types.py")
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


def check(named: Sequence[str], *, write: bool) -> Result:
    """Check the plugins of TRADEWIND_PLUGINS and these; with `write`, renew the types of records of the external ones.

    Without it, such a file may be missing but not outdated.
    """
    try:
        chosen = _chosen()
        with catch_warnings():
            filterwarnings("default", r"import \w+ from plugins\.", DeprecationWarning)  # Python itself hides it
            plugins = load_plugins([*chosen, *(name if chosen else f"+{name}" for name in named)])
        catalogue = freeze(plugins)
    except RegistryError as error:
        return Result(problems=list(error.problems))
    names = [plugin.name for plugin in plugins]
    others = sorted({point.name for point in entry_points(group=GROUP)} - set(names))
    external = [plugin for plugin in plugins if plugin.name not in built_in_names()]
    files = {path: text for path, text in typed_records(external, _COMMAND).items() if write or path.is_file()}
    problems = renew(files, write=write, command=_COMMAND)
    return Result(names, len(catalogue.routes), len(catalogue.collections), others, problems)


def renew(files: Mapping[Path, str], *, write: bool, command: str) -> list[str]:
    """Write the generated files that are outdated, or else return a sentence for each of them; `command` writes them."""
    outdated = {path: text for path, text in files.items() if not path.is_file() or path.read_text() != text}
    if not write:
        return [f"{path}: differs from the code, run {command}." for path in outdated]
    for path, text in outdated.items():
        path.write_text(text)
    return []


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
