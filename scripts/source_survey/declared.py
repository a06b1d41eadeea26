"""What the registry of a checkout declares and a text search finds: `declared.py CHECKOUT`, printed as JSON.

It imports the modules of that checkout, and therefore none of this one.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

OURS = ("config", "handlers", "plugins")
# the endings that `crud`, `dashboard_routes` and papers add to the path that they are given
ENDINGS = re.compile(
    r"/(\{id\}(/restore|/history|/notes|/print)?|export|print|template|import|imports(/\{id\}(/faulty-rows)?)?|options|rows|before)$"
)


def main(root: Path) -> None:
    """Print the figures of the checkout at `root`."""
    sys.path.insert(0, str(root))
    from plugins import api
    from plugins.boot.registry import freeze, load_plugins

    catalogue = freeze(load_plugins(()))
    text = source_text(root)
    paths = {route.path for route in catalogue.routes}
    codes = catalogue.permissions
    calls = list(_signatures(api))
    figures = {
        "paths found by searching": f"{len(paths) - len(hidden_paths(paths, text))} of {len(paths)}",
        "permission codes found by searching": f"{len(codes) - len(hidden_codes(codes, text))} of {len(codes)}",
        "signatures of plugins.api with Any": f"{sum('Any' in call for call in calls)} of {len(calls)}",
        "names in plugins.api": len(_names(api)),
    }
    print(json.dumps(figures))


def source_text(root: Path) -> str:
    """Return all source files of the core and the plugins, joined."""
    return "\n".join(path.read_text() for place in ("plugins", "handlers") for path in (root / place).rglob("*.py"))


def hidden_paths(paths: Iterable[str], text: str) -> list[str]:
    """Return the paths that a search finds neither in full nor by the base to which a function adds the ending."""
    return sorted(path for path in paths if not _is_literal(path, text) and not _is_literal(_base(path), text))


def hidden_codes(codes: Iterable[str], text: str) -> list[str]:
    """Return the permission codes that a search finds neither in full nor as `<module>:<entity>`."""
    return sorted(code for code in codes if not _is_literal(code, text) and not _is_literal(_resource(code), text))


def _is_literal(name: str, text: str) -> bool:
    """Return whether a string in the source is `name`, or ends with it, as `GET <path>` does."""
    return f'"{name}"' in text or f' {name}"' in text


def _base(path: str) -> str:
    return ENDINGS.sub("", path)


def _resource(code: str) -> str:
    return code.rpartition(":")[0]


def _signatures(api: object) -> Iterator[str]:
    """Yield the signatures of functions and methods, except those that a class inherits from a library."""
    for name in _names(api):
        value = getattr(api, name)
        if inspect.isfunction(value):
            yield _signature(value)
        elif inspect.isclass(value):
            members = inspect.getmembers(value, inspect.isfunction)
            own = [(key, call) for key, call in members if call.__module__.partition(".")[0] in OURS]
            yield from (_signature(call) for key, call in own if key == "__init__" or not key.startswith("_"))


def _names(api: object) -> list[str]:
    """Return the public names of a module that are not modules themselves."""
    return [name for name, value in vars(api).items() if not name.startswith("_") and not inspect.ismodule(value)]


def _signature(call: object) -> str:
    try:
        return str(inspect.signature(call))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
