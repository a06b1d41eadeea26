"""Check what plugins declare, those of TRADEWIND_PLUGINS and those named here, and the generated tables in docs/."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from pydantic_core import PydanticUndefined

from config.settings import EnvironmentSettings, Settings
from plugins.boot.registry import GROUP, RegistryError, built_in_names, freeze, load_plugins
from plugins.plugin import Plugin
from scripts.command_parser import command_parser
from scripts.monitoring import render_monitoring
from scripts.sizing import RESULTS, sizing_rows

_EPILOG = """\
examples:
  {program}
  {program} harbour                # an installed plugin that TRADEWIND_PLUGINS does not name
  {program} --json | jq .routes

exit codes: 0 all is well; 1 something is not, as sentences say
"""
DOCUMENTS = Path(__file__).resolve().parent.parent / "docs"


class _Chosen(EnvironmentSettings):
    """The plugins that a server would load here; the check needs no other settings."""

    plugins: str = ""


def main(arguments: Sequence[str], program: str = "scripts/check") -> int:
    """Print every problem; return 0 if there is none, else 1."""
    parser = command_parser(program, __doc__, _EPILOG)
    parser.add_argument("plugins", nargs="*", help="installed plugins to check besides those of TRADEWIND_PLUGINS")
    parser.add_argument(
        "--write",
        action="store_true",
        help="renew the tables of settings and errors, what monitoring reads, and what was measured",
    )
    parser.add_argument("--json", action="store_true", help="what was checked and found, as JSON")
    given = parser.parse_args(arguments)
    result = _check(given.plugins, given.write)
    if given.json:
        print(json.dumps(asdict(result), ensure_ascii=False))
    else:
        _tell(result)
    return int(bool(result.problems))


@dataclass
class Result:
    """What was checked, and the problems found: the plugins by name, the counts of their routes and collections."""

    plugins: list[str] = field(default_factory=list)
    routes: int = 0
    collections: int = 0
    not_checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _check(named: Sequence[str], write: bool) -> Result:
    try:
        chosen = _chosen()
        plugins = load_plugins([*chosen, *(name if chosen else f"+{name}" for name in named)])
        catalogue = freeze(plugins)
        built_in = load_plugins(())
    except RegistryError as error:
        return Result(problems=list(error.problems))
    result = Result([plugin.name for plugin in plugins], len(catalogue.routes), len(catalogue.collections))
    result.not_checked = sorted({point.name for point in entry_points(group=GROUP)} - set(result.plugins))
    # an installed package has no docs/
    documents = render_documents(built_in) if (DOCUMENTS / "settings.md").is_file() else {}
    outdated = {path: text for path, text in documents.items() if not path.is_file() or path.read_text() != text}
    if write:
        for path, text in (outdated | (render_measured() if documents else {})).items():
            path.write_text(text)
    elif outdated:
        names = " and ".join(f"docs/{path.relative_to(DOCUMENTS)}" for path in outdated)
        result.problems.append(f"{names}: the table differs from the code, run scripts/check --write.")
    return result


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


def render_documents(plugins: Sequence[Plugin]) -> dict[Path, str]:
    """Return the documents in docs/ that are generated from the code. Raises `ValueError` if one lacks its marks."""
    tables = {"settings": settings_table(plugins), "errors": errors_table(plugins)}
    renewed = {DOCUMENTS / f"{name}.md": _replace_table(name, table) for name, table in tables.items()}
    return renewed | {DOCUMENTS / "operations" / name: text for name, text in render_monitoring().items()}


def render_measured(results: Path = RESULTS) -> dict[Path, str]:
    """Return the documents in docs/ that tell the newest of these results. Raises `ValueError` if one lacks its marks."""
    reliability = import_module("scripts.reliability")  # by name, because a wheel has no experiments
    sizing = _replace_table("operations/sizing", _table(*sizing_rows(results)))
    return {
        reliability.PAGE: reliability.render_reliability(results),
        DOCUMENTS / "operations" / "sizing.md": sizing,
    }


def _replace_table(name: str, table: str) -> str:
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
