"""Customers that look the same. Clients are warned of them, but no creation is refused because of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plugins.api import Message, Page, Record, Request, Route, array, integer, object_id, route, shape, text, timestamp
from plugins.crm.messages import LIKE_CUSTOMER, LIKE_ROW
from plugins.crm.record_types import Customer
from plugins.crm.records import CUSTOMERS

_NOT_DIGITS = re.compile(r"\D+")
_NOT_WORDS = re.compile(r"[\W_]+")


def derive_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys for whichever of `name`, `phone` and `location` are in `values`."""
    keys: dict[str, Any] = {}
    if "name" in values:
        keys["name_key"] = name_key(values["name"])
    if "phone" in values:
        keys["phone_key"] = phone_key(values["phone"])
    if "location" in values:
        keys["point"] = to_point(values["location"])
    return keys


def name_key(name: str | None) -> str | None:
    """Return a name without differences of width, case, spaces and punctuation, or None if nothing is left."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name or "").casefold()) or None


def phone_key(phone: str | None) -> str | None:
    """Return the digits of a phone number without China's country code, or None if there are fewer than five."""
    digits = _NOT_DIGITS.sub("", unicodedata.normalize("NFKC", phone or "")).removeprefix("00")
    digits = digits.removeprefix("86") if len(digits) > 11 else digits
    return digits if len(digits) >= 5 else None


def to_point(position: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a position as a GeoJSON point, which MongoDB can index."""
    return {"type": "Point", "coordinates": [position["lng"], position["lat"]]} if position else None


_ORDER = "created_at"
CANDIDATE = shape(
    "DuplicateCandidate",
    id=object_id(nullable=False),
    name=text(max_length=200, nullable=False),
    code=text(max_length=64),
    phone=text(max_length=50),
    owner_id=integer(minimum=1, ref="users"),
    created_at=timestamp(nullable=False),
    matches=array(
        text(max_length=10),
        label=("相同项", "Matches"),
        max_items=2,
        nullable=False,
        description="`name`, `phone` or both.",
    ),
)
_SHOWN = tuple(CANDIDATE.fields or ())
QUERY = {
    "name": text(max_length=200, nullable=False, example="晨光科技"),
    "phone": text(max_length=50, nullable=False, example="021-5555 0100"),
    **{name: CUSTOMERS.list_query[name] for name in ("page", "page_size", "with_total", "cursor")},
    "sort": CUSTOMERS.list_query["sort"].but(
        default=_ORDER, example=_ORDER, description="Any of id, name, code, created_at."
    ),
}


async def find(req: Request) -> Page:
    """Return a page of the customers with the same normalized name or phone that the caller may see."""
    keys = _build_keys(req.query.get("name"), req.query.get("phone"))
    paging = {name: req.query[name] for name in QUERY if name not in keys and name in req.query}
    page: Page = await req.store(CUSTOMERS).page(paging, _match_any(keys), shown=_SHOWN)
    return replace(page, items=_add_matches(page.items, keys))


async def find_candidates(req: Request, name: str | None, phone: str | None, limit: int) -> list[Record]:
    """Return up to `limit` customers with the same normalized name or phone that the caller may see, oldest first."""
    keys = _build_keys(name, phone)
    if not any(keys.values()):
        return []
    return _add_matches(await req.store(CUSTOMERS).find(_match_any(keys), sort=_ORDER, limit=limit), keys)


async def find_known(req: Request, rows: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return the fields and keys, of the names and phones of these rows, that customers in the caller's scope have."""
    wanted = [_build_keys(row.get("name"), row.get("phone")) for row in rows]
    found: set[tuple[str, str]] = set()
    for field in ("name", "phone"):
        keys = list({key for keys in wanted if (key := keys[field])})
        # sorted by the indexed field: otherwise the planner may scan another index
        stages = ({"$match": {f"{field}_key": {"$in": keys}}}, {"$sort": {f"{field}_key": 1}}, _distinct(field))
        same = await req.store(CUSTOMERS).aggregate(stages) if keys else []
        found |= {(field, row["_id"]) for row in same}
    return found


def _distinct(field: str) -> Mapping[str, Any]:
    return {"$group": {"_id": f"${field}_key"}}


class SameRows:
    """The rows of a table that look the same as rows above them or as `find_known` customers."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], int] = {}

    def note(
        self, line: int, row: Mapping[str, Any], known: Collection[tuple[str, str]]
    ) -> Iterator[tuple[str, Message]]:
        """Note a row that creates a customer; yield each field by which it looks the same, and as what."""
        for field, key in _build_keys(row.get("name"), row.get("phone")).items():
            if key is None:
                continue
            first = self._first.setdefault((field, key), line)
            if first != line:
                yield field, LIKE_ROW.filled(row=first)
            elif (field, key) in known:
                yield field, LIKE_CUSTOMER


def _build_keys(name: str | None, phone: str | None) -> dict[str, str | None]:
    return {"name": name_key(name), "phone": phone_key(phone)}


def _match_any(keys: Mapping[str, str | None]) -> dict[str, Any]:
    wanted = [{f"{field}_key": key} for field, key in keys.items() if key]
    return {"$or": wanted} if wanted else {"_id": {"$in": []}}


def _add_matches(rows: Sequence[Customer], keys: Mapping[str, str | None]) -> list[Record]:
    return [
        {**row, "matches": [field for field, key in keys.items() if key and row.get(f"{field}_key") == key]}
        for row in rows
    ]


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/crm/customers/duplicates",
        find,
        summary="Find customers with the same name or phone",
        title=("疑似重复", "Possible duplicates"),
        access="crm:customer:list",
        paged=True,
        query=QUERY,
        returns=CANDIDATE,
        collection=CUSTOMERS.name,
    ),
)
