"""Attendance places: positions and WiFi access points at which punches count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Record, Request, Route, crud
from plugins.hrm.evidence import to_point
from plugins.hrm.record_types import AttendancePlace
from plugins.hrm.records import PLACES


async def create(req: Request) -> AttendancePlace:
    """Create a place. It is indexed by its position in WGS-84, whatever system the body uses."""
    return await req.store(PLACES).create({**req.body, **_derive(req.body, {})})


async def update(req: Request) -> AttendancePlace:
    """Change a place. Earlier punches keep their results."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(PLACES).get(req.path["id"])
    return await req.store(PLACES).update(before["id"], {**values, **_derive(values, before)}, version=version)


def normalize_bssid(bssid: str) -> str:
    """Return the address of an access point in the stored form: `9c:54:1c:00:a1:b2`."""
    return bssid.lower().replace("-", ":")


def _derive(values: Mapping[str, Any], before: Mapping[str, Any]) -> Record:
    """Return the stored point and access points that follow from `values`."""
    derived: Record = {}
    if "location" in values or "coordinate_system" in values:
        merged = {**before, **values}
        derived["point"] = to_point(merged.get("location"), merged.get("coordinate_system"))
    if "bssids" in values:
        derived["bssids"] = list(dict.fromkeys(normalize_bssid(one) for one in values["bssids"]))
    return derived


ROUTES: tuple[Route, ...] = crud(
    PLACES,
    at="/api/v1/hrm/places",
    resource="hrm:place",
    create=create,
    update=update,
)
