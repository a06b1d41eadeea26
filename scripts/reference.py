"""The tables of docs/reference that follow from what plugins declare, and the blocks of tutorials that are files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType

from handlers.catalogue.declarations import Catalogue
from handlers.events import Event
from plugins.boot.registry import freeze
from plugins.business.events import EVENTS
from plugins.commands.__main__ import COMMANDS
from plugins.plugin import Plugin
from plugins.records.shared_events import PROTOCOLS

ROOT = Path(__file__).resolve().parent.parent
_API = ROOT / "plugins" / "api"
_OFFERED = re.compile(r"^    (\w+) as \1,  # (.+)$", re.MULTILINE)
_FILE = re.compile(r"(`([^`\n]+\.\w+)`[^`\n]*\n\n```\w+\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```\w*\n.*?^```$", re.DOTALL | re.MULTILINE)
Row = tuple[str, ...]


def tables(plugins: Sequence[Plugin]) -> Mapping[str, tuple[Row, list[Row]]]:
    """Return the head and the rows of each table, by its mark."""
    catalogue = freeze(plugins)
    return {
        "events": (("Event", "Payload", "Emitted by"), sorted(_events(plugins))),
        "permissions": (("Permission", "Title", "Routes"), list(_permissions(catalogue))),
        "dashboards": (("Dashboard", "What", "Query", "Permission"), list(_dashboards(catalogue))),
        "metrics": (("Metric", "What"), sorted(_metrics())),
        "commands": (("Command", "What"), [(f"`tradewind {name}`", one.summary) for name, one in COMMANDS.items()]),
        "names": (("Name", "Import from", "What"), list(_names())),
        "apis": (("Plugin", "Names"), list(_apis(plugins))),
    }


def _events(plugins: Sequence[Plugin]) -> Iterator[Row]:
    yield from ((f"`{event.name}`", _payload(event), "every plugin") for event in (*PROTOCOLS, *EVENTS))
    for plugin in plugins:
        yield from ((f"`{event.name}`", _payload(event), plugin.name) for event in plugin.emits)
        for machine in {one.states.name: one.states for one in plugin.collections if one.states}.values():
            emitted = sorted({one.event for one in machine.transitions.values() if one.event})
            for event in emitted:
                actions = ", ".join(name for name, one in machine.transitions.items() if one.event == event)
                yield f"`{event}`", f"`{machine.record}: Mapping`", f"{plugin.name}, on {actions}"


def _payload(event: Event) -> str:
    return ", ".join(f"`{name}: {_type(kind)}`" for name, kind in event.fields.items())


def _type(kind: type | UnionType) -> str:
    return kind.__name__ if isinstance(kind, type) else re.sub(r"[\w.]+\.(\w+)", r"\1", str(kind))


def _permissions(catalogue: Catalogue) -> Iterator[Row]:
    for code in catalogue.permissions:
        title = catalogue.operations[code]
        routes = ", ".join(f"`{route.name}`" for route in catalogue.routes if route.guarded and route.access == code)
        yield f"`{code}`", f"{title.zh} / {title.en}", routes


def _dashboards(catalogue: Catalogue) -> Iterator[Row]:
    for route in catalogue.routes:
        if re.fullmatch("/api/dashboard/[^/]+", route.path):
            query = ", ".join(f"`{name}`" for name in route.query)
            yield f"`{route.path.rpartition('/')[2]}`", route.summary, query, f"`{route.access}`"


def _metrics() -> Iterator[Row]:
    """Yield the metrics that the source names: each is followed by its help, or by a variable that has it."""
    for path in (path for folder in ("config", "handlers", "plugins") for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())
        constants = {
            target.id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            values = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else ()
            texts = [_constant(one, constants) for one in values[:2]]
            if len(texts) == 2 and texts[1][:1].isupper() and re.fullmatch("tradewind_[a-z_]+", texts[0]):
                yield f"`{texts[0]}`", texts[1]


def _constant(node: ast.expr, constants: Mapping[str, object]) -> str:
    value = constants.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)
    return value if isinstance(value, str) else ""


def _names() -> Iterator[Row]:
    for path in sorted(_API.glob("*.py"), key=lambda path: (path.stem != "__init__", path.stem)):
        module = "plugins.api" if path.stem == "__init__" else f"plugins.api.{path.stem}"
        yield from ((f"`{name}`", f"`{module}`", what) for name, what in _OFFERED.findall(path.read_text()))


def _apis(plugins: Iterable[Plugin]) -> Iterator[Row]:
    for name in sorted(plugin.name for plugin in plugins):
        path = ROOT / "plugins" / name / "api.py"
        if path.is_file():
            offered = next(
                ast.literal_eval(node.value)
                for node in ast.parse(path.read_text()).body
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            )
            yield f"`plugins.{name}.api`", ", ".join(f"`{one}`" for one in offered)


def tutorials() -> Iterator[tuple[Path, str]]:
    """Yield the tutorials with the files of `examples` in them, and the Chinese ones with the blocks of the English ones."""
    docs = ROOT / "docs"
    for path in [docs / "tutorial.md", *sorted((docs / "tutorials").glob("*.md"))]:
        text = _FILE.sub(_written, path.read_text())
        yield path, text
        blocks, chinese = iter(_BLOCK.findall(text)), docs / "zh" / path.name
        yield chinese, _BLOCK.sub(lambda found: next(blocks, found[0]), chinese.read_text())  # noqa: B023  used at once


def _written(found: re.Match[str]) -> str:
    file = ROOT / "examples" / found[2]
    return found[1] + file.read_text() if file.is_file() else found[0]
