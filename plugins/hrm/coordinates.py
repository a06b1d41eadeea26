"""Positions: conversion of Chinese coordinate systems to WGS-84, and distances."""

from __future__ import annotations

import math
from collections.abc import Mapping

import prcoords

SYSTEMS = ("wgs84", "gcj02", "bd09")
Place = tuple[float, float]
_EARTH_METRES = 6_371_008.8


def to_wgs84(lng: float, lat: float, system: str) -> Place:
    """Convert a position to (lng, lat) in WGS-84, exact to less than a metre.

    Maps in China use GCJ-02 by law; BD-09 is Baidu's variant of it. Outside of China, GCJ-02 equals WGS-84.
    """
    found = prcoords.Coords(lat, lng)
    if system == "bd09":
        found = prcoords.bd_gcj_bored(found)
    if system != "wgs84" and prcoords.sanity_in_china_p(found):
        found = prcoords.gcj_wgs_bored(found)
    return found.lon, found.lat


def metres(one: Place, other: Place) -> float:
    """Return the great-circle distance in metres (haversine)."""
    lng, lat, other_lng, other_lat = (math.radians(degrees) for degrees in (*one, *other))
    half = math.sin((other_lat - lat) / 2) ** 2
    half += math.cos(lat) * math.cos(other_lat) * math.sin((other_lng - lng) / 2) ** 2
    return 2 * _EARTH_METRES * math.asin(math.sqrt(min(1.0, half)))


def to_point(location: Mapping[str, float] | None, system: str | None) -> dict[str, object] | None:
    """Return the position that a client sent as a GeoJSON point for `2dsphere` indexes."""
    if location is None:
        return None
    lng, lat = to_wgs84(location["lng"], location["lat"], system or "wgs84")
    return {"type": "Point", "coordinates": [lng, lat]}
