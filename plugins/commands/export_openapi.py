"""The command `tradewind export-openapi`: writes the OpenAPI description of the plugins. It needs no database."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from plugins.commands.command_parser import command_parser

LINE_LENGTH = 120
_EPILOG = """\
examples:
  {program} openapi.json
  {program} --plugins auth,rbac,crm | jq '.paths | keys'

exit codes: 0 written; 1 a plugin is not there, or declares something wrong
"""


def main(arguments: Sequence[str] | None = None, program: str = "tradewind export-openapi") -> int:
    """Write the description to FILE or to standard output, and return the exit code."""
    from plugins.boot.registry import RegistryError

    parser = command_parser(
        program, "Write the OpenAPI description as JSON. It needs no database and no settings.", _EPILOG
    )
    parser.add_argument("file", nargs="?", type=Path, help="where to write it; standard output without it")
    parser.add_argument("--plugins", default="", help="names, separated by commas; all built-in ones without it")
    given = parser.parse_args(arguments)
    try:
        written = description([name for name in given.plugins.split(",") if name])
    except RegistryError as error:
        print(error, file=sys.stderr)
        return 1
    if given.file is None:
        sys.stdout.buffer.write(written)
    else:
        given.file.write_bytes(written)
    return 0


def description(plugins: Sequence[str]) -> bytes:
    """Return the document of these plugins, with its paths sorted. Raises `RegistryError`."""
    from config.version import VERSION
    from handlers.docs.openapi import describe
    from plugins.boot.registry import freeze, load_plugins

    catalogue = freeze(load_plugins(plugins))
    document = describe(catalogue.routes, VERSION, collections=catalogue.collections.values())
    document["paths"] = dict(sorted(document["paths"].items()))
    return (indented(document) + "\n").encode()


def indented(value: object, depth: int = 0) -> str:
    """Return JSON in which each object or array that fits on one line has one, so that a change alters few lines."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + depth <= LINE_LENGTH or not isinstance(value, (dict, list)):
        return line
    inner = depth + 1
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {indented(part, inner)}" for name, part in value.items()]
    else:
        parts = [indented(part, inner) for part in value]
    around = "{}" if isinstance(value, dict) else "[]"
    separator = ",\n" + " " * inner
    return f"{around[0]}\n{' ' * inner}{separator.join(parts)}\n{' ' * depth}{around[1]}"
