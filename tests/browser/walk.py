"""Walks through page descriptions, for tests of what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from handlers.route import Route
from handlers.routing import Router

SHELL_ONLY = {"chosen"}  # what `api.js` replaces before it calls the API
_TEMPLATE = re.compile(r"\$\{[^}]*}")


def nodes(page: Any) -> Iterator[dict[str, Any]]:
    """Every object in a page."""
    if isinstance(page, dict):
        yield page
    for child in page.values() if isinstance(page, dict) else page if isinstance(page, list) else ():
        yield from nodes(child)


def calls(page: Any) -> Iterator[tuple[str, str, set[str]]]:
    """Every request that a page may make: method, path, and the parameters that its address names."""
    for node in nodes(page):
        if "method" in node and "url" in node:
            path, _, query = _TEMPLATE.sub("1", node["url"]).partition("?")
            given = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
            sent = set(node.get("data", ())) if node["method"] == "get" else set()
            yield node["method"].upper(), path, (given | sent) - SHELL_ONLY


def routes_of(page: Any, router: Router) -> list[Route]:
    """The routes that a page may call. Raises 40400 for a path that there is not."""
    return [router.match(method, path)[0] for method, path, _ in calls(page)]


def texts(page: Any) -> str:
    """All of a page as text."""
    return json.dumps(page, ensure_ascii=False)
