"""Lists: sort orders, filters, searches, pages and cursors as MongoDB queries."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic

import orjson

from config.database import Document, Filter
from handlers.data.collection import MAX_DEPTH, OUTDATED, Collection
from handlers.data.lists.search import former_filter, search_filter, search_key, symbols_filter
from handlers.schema.conversion import Undecodable, decode_stored, encode
from handlers.schema.errors import invalid
from handlers.schema.fields import Field
from handlers.schema.money import exact
from handlers.schema.values import Item, Query, Record

CURRENCY = "currency"  # the field with the currency of a record's amounts, if it has one
_NO_MONEY = Decimal("0.00")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list. `total` is None if the count was left out.

    `sums` are those of all matching records, by field; None if none were asked for or too many records match.
    """

    items: list[Item]
    total: int | None
    page: int
    page_size: int
    next_cursor: str | None
    sums: Mapping[str, Decimal] | None = None


def sort_keys(collection: Collection, wanted: str | None, shown: Container[str] | None = None) -> list[tuple[str, int]]:
    """Return a sort order such as `-created_at,name` as MongoDB sort keys that end with `_id`.

    Raises 40001 for a field that is not sortable. `shown` are the fields that the caller may see, or None for all of
    them: sorting by another field would disclose its values.
    """
    keys: list[tuple[str, int]] = []
    default = collection.default_sort if is_shown(collection.default_sort.removeprefix("-"), shown) else "id"
    for part in (wanted or default).split(","):
        name = part.strip().removeprefix("-")
        known = (name in collection.sortable and is_shown(name, shown)) or part.strip() == default
        stored = "_id" if name == "id" else collection.stored_orders.get(name, name)
        if not known or stored in {key for key, _ in keys}:
            raise invalid("sort", "sort")
        keys.append((stored, -1 if part.strip().startswith("-") else 1))
    if not any(name == "_id" for name, _ in keys):
        keys.append(("_id", keys[-1][1]))
    return keys


def is_shown(name: str, shown: Container[str] | None) -> bool:
    """Return whether the caller may see a field, if `shown` are those that they may see; None are all."""
    return shown is None or name == "id" or name in shown


def list_filter(
    collection: Collection,
    query: Query,
    shown: Container[str] | None = None,
    *,
    outdated: bool = False,
) -> Filter:
    """Return the filters and the search of `query` as one MongoDB filter; the search ignores fields not in `shown`.

    With `outdated` the search also finds records whose stored search fields have an older form.
    """
    clauses: list[dict[str, Any]] = []
    for name, child in collection.filters.items():
        value = query.get(name)
        if value is None:
            continue
        if name not in collection.all_fields and name.endswith("_from"):
            clauses.append({name.removesuffix("_from"): {"$gte": value}})
        elif name not in collection.all_fields and name.endswith("_to"):
            clauses.append({name.removesuffix("_to"): {"$lte": value}})
        elif value is False and collection.all_fields[name].default is False:
            clauses.append({_stored(name): {"$in": [False, None]}})  # records of earlier versions lack the field
        elif child.kind == "array":
            clauses.append({_stored(name): value[0] if len(value) == 1 else {"$in": value}})
        else:
            clauses.append({_stored(name): value})
    if query.get("q"):
        clauses.append(_search_clause(collection, query["q"], shown, outdated))
    clauses = [clause for clause in clauses if clause]
    return {"$and": clauses} if clauses else {}


def _search_clause(collection: Collection, query: str, shown: Container[str] | None, outdated: bool) -> dict[str, Any]:
    searched = [name for name in collection.searchable if is_shown(name, shown)]
    if not searched:
        return {"_id": {"$in": []}}
    if not query.strip():
        return {}
    if search_key(query) is None:
        return symbols_filter(query, searched)
    narrowed = len(searched) < len(collection.searchable)
    found = search_filter(query, searched if narrowed else ())
    if not outdated:
        return found
    former = [OUTDATED, former_filter(query), *([_in_fields(query, searched)] if narrowed else [])]
    return {"$or": [found, {"$and": former}]}


def _in_fields(query: str, fields: Iterable[str]) -> dict[str, Any]:
    part = {"$regex": re.escape(query.strip()), "$options": "i"}
    return {"$or": [{name: part} for name in fields]}


def _stored(name: str) -> str:
    return "_id" if name == "id" else name


def check_depth(page: int, page_size: int) -> int:
    """Return how many rows to skip; raise 40001 if the page is so deep that only a cursor may lead to it."""
    skip = (page - 1) * page_size
    if skip + page_size > MAX_DEPTH and page > 1:
        raise invalid("page", "depth")
    return skip


def rows_before(query: Query) -> int:
    """Return how many rows to skip in a list whose cursor is that number; raise 40001 for an invalid cursor or page."""
    cursor = query.get("cursor")
    if cursor is None:
        return check_depth(query["page"], query["page_size"])
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise invalid("cursor", "cursor")
    return int(cursor)


def query_of_rows(collection: Collection) -> dict[str, Field]:
    """Return the paging parameters of a list whose pages `page_of_rows` makes; `collection` declares the rows."""
    paging = {name: collection.list_query[name] for name in ("page", "page_size", "cursor", "with_total", "sum")}
    return {**paging, "cursor": paging["cursor"].but(example="20")}


def page_of_rows(query: Query, rows: Sequence[Record]) -> Page[Record]:
    """Return the page that a query names of rows that a report has computed, with the sums of all.

    Rows in several currencies are not added up.
    """
    start, size = rows_before(query), query["page_size"]
    cursor = str(start + size) if start + size < len(rows) else None
    alike = len({row.get(CURRENCY) for row in rows}) <= 1
    asked = query.get("sum") or () if alike else ()
    sums = {name: sum((exact(row[name]) for row in rows), _NO_MONEY) for name in asked}
    total = len(rows) if query.get("with_total", True) else None
    return Page([*rows[start : start + size]], total, query["page"], size, cursor, sums or None)


def make_cursor(keys: list[tuple[str, int]], row: Document) -> str:
    """Return the opaque cursor of a stored document: its position in this order."""
    values = [row.get(name) for name, _ in keys]
    raw = orjson.dumps([_order(keys), values], default=encode, option=orjson.OPT_PASSTHROUGH_DATETIME)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def after_cursor(collection: Collection, keys: list[tuple[str, int]], cursor: str) -> Filter:
    """Return the filter for the rows after `cursor`; raise 40001 for an invalid cursor, or one of another order."""
    try:
        raw = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        order, values = orjson.loads(raw)
        if order != _order(keys) or len(values) != len(keys):
            raise invalid("cursor", "cursor")
        typed = [_typed(collection, name, value) for (name, _), value in zip(keys, values, strict=True)]
    except (ValueError, TypeError, Undecodable, binascii.Error) as error:
        raise invalid("cursor", "cursor") from error
    return _after(keys, typed)


def _order(keys: list[tuple[str, int]]) -> str:
    return ",".join(f"{'-' if direction < 0 else ''}{name}" for name, direction in keys)


_PLAIN: dict[str, type | tuple[type, ...]] = {"integer": int, "boolean": bool, "number": (int, float)}


def _typed(collection: Collection, name: str, value: Any) -> Any:
    if name in collection.stored_orders.values():
        if not isinstance(value, str | None):
            raise Undecodable("cursor")
        return value
    field = collection.all_fields["id" if name == "_id" else name]
    plain = _PLAIN.get(field.kind, str)
    if value is None and name != "_id":
        return None
    too_large = isinstance(value, int) and abs(value) >= 2**63
    if too_large or not isinstance(value, plain) or (name == "_id" and value == ""):
        raise Undecodable("cursor")
    return decode_stored(field, value)


def _after(keys: list[tuple[str, int]], values: list[Any]) -> dict[str, Any]:
    """Return the filter for the rows after a position: the first key bounds the index range, the others break ties."""
    branches: list[dict[str, Any]] = []
    equal: list[dict[str, Any]] = []
    for (name, direction), value in zip(keys, values, strict=True):
        later = _later(name, direction, value)
        if later is not None:
            branches.append({"$and": [*equal, later]})
        equal.append({name: value})
    bound = _bound(*keys[0], values[0])
    return {"$and": [bound, {"$or": branches}]} if bound else {"$or": branches}


def _bound(name: str, direction: int, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if direction > 0:
        return {name: {"$gte": value}}
    # descending order ends with nulls, which no range operator matches
    return {"$or": [{name: {"$lte": value}}, {name: None}]} if _nullable(name) else {name: {"$lte": value}}


def _nullable(name: str) -> bool:
    return name not in ("_id", "created_at", "updated_at")


def _later(name: str, direction: int, value: Any) -> dict[str, Any] | None:
    if value is None:
        return {name: {"$ne": None}} if direction > 0 else None
    if direction > 0:
        return {name: {"$gt": value}}
    smaller = {name: {"$lt": value}}
    return {"$or": [smaller, {name: None}]} if _nullable(name) else smaller
