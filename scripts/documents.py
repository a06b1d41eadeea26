"""`scripts/check` of a checkout: what `tradewind check` does, and whether what is generated from the code is up to date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic_core import PydanticUndefined

from config.settings import EnvironmentSettings, Settings
from plugins.boot.registry import freeze, load_plugins
from plugins.commands.check import check, command_line, renew, report
from plugins.commands.typed_records import typed_records
from plugins.plugin import Plugin
from scripts import reference
from scripts.client_constants import typed_constants
from scripts.monitoring import render_monitoring

_COMMAND = "scripts/check --write"
DOCUMENTS = Path(__file__).resolve().parent.parent / "docs"


def main(arguments: Sequence[str], program: str = "scripts/check") -> int:
    """Print every problem; return 0 if there is none, else 1."""
    given = command_line(program).parse_args(arguments)
    result = check(given.plugins, write=given.write)
    if result.plugins:  # they could be loaded
        result.problems += renew(generated(load_plugins(())), write=given.write, command=_COMMAND)
    return report(result, as_json=given.json)


def generated(plugins: Sequence[Plugin]) -> dict[Path, str]:
    """Return all files of a checkout that are generated from the code: in docs/, the types of records, the constants."""
    constants = typed_constants(plugins, _COMMAND)
    return {**render_documents(plugins), **typed_records(plugins, _COMMAND), **constants}


def render_documents(plugins: Sequence[Plugin]) -> dict[Path, str]:
    """Return the documents in docs/ that are generated from the code. Raises `ValueError` if one lacks its marks."""
    tables = {"settings": settings_table(plugins), "errors": errors_table(plugins)}
    tables |= {mark: table_of(head, rows) for mark, (head, rows) in reference.tables(plugins).items()}
    renewed = {path: replace_tables(path.read_text(), tables) for path in (DOCUMENTS / "reference").glob("*.md")}
    if missing := [mark for mark in tables if not any(f"<!-- /{mark} -->" in text for text in renewed.values())]:
        raise ValueError(f"no page of docs/reference has <!-- {missing[0]} --> … <!-- /{missing[0]} -->")
    renewed |= dict(reference.tutorials())
    return renewed | {DOCUMENTS / "operations" / name: text for name, text in render_monitoring().items()}


def replace_tables(text: str, tables: Mapping[str, str]) -> str:
    """Return a document with each table between its marks, if it has them."""

    def replaced(found: re.Match[str]) -> str:
        return f"<!-- {found[1]} -->\n{tables[found[1]]}<!-- /{found[1]} -->" if found[1] in tables else found[0]

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", replaced, text, flags=re.DOTALL)


def settings_table(plugins: Sequence[Plugin]) -> str:
    """Return the table of all settings of the core and the plugins: name, default, meaning."""
    kinds: list[type[EnvironmentSettings]] = [Settings, *(plugin.settings for plugin in plugins if plugin.settings)]
    rows = [
        (f"`TRADEWIND_{name.upper()}`", _default(one.default), one.description or "")
        for kind in kinds
        for name, one in kind.model_fields.items()
    ]
    return table_of(("Setting", "Default", "Meaning"), rows)


def errors_table(plugins: Sequence[Plugin]) -> str:
    """Return the table of all errors of the catalogue: code, status, message, when."""
    kinds = sorted(freeze(plugins).errors, key=lambda kind: kind.code)
    rows = [(str(kind.code), str(kind.status), f"{kind.message.zh} / {kind.message.en}", kind.when) for kind in kinds]
    return table_of(("Code", "Status", "Message", "When"), rows)


def _default(value: object) -> str:
    if value is PydanticUndefined or str(value) in ("", "()", "**********"):
        return ""
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{shown}`"


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
