"""Import cycles among the modules of the product; imports that only the type checker needs count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from scripts.source_survey.sizes import PRODUCT, sources


def cycles(root: Path) -> list[list[str]]:
    """Return the sets of modules that import each other, the largest first."""
    graph = _graph(root)
    reachable = {module: _reachable(module, graph) for module in graph}
    found = {
        frozenset(other for other in reached if module in reachable[other])
        for module, reached in reachable.items()
        if module in reached
    }
    return sorted((sorted(cycle) for cycle in found), key=len, reverse=True)


def _graph(root: Path) -> dict[str, set[str]]:
    paths = {_module(path.relative_to(root)): path for path in sources(root, *PRODUCT)}
    return {module: set(_imports(path, paths)) - {module} for module, path in paths.items()}


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found = whole if whole in known else node.module
                if found in known:
                    yield found


def _reachable(module: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return all modules that `module` imports, directly or indirectly; `module` itself if it is in a cycle."""
    seen: set[str] = set()
    ahead = list(graph[module])
    while ahead:
        if (other := ahead.pop()) not in seen:
            seen.add(other)
            ahead += graph[other]
    return seen
