"""What the registry of a checkout declares and a search finds: `declared.py CHECKOUT`, printed as JSON.

It imports the modules of that checkout, and so none of this one.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# what `crud` adds to the path that it is given
ENDINGS = re.compile(r"/(\{id\}(/restore|/history)?|export|import|options)$")


def main(root: Path) -> None:
    """Print the figures."""
    sys.path.insert(0, str(root))
    from plugins import api
    from plugins.registry import freeze, load_plugins

    catalogue = freeze(load_plugins(()))
    text = "\n".join(path.read_text() for place in ("plugins", "handlers") for path in (root / place).rglob("*.py"))
    paths = {route.path for route in catalogue.routes}
    codes = catalogue.permissions
    calls = list(_signatures(api))
    figures = {
        "paths found by searching": _share(paths, lambda path: _is_literal(path, text) or _has_base(path, text)),
        "permission codes found by searching": _share(
            codes, lambda code: _is_literal(code, text) or _is_literal(code.rpartition(":")[0], text)
        ),
        "signatures of plugins.api with Any": f"{sum('Any' in call for call in calls)} of {len(calls)}",
        "names in plugins.api": len(api.__all__),
    }
    print(json.dumps(figures))


def _share(names: Iterable[str], found: object) -> str:
    known = list(names)
    return f"{sum(map(found, known))} of {len(known)}"  # type: ignore[call-overload]


def _is_literal(name: str, text: str) -> bool:
    return f'"{name}"' in text


def _has_base(path: str, text: str) -> bool:
    base = ENDINGS.sub("", path)
    return base != path and _is_literal(base, text)


def _signatures(api: object) -> Iterator[str]:
    for name in api.__all__:  # type: ignore[attr-defined]
        value = getattr(api, name)
        if inspect.isfunction(value):
            yield _signature(value)
        elif inspect.isclass(value):
            members = inspect.getmembers(value, inspect.isfunction)
            yield from (_signature(call) for key, call in members if key == "__init__" or not key.startswith("_"))


def _signature(call: object) -> str:
    try:
        return str(inspect.signature(call))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
