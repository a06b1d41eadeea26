"""Finds the route of a path by walking a tree of path segments; the cost does not grow with the number of routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from handlers.route import Route
from handlers.schema.errors import BAD_REQUEST, METHOD_NOT_ALLOWED, NOT_FOUND, ApiError


@dataclass
class _Node:
    literal: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    routes: dict[str, Route] = field(default_factory=dict)


class Router:
    """All routes of the process; a literal segment wins over a parameter."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        self._exact: dict[tuple[str, str], Route] = {}
        # the node above a last segment that is the only parameter, and the route there, by its method and path
        self._above: dict[tuple[str, str], tuple[_Node, Route]] = {}
        for route in routes:
            self._add(route)

    def _add(self, route: Route) -> None:
        above = node = self._root
        for segment in route.path.strip("/").split("/"):
            above = node
            if segment.startswith("{"):
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.literal.setdefault(segment, _Node())
        node.routes[route.method] = route
        if node is above.parameter and len(route.parameters) == 1:
            self._above[route.method, route.path.rpartition("/")[0]] = above, route
        if "{" not in route.path:
            self._exact[route.method, route.path] = route

    def match(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """Return the route of a request and its path parameters. Raises 40400, or 40500 with `Allow`."""
        method = "GET" if method == "HEAD" else method
        exact = self._exact.get((method, path))
        if exact is not None:
            return exact, {}
        literal, _, last = path.rpartition("/")
        found = self._above.get((method, literal))
        if found is not None and last and last not in found[0].literal and "%" not in last:
            return found[1], {found[1].parameters[0]: last}
        node, values = self._find(path)
        if node is None:
            raise ApiError(NOT_FOUND)
        route = node.routes.get(method)
        if route is None:
            raise ApiError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(allowed_methods(node.routes))})
        return route, dict(zip(route.parameters, values, strict=True))

    def allowed(self, path: str) -> list[str]:
        """Return the methods of a path; none for an unknown path."""
        node, _ = self._find(path)
        return allowed_methods(node.routes) if node else []

    def _find(self, path: str) -> tuple[_Node | None, list[str]]:
        segments = path.split("/")[1:] if path.startswith("/") else []
        if "%" in path:
            segments = [_decode_segment(part) for part in segments]
        straight = self._find_without_backtracking(segments)
        if straight is not None:
            return straight
        values: list[str] = []
        return self._walk(self._root, segments, 0, values), values

    def _find_without_backtracking(self, segments: list[str]) -> tuple[_Node, list[str]] | None:
        """Find a path without backtracking, literal segments first, which suffices for most; None if it does not."""
        values: list[str] = []
        node = self._root
        for segment in segments:
            following = node.literal.get(segment)
            if following is None and segment:
                values.append(segment)
                following = node.parameter
            if following is None:
                return None
            node = following
        return (node, values) if node.routes else None

    def _walk(self, node: _Node, segments: list[str], at: int, values: list[str]) -> _Node | None:
        if at == len(segments):
            return node if node.routes else None
        literal = node.literal.get(segments[at])
        found = self._walk(literal, segments, at + 1, values) if literal else None
        if found is None and node.parameter and segments[at]:
            values.append(segments[at])
            found = self._walk(node.parameter, segments, at + 1, values)
            if found is None:
                values.pop()
        return found


def allowed_methods(routes: Mapping[str, Route]) -> list[str]:
    """Return the methods of a path as the header `Allow` lists them."""
    methods = {*routes, "OPTIONS", *(("HEAD",) if "GET" in routes else ())}
    return sorted(methods)


def _decode_segment(raw: str) -> str:
    if "%" not in raw:
        return raw
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError as error:
        raise ApiError(BAD_REQUEST) from error
    if "\x00" in text:
        raise ApiError(BAD_REQUEST)
    return text
