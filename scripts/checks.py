"""Check what the plugins declare, those of TRADEWIND_PLUGINS and those named here, and the README's generated tables."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from pydantic_core import PydanticUndefined

from config.settings import EnvironmentSettings, Settings
from plugins.plugin import Plugin
from plugins.registry import GROUP, RegistryError, built_in_names, freeze, load_plugins

README = Path(__file__).resolve().parent.parent / "README.md"


class _Chosen(EnvironmentSettings):
    """What a server here would load; its other settings are no matter of this check."""

    plugins: str = ""


def main(arguments: Sequence[str]) -> int:
    """Print every problem; 0 when there is none."""
    parser = argparse.ArgumentParser(prog="scripts/check", description=__doc__)
    parser.add_argument("plugins", nargs="*", help="installed plugins to check besides those of TRADEWIND_PLUGINS")
    parser.add_argument("--write", action="store_true", help="renew the README's tables")
    given = parser.parse_args(arguments)
    try:
        chosen = _chosen()
        plugins = load_plugins([*chosen, *(name if chosen else f"+{name}" for name in given.plugins)])
        catalogue = freeze(plugins)
        built_in = load_plugins(())
    except RegistryError as error:
        print("\n".join(error.problems), file=sys.stderr)
        return 1
    text = README.read_text()
    renewed = with_tables(text, built_in)
    if given.write:
        README.write_text(renewed)
    elif text != renewed:
        print("The README's tables differ from the code: run scripts/check --write.", file=sys.stderr)
        return 1
    others = sorted({point.name for point in entry_points(group=GROUP)} - {plugin.name for plugin in plugins})
    if others:
        print(f"Installed, and not checked as nothing names them: {', '.join(others)}.")
    own = ", ".join(plugin.name for plugin in plugins if plugin.name not in built_in_names())
    print(
        f"{len(plugins)} plugins{own and f' with {own}'}, {len(catalogue.routes)} routes, "
        f"{len(catalogue.collections)} collections: all well."
    )
    return 0


def _chosen() -> list[str]:
    return [name for part in _Chosen().plugins.split(",") if (name := part.strip())]


def with_tables(text: str, plugins: Sequence[Plugin]) -> str:
    """The README with its generated tables renewed."""
    tables = {"settings": settings_table(plugins), "errors": errors_table(plugins)}
    for name, table in tables.items():
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = block.sub(partial(_with_table, table), text)
    return text


def _with_table(table: str, found: re.Match[str]) -> str:
    return found.group(1) + table + found.group(2)


def settings_table(plugins: Sequence[Plugin]) -> str:
    """Every setting of the core and of the plugins: name, default, meaning."""
    kinds: list[type[EnvironmentSettings]] = [Settings, *(plugin.settings for plugin in plugins if plugin.settings)]
    rows = [
        (f"`TRADEWIND_{name.upper()}`", _default(field.default), field.description or "")
        for kind in kinds
        for name, field in kind.model_fields.items()
    ]
    return _table(("Setting", "Default", "Meaning"), rows)


def errors_table(plugins: Sequence[Plugin]) -> str:
    """Every error of the catalogue: code, status, message, when."""
    kinds = sorted(freeze(plugins).errors, key=lambda kind: kind.code)
    rows = [(str(kind.code), str(kind.status), f"{kind.message.zh} / {kind.message.en}", kind.when) for kind in kinds]
    return _table(("Code", "Status", "Message", "When"), rows)


def _default(value: object) -> str:
    if value is PydanticUndefined or str(value) in ("", "()", "**********"):
        return ""
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{shown}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
