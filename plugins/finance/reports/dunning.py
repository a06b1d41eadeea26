"""The dunning list: what customers have not paid in time, and whom to call about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from plugins.api import Record, Request, Route, array, boolean, day, integer, money, obj, object_id, route, shape, text
from plugins.api.business import Customers
from plugins.api.values import rounded
from plugins.finance.open_items.entries import ENTRIES
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.reports.ageing import (
    PAGE_FIELDS,
    PAGE_QUERY,
    PARTY,
    day_asked,
    page_fields,
)
from plugins.finance.reports.overdue import SHOWN_ITEMS, key_of, read_overdue

_OVERDUE: Mapping[str, Any] = {
    "oldest_due_on": day(
        label=("最早到期日", "Oldest due date"), nullable=False, description="The due date of what is longest past due."
    ),
    "days_overdue": integer(
        label=("逾期天数", "Days overdue"), minimum=1, nullable=False, description="How long the oldest is past due."
    ),
    "amount": money(label=("逾期金额", "Overdue"), nullable=False, description="What is past due."),
}
_ITEM = obj(
    "DunningItem",
    {
        "open_item_id": object_id(nullable=False, ref=OPEN_ITEMS.name),
        "biz_type": text(label=("业务类型", "Business type")),
        "resource_id": text(label=("来源单据", "Source record")),
        "number": text(label=("单据编号", "Document number")),
        **_OVERDUE,
    },
    nullable=False,
)
_CONTACT = obj("DunningContact", {"name": text(), "phone": text(), "email": text()})
_ROW = obj(
    "DunningRow",
    {
        **{name: PARTY[name] for name in ("customer_id", "counterparty")},
        **_OVERDUE,
        "count": integer(
            label=("逾期笔数", "Items overdue"), minimum=1, nullable=False, description="How many items are past due."
        ),
        "contact": _CONTACT.but(description="Whom to call; null if the caller may not see the customer."),
        "items": array(
            _ITEM,
            max_items=SHOWN_ITEMS,
            nullable=False,
            description=f"The {SHOWN_ITEMS} oldest of them.",
            label=("逾期明细", "Items"),
        ),
    },
    nullable=False,
)


async def list_overdue(req: Request) -> Record:
    """Return the customers with something past due on the day, the longest past due first."""
    on = day_asked(req)
    overdue = await req.service.database.snapshot(partial(read_overdue, req, on))
    items, contacts = await asyncio.gather(_find_items(req, overdue.items.values()), _find_contacts(req, overdue.rows))
    return {
        "day": on,
        "amount": rounded(overdue.amount),
        "items": [
            {
                "customer_id": row["_id"]["customer_id"],
                "counterparty": row["name"],
                **_count_days(row, on),
                "count": of_party["count"],
                "contact": contacts.get(row["_id"]["customer_id"]),
                "items": [
                    {**items.get(one["open_item_id"], {}), **one, **_count_days(one, on)} for one in of_party["items"]
                ],
            }
            for row in overdue.rows
            for of_party in (overdue.items[key_of(row)],)
        ],
        **page_fields(req, overdue.total),
    }


async def _find_items(req: Request, rows: Iterable[Mapping[str, Any]]) -> Mapping[Any, Record]:
    """Return business type, source record and number of the items of these rows, by the id of the item."""
    ids = [one["open_item_id"] for row in rows for one in row["items"]]
    fields = ("biz_type", "resource_id", "number")
    found = await req.store(OPEN_ITEMS).find({"_id": {"$in": ids}}, fields=fields) if ids else []
    req.note_names({OPEN_ITEMS.name: {item["id"]: item["number"] for item in found if item["number"]}})
    return {item["id"]: {name: item.get(name) for name in fields} for item in found}


async def _find_contacts(req: Request, rows: Sequence[Mapping[str, Any]]) -> Mapping[Any, Record]:
    """Return whom to call at the customers of these rows, by customer id, as the plugin that keeps customers says."""
    ids = [row["_id"]["customer_id"] for row in rows if row["_id"]["customer_id"] is not None]
    found = await req.part(Customers).find_contacts(req, ids) if ids else {}
    return {id: vars(contact) for id, contact in found.items()}


def _count_days(row: Mapping[str, Any], on: str) -> Record:
    since = date.fromisoformat(row["oldest_due_on"])
    return {
        "oldest_due_on": row["oldest_due_on"],
        "days_overdue": (date.fromisoformat(on) - since).days,
        "amount": row["amount"],
    }


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/dunning",
        list_overdue,
        summary="List the customers who have not paid in time",
        access="finance:dunning:read",
        query={
            "day": day(label=("截止日期", "As of"), nullable=False, description="Today unless given."),
            "customer_id": object_id(label=("客户", "Customer"), nullable=False, description="Only this customer."),
            "without_held": boolean(
                label=("不含挂起单据", "Without documents on hold"),
                nullable=False,
                description="Leaves out what is on hold, such as orders that the customer disputes.",
            ),
            **PAGE_QUERY,
            "page_size": integer(minimum=1, maximum=200, default=100, nullable=False, example=100),
        },
        returns=shape(
            "Dunning",
            day=day(label=("截止日期", "As of"), nullable=False),
            amount=money(label=("逾期金额", "Overdue"), nullable=False, description="What is past due in all."),
            items=array(_ROW, max_items=200, nullable=False),
            **PAGE_FIELDS,
        ),
        collection=ENTRIES.name,
    ),
)
