"""What `scripts/check` does: the registry's checks, and the tables of the README that come from the code."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from pydantic_core import PydanticUndefined

from config.settings import EnvironmentSettings, Settings
from plugins.plugin import Plugin
from plugins.registry import RegistryError, freeze, load_plugins

README = Path(__file__).resolve().parent.parent / "README.md"


def main(arguments: Sequence[str]) -> int:
    """Print every problem; 0 when there is none."""
    try:
        plugins = load_plugins(())
        catalogue = freeze(plugins)
    except RegistryError as error:
        print("\n".join(error.problems), file=sys.stderr)
        return 1
    text = README.read_text()
    renewed = with_tables(text, plugins)
    if "--write" in arguments:
        README.write_text(renewed)
    elif text != renewed:
        print("The README's tables differ from the code: run scripts/check --write.", file=sys.stderr)
        return 1
    print(
        f"{len(plugins)} plugins, {len(catalogue.routes)} routes, {len(catalogue.collections)} collections: all well."
    )
    return 0


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
