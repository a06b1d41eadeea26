"""Days and moments in every body and every query: out of bounds they are refused, at their bounds nothing breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest

from handlers.route import Route
from handlers.schema.fields import NOTHING, Field
from plugins.runtime import Running
from plugins.testing import Client, Reply, expect
from tests.support.catalogue import CATALOGUE
from tests.support.valid_requests import Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=60)
NO_ID = "f" * 24
KINDS = ("day", "timestamp")
OUTSIDE: Mapping[str, tuple[str, ...]] = {
    "day": ("0001-01-01", "1969-12-31", "2200-01-01", "9999-12-31"),
    "timestamp": (
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00+00:01",
        "2199-12-31T23:59:59-00:01",
        "2200-01-01T00:00:00Z",
        "9999-12-31T23:59:59-14:00",
    ),
}
EDGES: Mapping[str, tuple[str, ...]] = {
    "day": ("1970-01-01", "2199-12-31"),
    "timestamp": ("1970-01-01T00:00:00Z", "1970-01-01T14:00:00+14:00", "2199-12-31T23:59:59.999Z"),
}
HAPPENED = {
    "POST /api/v1/crm/customers last_follow_at",
    "PATCH /api/v1/crm/customers/{id} last_follow_at",
    "POST /api/v1/crm/payments paid_at",
    "POST /api/v1/crm/payments/{id}/reverse day",
    "POST /api/v1/finance/payments day",
    "POST /api/v1/finance/payments/{id}/allocations day",
    "POST /api/v1/finance/payments/{id}/take-back day",
    "POST /api/v1/finance/receivables/{id}/credits day",
    "POST /api/v1/finance/payables/{id}/credits day",
    "POST /api/v1/finance/payments/{id}/reverse day",
    "POST /api/v1/finance/vouchers day",
    "POST /api/v1/finance/vouchers/{id}/reverse day",
    "POST /api/v1/finance/expense-claims/{id}/reverse day",
    "POST /api/v1/finance/credit-notes/{id}/reverse day",
    "POST /api/v1/finance/expense-claims lines[0].day",
    "PATCH /api/v1/finance/expense-claims/{id} lines[0].day",
    "POST /api/v1/finance/expense-claims/{id}/pay day",
    "POST /api/v1/finance/invoices/{id}/pay day",
    "POST /api/v1/finance/invoices/{id}/credit-notes day",
    "POST /api/v1/finance/payables/{id}/pay day",
    "POST /api/v1/hrm/punches/enter at",
    "POST /api/v1/inventory/purchase-orders/{id}/receive day",
    "POST /api/v1/inventory/sales-orders/{id}/deliver day",
    "POST /api/v1/inventory/receipts/{id}/returns day",
    "POST /api/v1/inventory/receipts/{id}/reverse day",
    "POST /api/v1/inventory/deliveries/{id}/returns day",
    "POST /api/v1/inventory/deliveries/{id}/reverse day",
    "POST /api/v1/inventory/transfers day",
    "POST /api/v1/inventory/purchase-returns/{id}/reverse day",
    "POST /api/v1/inventory/sales-returns/{id}/reverse day",
    "POST /api/v1/inventory/transfers/{id}/reverse day",
    "POST /api/v1/inventory/stock-counts/{id}/reverse day",
    "POST /api/v1/inventory/stock-counts day",
}
Place = tuple[str | int, ...]


def dates(field: Field, place: Place = ()) -> Iterator[tuple[Place, Field]]:
    """Where a body has days and moments that clients write; of a list the first item stands for all."""
    if field.read_only:
        return
    if field.kind in KINDS:
        yield place, field
    for name, child in (field.fields or {}).items():
        yield from dates(child, (*place, name))
    if field.items is not None:
        yield from dates(field.items, (*place, 0))


def put(body: Any, place: Place, value: str) -> Any:
    """The body with `value` at the place; what it lies in is made where it is not there."""
    if not place:
        return value
    head, *rest = place
    if isinstance(head, int):
        first, *others = body or [{}]
        return [put(first, tuple(rest), value), *others]
    inside = body or {}
    return {**inside, head: put(inside.get(head), tuple(rest), value)}


def _body(route: Route) -> Field:
    return route.body or NOTHING


def name_in_response(place: Place) -> str:
    """`lines[0].day`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def faults(reply: Reply) -> set[tuple[str, str]]:
    """Field and rule of each fault in a response, if there are any."""
    return {(one["field"], one["rule"]) for one in (reply.data or {}).get("errors", ())}


IN_BODIES = [route for route in CATALOGUE.routes if any(dates(_body(route)))]
IN_QUERIES = [route for route in CATALOGUE.routes if any(field.kind in KINDS for field in route.query.values())]
DELETABLE = {route.path for route in CATALOGUE.routes if route.method == "DELETE"}
PAST = [route for route in IN_BODIES if any(field.past for _, field in dates(_body(route)))]


def test_bodies_and_queries_with_dates_are_found() -> None:
    assert {"POST /api/v1/crm/payments", "POST /api/v1/finance/expense-claims", "POST /api/v1/hrm/leaves"} <= {
        name_of(route) for route in IN_BODIES
    }
    assert "GET /api/dashboard/attendance-summary" in {name_of(route) for route in IN_QUERIES}


@pytest.mark.parametrize("route", IN_BODIES, ids=name_of)
async def test_a_date_out_of_bounds_is_refused_in_a_body(route: Route, admin: Client) -> None:
    for place, field in dates(_body(route)):
        for value in OUTSIDE[field.kind]:
            reply = await admin.call(route.method, path_with(route, NO_ID), put({}, place, value))
            expect(reply, 40001)
            assert (name_in_response(place), "bounds") in faults(reply), (place, value)


@pytest.mark.parametrize("route", IN_QUERIES, ids=name_of)
async def test_a_date_out_of_bounds_is_refused_in_a_query(route: Route, admin: Client) -> None:
    for name, field in route.query.items():
        for value in OUTSIDE.get(field.kind, ()):
            reply = await admin.get(f"{path_with(route, NO_ID)}?{name}={quote(value)}")
            expect(reply, 40001)
            assert (name, "bounds") in faults(reply), (name, value)


@pytest.mark.parametrize("route", IN_BODIES, ids=name_of)
async def test_no_date_at_the_bounds_breaks_a_write(route: Route, maker: Maker) -> None:
    for place, field in dates(_body(route)):
        for value in EDGES[field.kind]:
            exercise = await maker.exercise(route)
            reply = await replace(exercise, body=put(exercise.body, place, value)).send()
            assert reply.status < 500, (place, value, reply.body)
            if reply.status == 200 and f"{route.path}/{{id}}" in DELETABLE:
                # other tests would meet it, such as a delegation of the administrator for a century
                await exercise.client.delete(f"{exercise.path}/{reply.data['id']}")


@pytest.mark.parametrize("route", IN_QUERIES, ids=name_of)
async def test_no_date_at_the_bounds_breaks_a_read(route: Route, maker: Maker) -> None:
    exercise = await maker.exercise(route)
    for name, field in route.query.items():
        for value in EDGES.get(field.kind, ()):
            joint = "&" if "?" in exercise.path else "?"
            reply = await exercise.client.get(f"{exercise.path}{joint}{name}={quote(value)}")
            assert reply.status < 500, (name, value, reply.body)


@pytest.mark.parametrize("route", PAST, ids=name_of)
async def test_nothing_happened_later_than_tomorrow(route: Route, admin: Client, tradewind: Running) -> None:
    zone = tradewind.service.settings.zone
    for place, field in dates(_body(route)):
        if not field.past:
            continue
        for days, refused in ((1, False), (2, True)):
            value = _shown(field, datetime.now(zone) + timedelta(days=days), zone)
            reply = await admin.call(route.method, path_with(route, NO_ID), put({}, place, value))
            assert ((name_in_response(place), "future") in faults(reply)) is refused, (place, value)


def _shown(field: Field, moment: datetime, zone: ZoneInfo) -> str:
    """The day of the moment, or its last millisecond."""
    if field.kind == "day":
        return moment.date().isoformat()
    return moment.replace(hour=23, minute=59, second=59, microsecond=999000, tzinfo=zone).astimezone(UTC).isoformat()


def test_what_happened_is_declared_so() -> None:
    found = {
        f"{name_of(route)} {name_in_response(place)}"
        for route in PAST
        for place, field in dates(_body(route))
        if field.past
    }
    assert found == HAPPENED
