"""The records behind a figure, found by the filter, the measure and the data scope of the figure itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.api import (
    FORBIDDEN,
    Collection,
    Field,
    Message,
    Refusal,
    Request,
    Route,
    Store,
    anything,
    array,
    exact,
    integer,
    invalid,
    route,
    shape,
    store_money,
    text,
)
from plugins.api.data import Database, RecordNames, SingleFlight, name_of, rows_before
from plugins.api.errors import missing_permission, refusal, unavailable
from plugins.api.ports import Authorizer
from plugins.api.records import Catalogue
from plugins.api.reports import ByTime, Period, narrow_to_department, period_of, split_cell
from plugins.api.values import rounded, store_quantity

TOO_SLOW = Message("统计超时，请缩小范围后重试", "The dashboard took too long; try a smaller range")
NOT_LISTED = Message("您没有查看该数据所含记录的权限", "You may not list the records behind this figure")


class Executions:
    """The dashboards that are being computed, shared by equal requests."""

    def __init__(self, database: Database, seconds: float) -> None:
        self.seconds = seconds
        self.shared = SingleFlight()


Part = Mapping[str, Any]
Merge = Callable[[Sequence[Any], Period], Any]


def make_merge(shape: Field) -> Merge:
    """Return the function that merges the values of the parts for a field of this shape; numbers without a part are 0.

    The function is built once for each shape and not for each row, as some responses have hundreds of rows.
    """
    if shape.kind == "object":
        return _make_object_merge({name: make_merge(field) for name, field in (shape.fields or {}).items()})
    if shape.kind == "array" and shape.items is not None:
        return _make_array_merge(shape.items)
    if shape.kind == "money":
        return lambda given, _: store_money(rounded(sum(map(exact, given), exact(None))))
    if shape.kind == "quantity":
        return lambda given, _: store_quantity(sum(map(exact, given), exact(None)))
    if shape.kind in ("integer", "number"):
        if shape.rules.get("minimum") == 0:  # a count, which reversals may bring below zero
            return lambda given, _: max(sum(given), 0)
        return _sum_or_null if shape.nullable else lambda given, _: sum(given)
    return lambda given, _: given[-1] if given else None


def _sum_or_null(given: Sequence[float], period: Period) -> float | None:
    return sum(given) if given else None


def _make_object_merge(members: Mapping[str, Merge]) -> Merge:
    def merge_parts(parts: Sequence[Part], period: Period) -> dict[str, Any]:
        return {
            name: merge([part[name] for part in parts if part.get(name) is not None], period)
            for name, merge in members.items()
        }

    return merge_parts


def _make_array_merge(item: Field) -> Merge:
    key, merge = next(iter(item.fields or {}), ""), make_merge(item)

    def rows_of(given: Sequence[Sequence[Part]], period: Period) -> list[Any]:
        return [merge((row,), period) for rows in given for row in rows]

    def series_of(given: Sequence[Sequence[Part]], period: Period) -> list[Any]:
        by_key: dict[str, list[Part]] = {}
        for rows in given:
            for row in rows:
                by_key.setdefault(row[key], []).append(row)
        points = period.every_day(by_key) if key == "date" else period.every_month(by_key)
        return [{**merge(by_key.get(point, ()), period), key: point} for point in points]

    return series_of if key in ("date", "month") else rows_of


Row = dict[str, Any]
_MOST = 200
_ROW = shape(
    "FigureRecord",
    collection=text(nullable=False, description="The collection of the record."),
    id=anything(nullable=False, description="Id of the record: an integer or a text, depending on the collection."),
    name=text(description="Name of the record or, if it has none, of what it belongs to."),
    at=text(description="The day or time that assigns the record to a row of a series."),
    value=anything(nullable=False, description="What the record adds to the figure: an amount as text, or an integer."),
)
_ROWS = shape(
    "FigureRecords",
    value=anything(nullable=False, description="The figure: the sum over all its records."),
    total=integer(nullable=False, description="Number of records on all pages."),
    sum=anything(nullable=False, description="The same as `value`."),
    count=integer(nullable=False, description="The same as `total`."),
    page=integer(nullable=False),
    page_size=integer(nullable=False),
    next_cursor=text(max_length=20, description="Give it as `cursor` for the next page; null at the end."),
    items=array(_ROW, max_items=_MOST, nullable=False),
)


@dataclass(frozen=True)
class CellSource:
    """The records of one collection behind a cell, as stages of an aggregation that ends with what each record adds.

    `store` has the records that the caller may count. `at`: the field with the day or time by which a record is in the row of a series, or None.
    """

    collection: Collection
    store: Store
    at: str | None
    stages: Sequence[Mapping[str, Any]]


def rows_route(figures: Route) -> Route:
    """Return the route that lists the records behind the figures of a dashboard's route."""
    paging = {
        "page": integer(minimum=1, default=1, nullable=False, example=1),
        "page_size": integer(minimum=1, maximum=_MOST, default=20, nullable=False, example=20),
        "cursor": text(
            max_length=20,
            nullable=False,
            description="`next_cursor` of the page before, instead of `page`.",
            example="20",
        ),
    }
    cell = text(
        required=True,
        nullable=False,
        max_length=300,
        example=_first_cell(figures),
        description="The figure: its name, or `<array>.<key>.<name>` for that of a row, such as "
        "`items.2026-11.amount`.",
    )
    name = figures.path.rpartition("/")[2]

    async def serve(req: Request) -> Row:
        return await read_rows(req, name, figures.returns)

    return route(
        f"GET {figures.path}/rows",
        serve,
        summary=f"{figures.summary}: the records behind a figure",
        access=figures.access,
        query={**figures.query, **paging, "cell": cell},
        returns=_ROWS,
        refusals=(Refusal(FORBIDDEN, NOT_LISTED),),
    )


def _first_cell(figures: Route) -> str:
    for name, field in (figures.returns.fields or {}).items():
        if field.kind in ("integer", "money") and name not in figures.query:
            return name
        if field.kind == "array" and field.items is not None and field.items.fields:
            last = [one for one, inner in field.items.fields.items() if inner.kind in ("integer", "money")][-1]
            key = {"date": "2026-11-20", "month": "2026-11", "rank": "1"}.get(next(iter(field.items.fields)), "")
            return f"{name}.{key}.{last}"
    return ""


async def read_rows(req: Request, name: str, returned: Field) -> Row:
    """Return one page of the records behind a cell, with the figure that they add up to.

    Raises 40001 if there is no such cell, and 40300 if the caller may not list the records that it counts.
    """
    cell, query = req.query["cell"], req.query
    skip, size = rows_before(query), query["page_size"]
    period = period_of(req, returned)
    await narrow_to_department(req)
    behind = [*_cell_sources(req, name, cell, period)]
    if not behind:
        raise invalid("cell", "cell")
    for one in behind:
        await _require_list(req, one.collection)
    try:
        async with asyncio.timeout(req.part(Executions).seconds):
            sums = await asyncio.gather(*(_sum(one) for one in behind))
            rows = await _page(req, behind, [count for count, _ in sums], skip, size)
    except TimeoutError as error:
        raise unavailable(reason=TOO_SLOW) from error
    field = _field_of(cell, returned)
    value = make_merge(field)([sum for _, sum in sums], period)
    items = [{**row, "value": _as_figure(field, row["value"])} for row in rows]
    total, end = sum(count for count, _ in sums), skip + len(items)
    return {
        "value": value,
        "total": total,
        "sum": value,
        "count": total,
        "page": query["page"],
        "page_size": size,
        "next_cursor": str(end) if items and end < total else None,
        "items": items,
    }


def _cell_sources(req: Request, name: str, cell: str, period: Period) -> Iterator[CellSource]:
    parts = (part for part in req.part(Catalogue).dashboards if part.name == name)
    for figures in (one for part in parts for one in part.figures):
        measure = figures.measure(cell, req.query)
        if measure is not None:
            counted = {"counted": {"$literal": 1} if measure == 1 else measure}
            at = figures.by.field if isinstance(figures.by, ByTime) else None
            kept = dict.fromkeys(filter(None, (*_named(figures.collection), at)), 1)
            counting = figures.filter_of(cell, period)
            store, visible = figures.filter_visible(req, cell)
            # records that add nothing are not behind the figure
            stages = (
                {"$match": {"$and": [counting, visible]}},
                {"$project": {**kept, **counted}},
                {"$match": {"counted": {"$nin": [None, 0]}}},
            )
            yield CellSource(figures.collection, store, at, stages)


def _named(collection: Collection) -> tuple[str, ...]:
    return tuple(filter(None, (collection.label_field, collection.code_field, _reference(collection))))


def _reference(collection: Collection) -> str:
    """Return the first field that refers to another record, which names one without a name; empty if there is none."""
    references = (name for name in collection.references if collection.fields[name].kind != "array")
    return next(references, "")


def list_of(catalogue: Catalogue, collection: Collection) -> Route | None:
    """Return the route that lists the records of a collection, or None."""
    lists = (one for one in catalogue.routes if one.paged and one.collection == collection.name)
    return min(lists, key=lambda one: len(one.path), default=None)


async def _require_list(req: Request, collection: Collection) -> None:
    """Raise 40300 if the caller may not list the records of a collection."""
    plainest = list_of(req.part(Catalogue), collection)
    if plainest is not None and await refusal(req.actor, plainest, req.part(Authorizer)) is not None:
        raise missing_permission(req, plainest.access, NOT_LISTED)


async def _sum(behind: CellSource) -> tuple[int, Any]:
    """Return how many records there are, and what they add up to."""
    group = {"$group": {"_id": None, "count": {"$sum": 1}, "value": {"$sum": "$counted"}}}
    rows = await behind.store.aggregate([*behind.stages, group])
    return (rows[0]["count"], rows[0]["value"]) if rows else (0, 0)


async def _page(req: Request, behind: Sequence[CellSource], counts: Sequence[int], skip: int, size: int) -> list[Row]:
    """Return the records of a page: one collection after the other, the newest records of each first."""
    found: list[Row] = []
    for one, count in zip(behind, counts, strict=True):
        if skip < count and len(found) < size:
            page: list[Mapping[str, Any]] = [{"$sort": {"_id": -1}}, {"$skip": skip}, {"$limit": size - len(found)}]
            rows = await one.store.aggregate([*one.stages, *page])
            found += await _describe(req, one, rows)
        skip = max(skip - count, 0)
    return found


async def _describe(req: Request, behind: CellSource, rows: Sequence[Row]) -> list[Row]:
    collection = behind.collection
    reference = _reference(collection)
    target = collection.references.get(reference, "")
    belongs = await req.part(RecordNames).look_up({target: {row.get(reference) for row in rows}}, req.language)
    return [
        {
            "collection": collection.name,
            "id": row["_id"],
            "name": name_of(collection, row) or belongs[target].get(row.get(reference)),
            "at": row.get(behind.at) if behind.at else None,
            "value": row["counted"],
        }
        for row in rows
    ]


def _field_of(cell: str, returned: Field) -> Field:
    """Return the shape of the figure in a cell."""
    array, _, name = split_cell(cell)
    fields = returned.fields or {}
    items = fields[array].items if array else None
    return ((items.fields or {}) if items is not None else fields)[name]


def _as_figure(field: Field, value: Any) -> Any:
    return store_money(exact(value)) if field.kind == "money" and not isinstance(value, int) else value
