"""Days and moments in every body and every query: out of bounds they are refused, at their bounds nothing breaks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest

from handlers.route import Route
from handlers.schema.errors import ValidationFailed
from handlers.schema.fields import NOTHING, Field
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply
from tests.support.catalogue import CATALOGUE, chosen_routes, stand_ins
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
    "timestamp": ("1970-01-01T14:00:00+14:00", "2199-12-31T23:59:59.999Z"),
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
    "POST /api/v1/finance/adjustments/{id}/reverse day",
    "POST /api/v1/finance/opening-items day",
    "POST /api/v1/finance/opening-items/{id}/reverse day",
    "POST /api/v1/finance/credit-notes/{id}/reverse day",
    "POST /api/v1/finance/expense-claims lines[0].day",
    "PATCH /api/v1/finance/expense-claims/{id} lines[0].day",
    "POST /api/v1/finance/expense-claims/{id}/pay day",
    "POST /api/v1/finance/invoices/{id}/pay day",
    "POST /api/v1/finance/invoices/{id}/credit-notes day",
    "POST /api/v1/finance/open-items/{id}/adjustments day",
    "POST /api/v1/finance/payables/{id}/pay day",
    "POST /api/v1/hrm/punches/enter at",
    "POST /api/v1/hrm/punches/time-clock at",
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


def out_of_bounds(field: Field) -> tuple[str, ...]:
    """Values that the field refuses; a day of birth may lie before the bound of others."""
    return tuple(
        "1899-12-31" if field.earliest < "1970" and one == "1969-12-31" else one for one in OUTSIDE[field.kind]
    )


def is_refused(name: str, found: set[tuple[str, str]]) -> bool:
    return any((name, rule) in found for rule in ("bounds", "minimum", "maximum"))


def _body(route: Route) -> Field:
    return route.body or NOTHING


def name_in_response(place: Place) -> str:
    """`lines[0].day`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def faults(reply: Reply) -> set[tuple[str, str]]:
    """Field and rule of each fault in a response, if there are any."""
    return {(one["field"], one["rule"]) for one in (reply.data or {}).get("errors", ())}


IN_BODIES = [route for route in chosen_routes() if any(dates(_body(route)))]
IN_QUERIES = [route for route in chosen_routes() if any(field.kind in KINDS for field in route.query.values())]
DELETABLE = {route.path for route in CATALOGUE.routes if route.method == "DELETE"}
PAST = [route for route in CATALOGUE.routes if any(field.past for _, field in dates(_body(route)))]


def dated(route: Route) -> list[str]:
    """The parameters of the query that are days and moments."""
    return [name for name, field in route.query.items() if field.kind in KINDS]


FILTERS = {name for one in CATALOGUE.collections.values() for name in one.filters}


def reader(route: Route, name: str) -> tuple[str, ...]:
    """What reads the parameter: the handler of the route, or what filters all lists from a time or to one."""
    return (route.query[name].kind, name.rpartition("_")[2]) if name in FILTERS else (route.name, name)


_FIRST = {reader(route, name): (route, name) for route in reversed(IN_QUERIES) for name in dated(route)}
READ = {route.name: (route, [name for one, name in _FIRST.values() if one is route]) for route, _ in _FIRST.values()}


def checked(values: Callable[[Field], tuple[str, ...]]) -> Iterator[tuple[str, str, bool]]:
    """For each date of a body or a query: where it is, each of these values, and whether it is out of bounds."""
    for route in IN_BODIES:
        for place, field in dates(_body(route)):
            for value in values(field):
                name, found = name_in_response(place), found_by(route.check_body, put({}, place, value))
                yield f"{route.name} {name}", value, is_refused(name, found)
    for route in IN_QUERIES:
        for name in dated(route):
            for value in values(route.query[name]):
                yield f"{route.name} {name}", value, is_refused(name, found_by(route.check_query, {name: [value]}))


def test_every_date_out_of_bounds_is_refused() -> None:
    assert [(where, value) for where, value, refused in checked(out_of_bounds) if not refused] == []


def test_every_date_at_the_bounds_is_taken() -> None:
    assert [(where, value) for where, value, refused in checked(lambda field: EDGES[field.kind]) if refused] == []


def found_by(check: Callable[[Any], Any] | None, value: Any) -> set[tuple[str, str]]:
    """Field and rule of each fault that the compiled check of a body or a query finds."""
    assert check is not None
    try:
        check(value)
    except ValidationFailed as failure:
        return {(one.field, one.rule) for one in failure.errors}
    return set()


async def test_a_date_out_of_bounds_is_named_in_the_response(admin: Client) -> None:
    day, moment = OUTSIDE["day"][0], OUTSIDE["timestamp"][0]
    for body in ({"last_follow_at": moment}, {"next_follow_at": moment}):
        assert (next(iter(body)), "bounds") in faults(await admin.post("/api/v1/crm/customers", body))
    body = {"lines": [{"day": day}]}
    assert ("lines[0].day", "bounds") in faults(await admin.post("/api/v1/finance/expense-claims", body))
    for query in (f"created_at_from={quote(moment)}", f"created_at_to={quote(OUTSIDE['timestamp'][-1])}"):
        reply = await admin.get(f"/api/v1/crm/customers?{query}")
        assert (query.partition("=")[0], "bounds") in faults(reply)


def written_alike(route: Route) -> Hashable:
    """By the plugin and what its fields may be."""
    named = {(place[-1], field.kind, field.past) for place, field in dates(_body(route))}
    return route.path.split("/")[3], frozenset(named)


@pytest.mark.parametrize("route", stand_ins(IN_BODIES, written_alike), ids=name_of)
async def test_no_date_at_the_bounds_breaks_a_write(route: Route, maker: Maker) -> None:
    for place, field in dates(_body(route)):
        for value in EDGES[field.kind]:
            exercise = await maker.exercise(route)
            reply = await replace(exercise, body=put(exercise.body, place, value)).send()
            assert reply.status < 500, (place, value, reply.body)
            if reply.status == 200 and f"{route.path}/{{id}}" in DELETABLE:
                # other tests would meet it, such as a delegation of the administrator for a century
                await exercise.client.delete(f"{exercise.path}/{reply.data['id']}")


@pytest.mark.parametrize(("route", "names"), READ.values(), ids=READ)
async def test_no_date_at_the_bounds_breaks_a_read(route: Route, names: list[str], maker: Maker) -> None:
    await check_reads(route, names, maker)


async def check_reads(route: Route, names: Iterable[str], maker: Maker) -> None:
    """Ask with each of these parameters at its bounds."""
    exercise = await maker.exercise(route)
    joint = "&" if "?" in exercise.path else "?"
    for name in names:
        for value in EDGES[route.query[name].kind]:
            reply = await exercise.client.get(f"{exercise.path}{joint}{name}={quote(value)}")
            assert reply.status < 500, (name, value, reply.body)


async def test_nothing_happened_later_than_tomorrow(admin: Client, tradewind: Running) -> None:
    zone = tradewind.service.settings.zone
    wrong = []
    for route, place, field in past_places():
        for days, refused in ((1, False), (2, True)):
            value = _shown(field, datetime.now(zone) + timedelta(days=days), zone)
            reply = await admin.call(route.method, path_with(route, NO_ID), put({}, place, value))
            if ((name_in_response(place), "future") in faults(reply)) is not refused:
                wrong.append((route.name, place, value))
    assert wrong == []


def past_places() -> Iterator[tuple[Route, Place, Field]]:
    """Where a body says when something happened."""
    return ((route, place, field) for route in PAST for place, field in dates(_body(route)) if field.past)


def _shown(field: Field, moment: datetime, zone: ZoneInfo) -> str:
    """The day of the moment, or its last millisecond."""
    if field.kind == "day":
        return moment.date().isoformat()
    return moment.replace(hour=23, minute=59, second=59, microsecond=999000, tzinfo=zone).astimezone(UTC).isoformat()


def test_what_happened_is_declared_so() -> None:
    assert {f"{name_of(route)} {name_in_response(place)}" for route, place, _ in past_places()} == HAPPENED
