"""The tags of the OpenAPI document: they group operations by resource, such as `acme: things`.

The documentation page folds and filters operations by tag.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from os.path import commonpath

from handlers.route import Route

_LEAST = 3  # operations that a resource needs for its own tag


def tags_of(routes: Iterable[Route]) -> dict[str, str]:
    """Return the tag of each route by its name: that of the route, with the resource if enough routes share it."""
    resources = {route.name: (route.tag, _resource(route)) for route in routes}
    counts = Counter(resources.values())
    return {
        name: f"{tag}: {resource}" if resource and counts[tag, resource] >= _LEAST else tag
        for name, (tag, resource) in resources.items()
    }


def described_tags(routes: Iterable[Route], tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the tags in order, each with the common path of its operations."""
    paths: dict[str, list[str]] = defaultdict(list)
    for route in routes:
        paths[tags[route.name]].append(route.path)
    return [{"name": tag, "description": f"Operations at `{commonpath(paths[tag])}`."} for tag in sorted(paths)]


def _resource(route: Route) -> str:
    """Return the first name in the path after that of the module: `things` of `/api/v1/acme/things/{id}/sign`."""
    names = [name for name in re.sub(r"^/(api/)?(v1/)?", "", route.path).split("/") if "{" not in name]
    own = bool(names) and names[0].removesuffix("s") == route.tag.removesuffix("s")
    return next(iter(names[own:]), "")
