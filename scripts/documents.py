"""`scripts/check` of a checkout: what `tradewind check` does, and whether what is generated from the code is up to date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic_core import PydanticUndefined

from config.settings import EnvironmentSettings, Settings
from plugins.boot.registry import freeze, load_plugins
from plugins.commands.check import check, command_line, renew, report
from plugins.commands.typed_records import typed_records
from plugins.plugin import Plugin
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
    """Return all files of a checkout that are generated from the code: in docs/, and the types of records."""
    return {**render_documents(plugins), **typed_records(plugins, _COMMAND)}


def render_documents(plugins: Sequence[Plugin]) -> dict[Path, str]:
    """Return the documents in docs/ that are generated from the code. Raises `ValueError` if one lacks its marks."""
    tables = {"reference/settings": settings_table(plugins), "reference/errors": errors_table(plugins)}
    renewed = {DOCUMENTS / f"{name}.md": replace_table(name, table) for name, table in tables.items()}
    return renewed | {DOCUMENTS / "operations" / name: text for name, text in render_monitoring().items()}


def replace_table(name: str, table: str) -> str:
    """Return a document with the table between its marks. Raises `ValueError` if it lacks them."""
    mark = name.rpartition("/")[2]
    before, opening, rest = (DOCUMENTS / f"{name}.md").read_text().partition(f"<!-- {mark} -->\n")
    _, closing, after = rest.partition(f"<!-- /{mark} -->")
    if not (opening and closing):
        raise ValueError(f"docs/{name}.md has no <!-- {mark} --> … <!-- /{mark} -->")
    return f"{before}{opening}{table}{closing}{after}"


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
