"""Attendance places: positions and WiFi access points at which punches count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plugins.api import Page, Record, Request, Route, crud, tables
from plugins.api.errors import refusal
from plugins.api.ports import Authorizer
from plugins.api.records import Catalogue, history_of
from plugins.hrm.evidence import to_point
from plugins.hrm.record_types import AttendancePlace
from plugins.hrm.records import PLACES

_AT = "/api/v1/hrm/places"
_HIDDEN = "bssids"  # whoever could read them could claim them


async def list_places(req: Request) -> Page:
    """Return a page of places, with their access points only for those who may change places."""
    page: Page = await req.store(PLACES).page(req.query)
    shown = await _sees_access_points(req)
    return page if shown else replace(page, items=[{**one, _HIDDEN: []} for one in page.items])


async def read(req: Request) -> Record:
    """Return a place, with its access points only for those who may change places."""
    place = await req.store(PLACES).get(req.path["id"])
    return {**place} if await _sees_access_points(req) else {**place, _HIDDEN: []}


async def _read_for_history(req: Request) -> Record:
    """Return a place; a history shows only the fields that it has."""
    place = await req.store(PLACES).get(req.path["id"])
    return {name: value for name, value in place.items() if name != _HIDDEN or await _sees_access_points(req)}


async def _sees_access_points(req: Request) -> bool:
    change = next(one for one in req.part(Catalogue).routes if one.name == f"PATCH {_AT}/{{id}}")
    return await refusal(req.actor, change, req.part(Authorizer)) is None


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


_CRUD = crud(
    PLACES,
    at=_AT,
    resource="hrm:place",
    list=list_places,
    read=read,
    create=create,
    update=update,
    without=("history",),
)
_READ = next(one for one in _CRUD if one.method == "GET" and one.path == f"{_AT}/{{id}}")
_RESTORE = next(one for one in _CRUD if one.path.endswith("/restore"))
ROUTES: tuple[Route, ...] = (
    *_CRUD,
    history_of(PLACES, replace(_READ, handler=_read_for_history), _RESTORE, "an attendance place"),
    *tables(PLACES, at=_AT, resource="hrm:place", lister=list_places),
)
