"""Who imports whom, and cycles among the modules of the product; imports for the type checker count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from scripts.source_survey.sizes import PRODUCT, sources


def cycles(root: Path) -> list[list[str]]:
    """Return the sets of modules that import each other, the largest first."""
    graph = import_graph(root, *PRODUCT)
    reached_from = {module: reachable(module, graph) for module in graph}
    found = {
        frozenset(other for other in reached if module in reached_from[other])
        for module, reached in reached_from.items()
        if module in reached
    }
    return sorted((sorted(cycle) for cycle in found), key=len, reverse=True)


@cache
def import_graph(root: Path, *places: str) -> dict[str, set[str]]:
    """Return the modules of these places of a checkout, each with those of them that it imports."""
    paths = {module_of(path.relative_to(root)): path for path in sources(root, *places)}
    return {module: set(_imports(path, paths)) - {module} for module, path in paths.items()}


def module_of(path: Path) -> str:
    """Return the name of the module in a file, whose path is below the root."""
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


def reachable(module: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return all modules that `module` imports, directly or indirectly; `module` itself if it is in a cycle."""
    seen: set[str] = set()
    ahead = list(graph[module])
    while ahead:
        if (other := ahead.pop()) not in seen:
            seen.add(other)
            ahead += graph.get(other, ())
    return seen
