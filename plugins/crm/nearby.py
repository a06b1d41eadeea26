"""Customers near a place, nearest first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plugins.api import Page, Request, Route, number, route, shape
from plugins.api.data import rows_before
from plugins.crm.record_types import Position
from plugins.crm.records import CUSTOMERS

_EARTH_METRES = 6_378_100.0  # the radius that MongoDB uses
NEARBY = shape("NearbyCustomer", **CUSTOMERS.all_fields, distance=number(nullable=False, description="In metres."))
QUERY = {
    "lng": number(minimum=-180, maximum=180, required=True, example=121.47),
    "lat": number(minimum=-90, maximum=90, required=True, example=31.23),
    "radius": number(minimum=1, maximum=100_000, default=1000, example=1000, description="In metres."),
    **{name: CUSTOMERS.list_query[name] for name in ("page", "page_size", "with_total")},
    "cursor": CUSTOMERS.list_query["cursor"].but(example="20"),
}
DESCRIPTION = (
    "The nearest customers come first. The cursor is a position in this list, so a customer whose location changes "
    "between two requests may appear twice or not at all."
)


async def find(req: Request) -> Page:
    """Return a page of the customers within `radius` metres that the caller may see, nearest first."""
    place, radius = [req.query["lng"], req.query["lat"]], req.query["radius"]
    size, skip = req.query["page_size"], rows_before(req.query)
    near = {"$geometry": {"type": "Point", "coordinates": place}, "$maxDistance": radius}
    rows = await req.store(CUSTOMERS).find({"point": {"$nearSphere": near}}, skip=skip, limit=size + 1)
    total = await _count_in_circle(req, skip, len(rows)) if req.query["with_total"] else None
    shown = [
        {**row, "distance": round(_distance_metres(place, at), 1)} for row in rows[:size] if (at := row["location"])
    ]
    return Page(shown, total, req.query["page"], size, str(skip + size) if len(rows) > size else None)


async def _count_in_circle(req: Request, before: int, found: int) -> int:
    """Return the number of customers in the circle. On the last page it follows from the rows, without a count."""
    query: Mapping[str, Any] = req.query
    if found <= query["page_size"] and (found or not before):
        return before + found
    circle = [[query["lng"], query["lat"]], query["radius"] / _EARTH_METRES]
    return await req.store(CUSTOMERS).count({"point": {"$geoWithin": {"$centerSphere": circle}}})


def _distance_metres(place: list[float], position: Position) -> float:
    """Return the great-circle distance in metres (haversine)."""
    lng, lat = (math.radians(degrees) for degrees in place)
    other_lng, other_lat = math.radians(position["lng"]), math.radians(position["lat"])
    half = math.sin((other_lat - lat) / 2) ** 2
    half += math.cos(lat) * math.cos(other_lat) * math.sin((other_lng - lng) / 2) ** 2
    return 2 * _EARTH_METRES * math.asin(math.sqrt(min(1.0, half)))


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/crm/customers/nearby",
        find,
        summary="List the customers near a location",
        access="crm:customer:list",
        paged=True,
        query=QUERY,
        returns=NEARBY,
        collection=CUSTOMERS.name,
        description=DESCRIPTION,
    ),
)
