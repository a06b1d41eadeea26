"""What a punch's evidence proves: a place, and what speaks against it. No database: values in, values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plugins.hrm.coordinates import Place, metres

Record = Mapping[str, Any]
_FUTURE_SECONDS = 60
_NEAR_METRES = 1000  # two places of one town are no journey, and no contradiction


@dataclass(frozen=True)
class Limits:
    """How exact (metres) and how old (seconds) a position may be, and how fast (km/h) people travel."""

    accuracy: float
    age: float
    speed: float


@dataclass(frozen=True)
class Finding:
    """What came of it: the result, the place that was proved or is nearest, by what, how far, and what is suspicious."""

    result: str
    place: Record | None = None
    method: str | None = None
    distance: float | None = None
    risks: list[str] = field(default_factory=list)


def weigh(punch: Record, places: Sequence[Record], last: Record | None, limits: Limits, now: datetime) -> Finding:
    """Judge the evidence of `punch` against the places, nearest first; `last` is the last punch with a position."""
    here = position(punch)
    risks = _risks(punch, here, last, limits, now)
    forged = {"mock_location", "impossible_speed"} & set(risks)
    doubtful = {"low_accuracy", "old_fix", "future_fix"} & set(risks)
    known = next((place for place in places if punch.get("bssid") in place["bssids"]), None)
    within, distance = _nearest(here, places)
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


def position(record: Record) -> Place | None:
    """The WGS-84 position of a record that holds a `point`."""
    point = record.get("point")
    return (point["coordinates"][0], point["coordinates"][1]) if point else None


def _nearest(here: Place | None, places: Sequence[Record]) -> tuple[Record | None, float | None]:
    """The nearest of the places whose radius reaches here, else the nearest of all."""
    measured = [(place, away) for place in places if (away := _distance(here, place)) is not None]
    around = [(place, away) for place, away in measured if away <= place["radius"]]
    return min(around or measured, key=lambda one: one[1], default=(None, None))


def _distance(here: Place | None, place: Record) -> float | None:
    there = position(place)
    return round(metres(here, there), 1) if here and there else None


def _risks(punch: Record, here: Place | None, last: Record | None, limits: Limits, now: datetime) -> list[str]:
    risks = ["mock_location"] if punch.get("mock") else []
    if here is None:
        return risks
    if last is not None and _impossible(punch, here, last, limits, now):
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


def _impossible(punch: Record, here: Place, last: Record, limits: Limits, now: datetime) -> bool:
    before = position(last)
    if before is None:
        return False
    # both may be wrong by their accuracy
    travelled = metres(here, before) - (punch.get("accuracy") or 0) - (last.get("accuracy") or 0)
    seconds = max((now - last["at"]).total_seconds(), 1)
    return travelled > _NEAR_METRES and travelled / seconds * 3.6 > limits.speed
