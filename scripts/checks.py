"""Check what the plugins declare, those of TRADEWIND_PLUGINS and those named here, and the generated tables in docs/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from pydantic_core import PydanticUndefined

from config.settings import EnvironmentSettings, Settings
from plugins.plugin import Plugin
from plugins.registry import GROUP, RegistryError, built_in_names, freeze, load_plugins

DOCUMENTS = Path(__file__).resolve().parent.parent / "docs"


class _Chosen(EnvironmentSettings):
    """What a server here would load; its other settings are no matter of this check."""

    plugins: str = ""


def main(arguments: Sequence[str], program: str = "scripts/check") -> int:
    """Print every problem; 0 when there is none."""
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("plugins", nargs="*", help="installed plugins to check besides those of TRADEWIND_PLUGINS")
    parser.add_argument("--write", action="store_true", help="renew the tables of settings and errors")
    given = parser.parse_args(arguments)
    try:
        chosen = _chosen()
        plugins = load_plugins([*chosen, *(name if chosen else f"+{name}" for name in given.plugins)])
        catalogue = freeze(plugins)
        built_in = load_plugins(())
    except RegistryError as error:
        print("\n".join(error.problems), file=sys.stderr)
        return 1
    documents = render_documents(built_in) if DOCUMENTS.is_dir() else {}  # an installed package has none
    outdated = {path: text for path, text in documents.items() if path.read_text() != text}
    if given.write:
        for path, text in outdated.items():
            path.write_text(text)
    elif outdated:
        names = " and ".join(f"docs/{path.name}" for path in outdated)
        print(f"{names}: the table differs from the code, run scripts/check --write.", file=sys.stderr)
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


def render_documents(plugins: Sequence[Plugin]) -> dict[Path, str]:
    """Return the documents with a generated table, each with its table renewed. Raises ValueError without its marks."""
    tables = {"settings": settings_table(plugins), "errors": errors_table(plugins)}
    return {DOCUMENTS / f"{name}.md": _replace_table(name, table) for name, table in tables.items()}


def _replace_table(name: str, table: str) -> str:
    before, opening, rest = (DOCUMENTS / f"{name}.md").read_text().partition(f"<!-- {name} -->\n")
    _, closing, after = rest.partition(f"<!-- /{name} -->")
    if not (opening and closing):
        raise ValueError(f"docs/{name}.md has no <!-- {name} --> … <!-- /{name} -->")
    return f"{before}{opening}{table}{closing}{after}"


def settings_table(plugins: Sequence[Plugin]) -> str:
    """Return the table of all settings of the core and the plugins: name, default, meaning."""
    kinds: list[type[EnvironmentSettings]] = [Settings, *(plugin.settings for plugin in plugins if plugin.settings)]
    rows = [
        (f"`TRADEWIND_{name.upper()}`", _default(field.default), field.description or "")
        for kind in kinds
        for name, field in kind.model_fields.items()
    ]
    return _table(("Setting", "Default", "Meaning"), rows)


def errors_table(plugins: Sequence[Plugin]) -> str:
    """Return the table of all errors of the catalogue: code, status, message, when."""
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
