"""Positions, and the evidence of a punch: the place that it proves, and its risks. These functions use no database."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import prcoords

from plugins.api.values import ReadOnlyRecord
from plugins.hrm.record_types import AttendancePlace

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


_FUTURE_SECONDS = 60
_NEAR_METRES = 1000  # shorter distances are neither suspicious travel nor a contradiction of the WiFi


@dataclass(frozen=True)
class Limits:
    """The largest error (metres) and age (seconds) of a position, and the largest speed (km/h) of people."""

    accuracy: float
    age: float
    speed: float


@dataclass(frozen=True)
class Finding:
    """The result of a punch, the proved or nearest place, its distance in metres, the method of proof, and risks."""

    result: str
    place: AttendancePlace | None = None
    method: str | None = None
    distance: float | None = None
    risks: list[str] = field(default_factory=list)


def evaluate(
    punch: ReadOnlyRecord, places: Sequence[AttendancePlace], last: ReadOnlyRecord | None, limits: Limits, now: datetime
) -> Finding:
    """Evaluate the evidence of `punch` against `places`. `last` is the previous punch with a position, if any."""
    here = position_of(punch)
    risks = _find_risks(punch, here, last, limits, now)
    forged = {"mock_location", "impossible_speed"} & set(risks)
    doubtful = {"low_accuracy", "old_fix", "future_fix"} & set(risks)
    known = next((place for place in places if punch.get("bssid") in place["bssids"]), None)
    within, distance = _find_nearest(here, places)
    if known is not None:
        away = _distance(here, known)
        if away is not None and away - (punch.get("accuracy") or 0) > max(known["radius"], _NEAR_METRES):
            risks.append("far_from_wifi")
        return Finding("refused" if forged else "accepted", known, "wifi", away, risks)
    if punch.get("bssid"):
        risks.append("unknown_wifi")
    if forged:
        return Finding("refused", within, None, distance, risks)
    if within is None or distance is None or distance > within["radius"]:
        return Finding("outside", within, None, distance, risks)
    return Finding("unproven" if doubtful else "accepted", within, None if doubtful else "gps", distance, risks)


def position_of(record: ReadOnlyRecord) -> Place | None:
    """Return the WGS-84 position of a record with a `point`, or None."""
    point = record.get("point")
    return (point["coordinates"][0], point["coordinates"][1]) if point else None


def _find_nearest(here: Place | None, places: Sequence[AttendancePlace]) -> tuple[AttendancePlace | None, float | None]:
    """Return the nearest place whose radius contains the position, or else the nearest of all, and its distance."""
    measured = [(place, away) for place in places if (away := _distance(here, place)) is not None]
    around = [(place, away) for place, away in measured if away <= place["radius"]]
    return min(around or measured, key=lambda one: one[1], default=(None, None))


def _distance(here: Place | None, place: AttendancePlace) -> float | None:
    there = position_of(place)
    return round(metres(here, there), 1) if here and there else None


def _find_risks(
    punch: ReadOnlyRecord, here: Place | None, last: ReadOnlyRecord | None, limits: Limits, now: datetime
) -> list[str]:
    risks = ["mock_location"] if punch.get("mock") else []
    if here is None:
        return risks
    if last is not None and _is_impossible(punch, here, last, limits, now):
        risks.append("impossible_speed")
    if punch.get("accuracy") is None:
        risks.append("unknown_accuracy")
    elif punch["accuracy"] > limits.accuracy:
        risks.append("low_accuracy")
    if punch.get("fix_at") is None:
        risks.append("unknown_fix_time")
    else:
        age = (now - punch["fix_at"]).total_seconds()
        risks += ["old_fix"] if age > limits.age else ["future_fix"] if age < -_FUTURE_SECONDS else []
    return risks


def _is_impossible(punch: ReadOnlyRecord, here: Place, last: ReadOnlyRecord, limits: Limits, now: datetime) -> bool:
    before = position_of(last)
    if before is None:
        return False
    # both positions may be off by their accuracy
    travelled = metres(here, before) - (punch.get("accuracy") or 0) - (last.get("accuracy") or 0)
    seconds = max((now - last["at"]).total_seconds(), 1)
    return travelled > _NEAR_METRES and travelled / seconds * 3.6 > limits.speed
