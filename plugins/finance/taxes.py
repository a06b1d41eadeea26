"""What was invoiced and its tax, by month, direction and rate, and the documents behind each figure, also as CSV.

All of it is in the company's currency: the parts of a document in another one are converted by its rate, one by one.

An invoice counts in the month of its date from its confirmation, a credit note below zero in that of its own. What has no
lines has no rate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from plugins.api import (
    Collection,
    Request,
    Response,
    Route,
    array,
    choice,
    day,
    exact,
    money,
    obj,
    object_id,
    route,
    shape,
    text,
)
from plugins.api.business import TAX_RATE, TEXT, in_base
from plugins.api.data import rows_before
from plugins.api.reports import end_of_month
from plugins.api.spreadsheets import csv_response
from plugins.api.values import ReadOnlyRecord
from plugins.finance.ageing import PAGE_FIELDS, PAGE_QUERY, page_fields
from plugins.finance.open_items import BILLING
from plugins.finance.records import COUNTERPARTY, CREDIT_NOTES, INVOICES

Stages = list[Mapping[str, Any]]
_AT_ONCE = 1000
_DIRECTION = choice(
    "in",
    "out",
    label=("发票方向", "Direction"),
    nullable=False,
    dictionary="finance_invoice_direction",
    description="`out`: sent; `in`: received.",
)
_RATE = TAX_RATE.but(description="As a fraction; null: of documents without lines.")
_MONTH = text(label=("月份", "Month"), max_length=7, nullable=False, example="2026-11")
_SUMS = {
    "net": money(label=("不含税金额", "Net amount"), nullable=False),
    "tax": money(label=("税额", "Tax"), nullable=False),
    "amount": money(label=("价税合计", "Total"), nullable=False),
}
_DOCUMENT = {
    "kind": choice(
        "invoice",
        "credit_note",
        label=("单据类型", "Document"),
        nullable=False,
        dictionary="finance_tax_document",
    ),
    "id": object_id(nullable=False),
    "number": text(label=("单据编号", "Document number"), max_length=64),
    "day": day(label=("开票日期", "Date")),
    "direction": _DIRECTION,
    "counterparty": COUNTERPARTY.but(filter=False, search=False),
    "tax_rate": _RATE,
    **_SUMS,
}
_PERIOD = {
    "from": day(label=("开始日期", "From"), nullable=False, description="The first day of this month unless given."),
    "to": day(
        label=("结束日期", "To"), nullable=False, description="The last day of the month of `from` unless given."
    ),
    "direction": _DIRECTION.but(description=None),
}
_KINDS: Sequence[tuple[str, Collection, int, Mapping[str, Any]]] = (
    ("invoice", INVOICES, 1, BILLING),
    ("credit_note", CREDIT_NOTES, -1, {}),
)


async def read_taxes(req: Request) -> ReadOnlyRecord:
    """Return the sums of each month, direction and rate, in this order."""
    sums: defaultdict[tuple[str, str, Decimal | None], dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    key = {"month": {"$substrBytes": ["$day", 0, 7]}, "direction": "$direction", "rate": "$part.tax_rate"}
    # what is converted is rounded, document by document, as in the list of them
    converted = {"$cond": [{"$gt": ["$rate", None]}, "$_id", None]}
    key |= {"document": converted, "exchange": "$rate"}
    for _, collection, sign, where in _KINDS:
        group = {"$group": {"_id": key, **{name: {"$sum": f"$part.{name}"} for name in ("net", "tax")}}}
        for row in await req.store(collection).aggregate([*_parts(req, where), group]):
            rate = row["_id"].get("rate")
            of = sums[
                row["_id"]["month"], row["_id"]["direction"], exact(rate).normalize() if rate is not None else None
            ]
            for name in ("net", "tax"):
                of[name] += sign * in_base(exact(row[name]), {"rate": row["_id"].get("exchange")})
    items = [
        {"month": month, "direction": direction, "tax_rate": rate, **of, "amount": of["net"] + of["tax"]}
        for (month, direction, rate), of in sorted(sums.items(), key=_order)
    ]
    return {"items": items}


def _order(item: tuple[tuple[str, str, Decimal | None], Any]) -> tuple[str, str, Decimal]:
    month, direction, rate = item[0]
    return month, direction, Decimal(-1) if rate is None else rate


async def list_documents(req: Request) -> ReadOnlyRecord | Response:
    """Return a page of the documents behind the figures of a period, or all of them as CSV."""
    if req.query["format"] == "csv":
        return csv_response(req, "taxes", _cells(req))
    total, rows = await _read(req, rows_before(req.query), req.query["page_size"])
    return {"items": rows, **page_fields(req, total)}


async def _cells(req: Request) -> AsyncIterator[list[Sequence[Any]]]:
    """Yield the cells of the CSV: the header, then the rows."""
    names = [name for name in _DOCUMENT if name != "id"]
    labels = (_DOCUMENT[name].label for name in names)
    yield [[label.text(req.language) if label is not None else "" for label in labels]]
    skip, total = 0, 1
    while skip < total:
        total, rows = await _read(req, skip, _AT_ONCE)
        req.note_rows(len(rows))
        yield [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
        skip += _AT_ONCE


async def _read(req: Request, skip: int, size: int) -> tuple[int, list[ReadOnlyRecord]]:
    """Return how many documents there are, and `size` of them after the first `skip`: invoices, then credit notes."""
    total = 0
    rows: list[ReadOnlyRecord] = []
    key = {"id": "$_id", "rate": "$part.tax_rate"}
    kept = {name: {"$first": f"${name}"} for name in ("number", "day", "direction", "counterparty", "rate")}
    for kind, collection, sign, where in _KINDS:
        before = max(skip - total, 0)
        grouped: Stages = [
            {"$group": {"_id": key, **kept, **{name: {"$sum": f"$part.{name}"} for name in ("net", "tax")}}},
            {"$sort": {"day": 1, "_id": 1}},
        ]
        page = {"$facet": {"rows": [{"$skip": before}, {"$limit": size}], "count": [{"$count": "count"}]}}
        (found,) = await req.store(collection).aggregate([*_parts(req, where, req.query), *grouped, page])
        count = found["count"][0]["count"] if found["count"] else 0
        rows += [_show(kind, sign, row) for row in found["rows"]][: size - len(rows)]
        total += count
    return total, rows


def _show(kind: str, sign: int, row: Mapping[str, Any]) -> ReadOnlyRecord:
    net, tax = (sign * in_base(exact(row[name]), row) for name in ("net", "tax"))
    rate = row["_id"].get("rate")
    described = {name: row.get(name) for name in ("number", "day", "direction", "counterparty")}
    rate = exact(rate).normalize() if rate is not None else None
    return {
        "kind": kind,
        "id": row["_id"]["id"],
        **described,
        "tax_rate": rate,
        "net": net,
        "tax": tax,
        "amount": net + tax,
    }


def _parts(req: Request, where: Mapping[str, Any], query: Mapping[str, Any] | None = None) -> Stages:
    """Return the stages that make a row of each line of the documents of the period, or of those without lines.

    `query` may limit them to a `tax_rate`, or to those without one.
    """
    since = req.query.get("from") or f"{req.now.astimezone(req.service.settings.zone):%Y-%m}-01"
    until = req.query.get("to") or end_of_month(date.fromisoformat(since)).isoformat()
    days = {"$gte": since, "$lte": until}
    direction = {"direction": req.query["direction"]} if req.query.get("direction") else {}
    whole = [{"tax_rate": None, "net": "$amount", "tax": "$tax", "kind": None}]
    lines = {"$cond": [{"$isArray": "$lines"}, "$lines", whole]}
    # a line without a rate is not taxed
    untaxed = {"$cond": [{"$isArray": "$lines"}, {"$ifNull": ["$part.tax_rate", {"$toDecimal": "0"}]}, None]}
    stages: Stages = [
        {"$match": {"day": days, **direction, **where}},
        {"$set": {"part": lines}},
        {"$unwind": "$part"},
        {"$match": {"part.kind": {"$ne": TEXT}}},
        {"$set": {"part.tax_rate": untaxed}},
    ]
    rate = (query or {}).get("tax_rate")
    return [*stages, {"$match": {"part.tax_rate": rate}}] if rate is not None else stages


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/taxes",
        read_taxes,
        summary="Show what was invoiced and its tax by month and rate",
        title=("税额汇总", "Tax by rate"),
        access="finance:tax:read",
        query=_PERIOD,
        returns=shape(
            "Taxes",
            items=array(
                obj("TaxRow", {"month": _MONTH, "direction": _DIRECTION, "tax_rate": _RATE, **_SUMS}, nullable=False),
                label=("税额汇总", "Tax by rate"),
                nullable=False,
            ),
        ),
        collection=INVOICES.name,
    ),
    route(
        "GET /api/v1/finance/taxes/documents",
        list_documents,
        summary="List the documents behind the figures of taxes",
        title=("税额明细", "Documents"),
        access="finance:tax:read",
        query={
            **_PERIOD,
            "tax_rate": _RATE.but(nullable=False, description="Only what has this rate."),
            "format": choice("json", "csv", default="json", nullable=False),
            **PAGE_QUERY,
        },
        returns=shape(
            "TaxDocuments",
            items=array(
                obj("TaxDocument", _DOCUMENT, nullable=False),
                label=("税额明细", "Documents"),
                max_items=5000,
                nullable=False,
            ),
            **PAGE_FIELDS,
        ),
        instead="text/csv",
        collection=INVOICES.name,
    ),
)
