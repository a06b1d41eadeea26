"""Values on their way to MongoDB and back: money, quantities, times, days (CONTRACT 1)."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from hypothesis import given, settings, strategies as st
from tornado.ioloop import IOLoop

from handlers.schema.conversion import encode_amount, store_money
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, expect, unique
from tests.support.probe import WIDGETS, WIDGETS_AT

pytestmark = pytest.mark.gen_test
examples = settings(max_examples=30, deadline=None)

LARGEST = Decimal("999999999999999.99")
amounts = st.decimals(-LARGEST, LARGEST, places=2, allow_nan=False, allow_infinity=False)
quantities = st.decimals(-99_999_999_999, 99_999_999_999, places=4, allow_nan=False, allow_infinity=False)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1970, 1, 2), datetime(2199, 12, 30), timezones=zones)
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), min_size=1, max_size=50)


@examples
@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(lambda one: len(one.as_tuple().digits) <= 34)
)
def test_an_amount_is_written_as_the_library_writes_it(amount: Decimal) -> None:
    try:
        stored = Decimal128(amount)
    except ArithmeticError:  # beyond what is stored
        return
    assert encode_amount(stored) == format(stored.to_decimal(), "f")


@examples
@given(st.decimals(-(10**25), 10**25, places=4, allow_nan=False, allow_infinity=False))
def test_money_is_stored_as_the_library_stores_it(amount: Decimal) -> None:
    assert store_money(amount).bid == Decimal128(amount.quantize(Decimal("0.01")) + 0).bid


@pytest.mark.parametrize("stored", ["-0.00", "0", "1E+3", "0.0001", "9" * 34, "-" + "9" * 32 + ".99", "1E-30"])
def test_an_unusual_amount_is_written_as_the_library_writes_it(stored: str) -> None:
    assert encode_amount(Decimal128(stored)) == format(Decimal(stored), "f")


def kept(loop: IOLoop, client: Client, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a new widget as a later reader gets them."""

    async def made() -> dict[str, Any]:
        created = expect(await client.post(WIDGETS_AT, {"name": "value", **values}))
        read: dict[str, Any] = expect(await client.get(f"{WIDGETS_AT}/{created['id']}"))
        assert read == created
        return read

    return loop.run_sync(made)


@given(amount=amounts)
@examples
def test_money_comes_back_exactly_with_two_decimals(io_loop: IOLoop, probe_admin: Client, amount: Decimal) -> None:
    price = kept(io_loop, probe_admin, {"price": str(amount)})["price"]
    assert price == f"{amount + 0:.2f}"


@given(cents=st.integers(-(10**11), 10**11))
@examples
def test_money_may_be_sent_as_a_number(io_loop: IOLoop, probe_admin: Client, cents: int) -> None:
    price = kept(io_loop, probe_admin, {"price": cents / 100})["price"]
    assert Decimal(price) * 100 == cents


@given(amount=quantities)
@examples
def test_a_quantity_comes_back_exactly(io_loop: IOLoop, probe_admin: Client, amount: Decimal) -> None:
    stock = kept(io_loop, probe_admin, {"stock": f"{amount:f}"})["stock"]
    assert Decimal(stock) == amount
    assert "E" not in stock


@given(moment=moments)
@examples
def test_a_moment_comes_back_in_utc_cut_to_milliseconds(io_loop: IOLoop, probe_admin: Client, moment: datetime) -> None:
    seen = kept(io_loop, probe_admin, {"seen_at": moment.isoformat()})["seen_at"]
    utc = moment.astimezone(UTC)
    assert seen == f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03}Z"


@given(text=texts)
@examples
def test_text_comes_back_letter_for_letter(io_loop: IOLoop, probe_admin: Client, text: str) -> None:
    assert kept(io_loop, probe_admin, {"batch": text, "tags": [text]})["tags"] == [text]


@pytest.mark.parametrize(
    ("sent", "kept_as"),
    [
        ("0", "0.00"),
        (0, "0.00"),
        (-0.0, "0.00"),
        ("-0", "0.00"),
        ("1234.5", "1234.50"),
        (1234.5, "1234.50"),
        ("007", "7.00"),
        (1e3, "1000.00"),
        (0.1, "0.10"),
        ("999999999999999.99", "999999999999999.99"),
        (-1, "-1.00"),
        (None, None),
    ],
)
async def test_money_has_one_form(probe_admin: Client, sent: object, kept_as: str | None) -> None:
    assert expect(await probe_admin.post(WIDGETS_AT, {"name": "price", "price": sent}))["price"] == kept_as


# as written in JSON: Python's own writer knows no number of so many digits
EXACT = {
    "price": [
        "9999999999999.99",
        "8888888888888.88",
        "-1234567890123.45",
        "123456789012345",
        "999999999999999",
        "1234.50000000000000000000",
        "1.23456789012345e13",
        "0.10",
    ],
    "stock": ["12345678901.2345", "99999999999.9999", "100000000000", "0.0001"],
}
INEXACT = {
    "price": [
        "10000000000000.01",
        "12345678901234.56",
        "99999999999999.99",
        "100000000000000.01",
        "0.1000000000000000055",
        "1234.500000000000001",
        "100000000000000.001",
        "0.30000000000000004",
    ],
    "stock": ["123456789012.3456", "999999999999.9999", "0.00010000000000000001"],
}


def sent(client: Client, field: str, written: str) -> Awaitable[Reply]:
    return client.post(WIDGETS_AT, raw=f'{{"name": "number", "{field}": {written}}}'.encode())


@pytest.mark.parametrize(("field", "written"), [(field, one) for field, several in EXACT.items() for one in several])
async def test_an_amount_of_fifteen_digits_may_be_a_number(probe_admin: Client, field: str, written: str) -> None:
    assert Decimal(expect(await sent(probe_admin, field, written))[field]) == Decimal(written)


async def test_an_amount_with_too_many_decimals_is_told_how_many_it_may_have(probe_admin: Client) -> None:
    reply = await sent(probe_admin, "price", '"30.255"')
    (fault,) = reply.data["errors"]
    assert (fault["rule"], fault["message"]) == ("pattern", "须为数字，最多 2 位小数")


@pytest.mark.parametrize(("field", "written"), [(field, one) for field, several in INEXACT.items() for one in several])
async def test_an_amount_of_more_digits_must_be_a_string(probe_admin: Client, field: str, written: str) -> None:
    reply = await sent(probe_admin, field, written)
    expect(reply, 40001)
    (fault,) = reply.data["errors"]
    assert (fault["field"], fault["rule"]) == (field, "digits")
    places = Decimal(written).as_tuple().exponent
    if isinstance(places, int) and -places <= (2 if field == "price" else 4):
        assert Decimal(expect(await sent(probe_admin, field, f'"{written}"'))[field]) == Decimal(written)


@pytest.mark.parametrize("written", ["1000000000000000", "1234567890123456", "1e15", "18446744073709551616"])
async def test_an_amount_of_a_thousand_billions_is_too_large(probe_admin: Client, written: str) -> None:
    reply = await sent(probe_admin, "price", written)
    expect(reply, 40001)
    assert [one["rule"] for one in reply.data["errors"]] == ["maximum"]


async def test_every_amount_of_a_list_is_looked_at(probe_admin: Client) -> None:
    parts = '[{"sku": "a", "count": 1.5}, {"sku": "b", "count": 100000000000000.00001}]'
    reply = await probe_admin.post(
        WIDGETS_AT, raw=f'{{"name": "parts", "weight": 121.473700000000009, "parts": {parts}}}'.encode()
    )
    expect(reply, 40001)
    assert [(one["field"], one["rule"]) for one in reply.data["errors"]] == [("parts[1].count", "digits")]


@pytest.mark.parametrize(
    ("sent", "kept_as"),
    [
        ("0", "0"),
        ("1.5000", "1.5"),
        ("100", "100"),
        (100, "100"),
        ("0.0001", "0.0001"),
        (0.0001, "0.0001"),
        ("-0.0", "0"),
        (1e3, "1000"),
    ],
)
async def test_a_quantity_has_one_form(probe_admin: Client, sent: object, kept_as: str) -> None:
    assert expect(await probe_admin.post(WIDGETS_AT, {"name": "stock", "stock": sent}))["stock"] == kept_as


async def test_money_is_decimal_in_the_database(probed: Running, probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "decimal", "price": 0.1, "stock": 0.2}))
    stored = await probed.service.database.store(WIDGETS).get(made["id"])
    assert (stored["price"], stored["stock"]) == (Decimal128("0.10"), Decimal128("0.2"))


async def test_a_leap_second_is_no_moment(probe_admin: Client) -> None:
    reply = await probe_admin.post(WIDGETS_AT, {"name": "leap", "seen_at": "2016-12-31T23:59:60Z"})
    assert reply.code == 40001


async def test_a_day_is_the_day_that_was_sent(probe_admin: Client) -> None:
    assert expect(await probe_admin.post(WIDGETS_AT, {"name": "day", "due": "2028-02-29"}))["due"] == "2028-02-29"


@pytest.mark.parametrize("year", [1, 1969, 2200, 9999])
async def test_dates_that_were_stored_before_there_were_bounds_are_read(
    year: int, probed: Running, probe_admin: Client
) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "old", "batch": f"old {year}"}))
    day, moment = f"{year:04}-12-31", datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
    await probed.service.database.driver.update_one(
        WIDGETS.name, {"_id": ObjectId(made["id"])}, {"$set": {"due": day, "seen_at": moment}}
    )
    read = expect(await probe_admin.get(f"{WIDGETS_AT}/{made['id']}"))
    assert (read["due"], read["seen_at"]) == (day, f"{day}T23:59:59.000Z")
    changed = expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "rank": 7}))
    assert (changed["due"], changed["seen_at"]) == (read["due"], read["seen_at"])
    listed = expect(await probe_admin.get(f"{WIDGETS_AT}?batch=old%20{year}&sort=seen_at,due"))
    assert [row["id"] for row in listed["items"]] == [made["id"]]


async def test_null_clears_a_field(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "full", "price": "1", "rank": 1}))
    changed = expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "price": None, "rank": None}))
    assert (changed["price"], changed["rank"], changed["version"]) == (None, None, 2)


async def test_what_a_change_leaves_out_stays(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "full", "price": "1", "rank": 1}))
    changed = expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "rank": 2}))
    changing = {"rank": 2, "version": 2, "updated_at": changed["updated_at"]}
    assert changed == {**made, **changing}


@pytest.mark.parametrize("name", ["中" * 60, "a" + "中" * 60, "aa" + "中" * 60, "😀" * 50, "é" * 100])
async def test_a_long_name_that_is_taken_is_a_duplicate_and_costs_nobody_else(probe_admin: Client, name: str) -> None:
    taken = {"name": name, "batch": "unique"}
    await probe_admin.post(WIDGETS_AT, taken)
    batch = unique("batch")
    others = [{"name": f"{n}", "batch": batch} for n in range(5)]
    replies = await asyncio.gather(*(probe_admin.post(WIDGETS_AT, body) for body in [taken, *others, taken]))
    assert [reply.code for reply in replies] == [40900, 0, 0, 0, 0, 0, 40900]
    assert expect(await probe_admin.get(f"{WIDGETS_AT}?batch={batch}"))["total"] == len(others)
