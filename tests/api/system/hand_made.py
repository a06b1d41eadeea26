"""Requests of system that cannot be made from a declaration alone (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from handlers.route import Route
from plugins.testing import unique
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

AT = "/api/v1/system/custom-fields"
# in turn, since a collection takes thirty
_COLLECTIONS = cycle(("hrm_positions", "hrm_places", "hrm_shifts", "inventory_warehouses", "cms_categories"))


async def custom_field(maker: Maker, route: Route) -> Exercise:
    """Return a request for one of a collection whose records have few tests of their own."""
    name = unique("probed").replace("-", "_")
    body = {"collection": next(_COLLECTIONS), "name": name, "label": name, "label_en": name, "type": "text"}
    return Exercise(maker.admin, route, route.path, body)


async def relabelled_field(maker: Maker, route: Route) -> Exercise:
    """Return a request that gives one labels which no other field of its collection has."""
    made = await maker.record("core_custom_fields")
    label = unique("label")
    body = {"version": made["version"], "label": label, "label_en": label}
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


SYSTEM_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {AT}": custom_field,
    f"POST {AT}/rehearse": custom_field,
    f"PATCH {AT}/{{id}}": relabelled_field,
}
