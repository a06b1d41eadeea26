"""What is left in a month before it is closed: drafts, what is not invoiced, and advances. Each is a list with its filters.

The lists answer themselves, so the permission and the data scope of whoever closes the month hold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, cast
from urllib.parse import urlencode

from plugins.api import (
    NOT_FOUND,
    Collection,
    Message,
    Page,
    Refusal,
    Request,
    Route,
    array,
    integer,
    mapping,
    money,
    obj,
    route,
    shape,
    text,
)
from plugins.api.business import currency
from plugins.api.errors import refusal
from plugins.api.ports import Authorizer
from plugins.api.records import Catalogue, plural_of
from plugins.api.reports import end_of_month
from plugins.finance.books import month_asked
from plugins.finance.messages import NO_MONTH

_BELOW = "/api/v1/"
_UNBILLED, _PAYMENTS = f"{_BELOW}finance/unbilled", f"{_BELOW}finance/payments"
_UNDECIDED = Message("{zh}（{states_zh}）", "{en}: {states_en}")
_OPEN = {"status": "booked", "unallocated_from": "0.01"}
_LEFT = obj(
    "LeftInMonth",
    {
        "title": text(label=("事项", "Item"), nullable=False, description="In the caller's language."),
        "count": integer(label=("数量", "Count"), minimum=1, nullable=False),
        "amount": money(
            label=("金额", "Amount"), description="Null for rows of several currencies, and for lists without amounts."
        ),
        "currency": currency().but(filter=False),
        "list": text(nullable=False, description="The list of these rows: its path below `/api/v1`, with dots."),
        "query": mapping(text(nullable=False), nullable=False, description="The parameters that select them."),
        "path": text(nullable=False, description="The address of these rows: the list with these parameters."),
    },
    nullable=False,
)


@dataclass(frozen=True)
class _List:
    """A list, and the parameters that select what is left in it."""

    title: Message
    listing: Route
    query: Mapping[str, str]
    amounts: tuple[str, ...]


async def read_left(req: Request) -> dict[str, Any]:
    """Return what is left in the month of the path in the lists that the caller may see; nothing is changed."""
    month = month_asked(req)
    first = date.fromisoformat(f"{month}-01")
    found = await asyncio.gather(*(_count(req, one) for one in _lists(req, first, end_of_month(first))))
    return {"month": month, "left": [one for one in found if one["count"]]}


async def _count(req: Request, one: _List) -> dict[str, Any]:
    listing, asked = one.listing, one.listing.query.get("sum")
    if await refusal(req.actor, listing, req.part(Authorizer)) is not None:
        return {"count": 0}
    known = asked.items.rules["enum"] if asked is not None and asked.items is not None else ()
    summed = next((name for name in one.amounts if name in known), "")
    given = {**one.query, "page_size": "1", **({"sum": summed} if summed else {})}
    query = listing.check_query({name: [value] for name, value in given.items()})
    page = cast(Page, await listing.handler(replace(req, route=listing, query=query)))
    return {
        "title": one.title.text(req.language),
        "count": page.total,
        "amount": (page.sums or {}).get(summed),
        "currency": page.items[0].get("currency") if page.items and page.sums else None,
        "list": listing.path.removeprefix(_BELOW).replace("/", "."),
        "query": one.query,
        "path": f"{listing.path}?{urlencode(one.query)}",
    }


def _lists(req: Request, first: date, last: date) -> Iterator[_List]:
    catalogue = req.part(Catalogue)
    by_path = {one.path: one for one in catalogue.routes if one.method == "GET" and one.paged}
    for listing in by_path.values():
        collection = catalogue.collections.get(listing.collection)
        if (
            collection is not None
            and listing.returns is collection.read
            and f"{collection.dated}_from" in listing.query
        ):
            bounds = _bounds(req, collection, first, last)
            states = {collection.machine.field: ",".join(collection.machine.undecided)}
            yield _List(_title(collection), listing, {**states, **bounds}, ("total", "amount"))
    for kind, title in (
        ("receivable", Message("已交付未开票明细", "Delivered, and not invoiced")),
        ("payable", Message("已收货未开票明细", "Received, and not invoiced")),
    ):
        yield _List(title, by_path[_UNBILLED], {"kind": kind, "day": last.isoformat()}, ("net",))
    for direction, title in (
        ("in", Message("未核销收款", "Payments received, and not allocated")),
        ("out", Message("未核销付款", "Payments made, and not allocated")),
    ):
        query = {**_OPEN, "direction": direction, "day_to": last.isoformat()}
        yield _List(title, by_path[_PAYMENTS], query, ("unallocated",))


def _bounds(req: Request, collection: Collection, first: date, last: date) -> Mapping[str, str]:
    """Return the parameters for the records that are dated in a month."""
    name, zone = collection.dated, req.service.settings.zone
    since, until = first.isoformat(), last.isoformat()
    if collection.all_fields[name].kind == "timestamp":
        after = datetime.combine(last + timedelta(days=1), time(), zone)
        since, until = datetime.combine(first, time(), zone).isoformat(), (after - timedelta.resolution).isoformat()
    return {f"{name}_from": since, f"{name}_to": until}


def _title(collection: Collection) -> Message:
    machine, noun = collection.machine, collection.noun
    states = [machine.states[one] for one in machine.undecided]
    return _UNDECIDED.filled(
        zh=noun.zh,
        en=plural_of(noun.en[:1].upper() + noun.en[1:]),
        states_zh="、".join(one.zh for one in states),
        states_en=", ".join(one.en for one in states),
    )


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/periods/{month}/close",
        read_left,
        summary="Show what is left in a month before it is closed",
        access="finance:period:close",
        returns=shape(
            "MonthLeft",
            month=text(label=("会计期间", "Month"), nullable=False, example="2026-10"),
            left=array(_LEFT, nullable=False, label=("未完成事项", "What is left")),
        ),
        refusals=(Refusal(NOT_FOUND, hint=NO_MONTH),),
    ),
)
