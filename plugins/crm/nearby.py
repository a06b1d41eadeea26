"""Customers near a place, the nearest first."""

from __future__ import annotations

import math
from collections.abc import Mapping

from plugins.api import Page, Request, integer, number, obj
from plugins.crm.records import CUSTOMERS

_EARTH_METRES = 6_378_100.0  # the radius that MongoDB reckons with
NEARBY = obj(
    "NearbyCustomer",
    {**CUSTOMERS.all_fields, "distance": number(nullable=False, description="Metres.")},
    nullable=False,
)
QUERY = {
    "lng": number(minimum=-180, maximum=180, required=True, example=121.47),
    "lat": number(minimum=-90, maximum=90, required=True, example=31.23),
    "radius": number(minimum=1, maximum=100_000, default=1000, example=1000, description="Metres."),
    "page_size": integer(minimum=1, maximum=200, default=20, example=20, description="The nearest so many."),
}


async def find(req: Request) -> Page:
    """The nearest customers in the caller's sight within `radius` metres; `total` is how many there are."""
    place, radius = [req.query["lng"], req.query["lat"]], req.query["radius"]
    size = req.query["page_size"]
    store = req.store(CUSTOMERS)
    near = {"$geometry": {"type": "Point", "coordinates": place}, "$maxDistance": radius}
    rows = await store.find({"point": {"$nearSphere": near}}, limit=size)
    within = {"point": {"$geoWithin": {"$centerSphere": [place, radius / _EARTH_METRES]}}}
    total = await store.count(within) if len(rows) == size else len(rows)
    return Page([{**row, "distance": round(_metres(place, row["location"]), 1)} for row in rows], total, 1, size, None)


def _metres(place: list[float], position: Mapping[str, float]) -> float:
    """The great-circle distance (haversine)."""
    lng, lat = (math.radians(degrees) for degrees in place)
    other_lng, other_lat = math.radians(position["lng"]), math.radians(position["lat"])
    half = math.sin((other_lat - lat) / 2) ** 2
    half += math.cos(lat) * math.cos(other_lat) * math.sin((other_lng - lng) / 2) ** 2
    return 2 * _EARTH_METRES * math.asin(math.sqrt(min(1.0, half)))
