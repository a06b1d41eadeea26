"""Positions, and the evidence of a punch: the place that it proves, and its risks. These functions use no database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

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
# nobody boards a plane between two punches that are as close as this
_SOON_SECONDS, _SOON_KMH = 600, 200
# with any of these a punch is refused, with any of the next it proves nothing wherever it was made
_FORGED = frozenset({"mock_location", "impossible_speed", "invalid_attempt"})
_LACKING = frozenset(
    {"no_attempt", "no_device", "no_photo", "repeated_photo", "unknown_photo", "unknown_device", "far_from_wifi"}
)
_DOUBTFUL = frozenset({"low_accuracy", "old_fix", "future_fix"})
_MISSING = frozenset({"unknown_accuracy", "unknown_fix_time"})


@dataclass(frozen=True)
class Limits:
    """The largest error (metres) and age (seconds) of a position, and the largest speed (km/h) of people."""

    accuracy: float
    age: float
    speed: float


@dataclass(frozen=True)
class Demands:
    """What evidence has to be: the `proof` of the place, and within which limits.

    `strict`: a policy asks for something, so a position without accuracy or time, one that was sent before and a device of somebody
    else do not count.
    """

    limits: Limits
    proof: str = "either"
    strict: bool = False


@dataclass(frozen=True)
class Finding:
    """The result of a punch, the proved or nearest place, its distance in metres, the method of proof, and risks."""

    result: str
    place: AttendancePlace | None = None
    method: str | None = None
    distance: float | None = None
    risks: list[str] = field(default_factory=list)


def demands_of(policy: Mapping[str, Any] | None, limits: Limits) -> Demands:
    """Return what a group demands; `limits` are those of the company."""
    if policy is None or all(value in (None, False, "either") for value in policy.values()):
        return Demands(limits)
    accuracy, age = policy.get("max_accuracy_metres"), policy.get("max_fix_age_seconds")
    own = replace(limits, accuracy=accuracy or limits.accuracy, age=age or limits.age)
    return Demands(own, policy.get("proof") or "either", strict=True)


def evaluate(
    punch: ReadOnlyRecord,
    places: Sequence[AttendancePlace],
    last: ReadOnlyRecord | None,
    demands: Demands,
    now: datetime,
    further: Iterable[str] = (),
) -> Finding:
    """Evaluate the evidence of `punch` against `places`. `last` is the previous punch with a position, if any.

    `further` are risks that other records show.
    """
    here = position_of(punch)
    known = next((place for place in places if punch.get("bssid") in place["bssids"]), None)
    risks = [*_find_risks(punch, here, known, last, demands.limits, now), *further]
    within, distance = _find_nearest(here, places)
    inside = within is not None and distance is not None and distance <= within["radius"]
    doubtful = (_DOUBTFUL | (_MISSING if demands.strict else set())) & set(risks)
    gps = inside and not doubtful
    wifi = known is not None and "far_from_wifi" not in risks
    lacking = _lacking(demands.proof, gps, known is not None) if inside or known is not None else []
    risks += lacking
    method = "wifi" if wifi and demands.proof != "gps" else "gps" if gps else None
    place, distance = (known, _distance(here, known)) if known is not None else (within, distance)
    forged = _FORGED | ({"repeated_fix", "shared_device"} if demands.strict else set())
    if forged & set(risks):
        return Finding("refused", place, method if known is not None else None, distance, risks)
    if not (inside or known is not None) and not _LACKING & set(risks):
        nowhere = demands.strict and (here is None or doubtful)
        return Finding("unproven" if nowhere else "outside", place, None, distance, risks)
    proved = method is not None and not lacking and not _LACKING & set(risks)
    return Finding("accepted" if proved else "unproven", place, method if proved else None, distance, risks)


def _lacking(proof: str, gps: bool, wifi: bool) -> list[str]:
    """Return which proof of the place is missing."""
    needed = [*(["no_position"] if proof in ("gps", "both") and not gps else [])]
    return [*needed, *(["no_wifi"] if proof in ("wifi", "both") and not wifi else [])]


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
    punch: ReadOnlyRecord,
    here: Place | None,
    known: AttendancePlace | None,
    last: ReadOnlyRecord | None,
    limits: Limits,
    now: datetime,
) -> list[str]:
    risks = ["mock_location"] if punch.get("mock") else []
    there = here or (position_of(known) if known is not None else None)
    if last is not None and there is not None and _is_impossible(punch, there, last, limits, now):
        risks.append("impossible_speed")
    away = _distance(here, known) if known is not None else None
    if (
        known is not None
        and away is not None
        and away - (punch.get("accuracy") or 0) > max(known["radius"], _NEAR_METRES)
    ):
        risks.append("far_from_wifi")
    if known is None and punch.get("bssid"):
        risks.append("unknown_wifi")
    if here is None:
        return risks
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
    fastest = min(limits.speed, _SOON_KMH) if seconds < _SOON_SECONDS else limits.speed
    return travelled > _NEAR_METRES and travelled / seconds * 3.6 > fastest
