"""Numbers of documents by the formats that administrators set."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.books import Books
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
SALES, CONFIGS = f"{AT}/sales-orders", "/api/v1/system/configs"
KEY, CLAIM_KEY = "inventory_sales_order_number", "finance_expense_claim_number"
DEFAULT = {"format": "{prefix}-{seq:8}", "gapless": False}


@asynccontextmanager
async def numbered(
    admin: Client, format: str, *, gapless: bool = False, key: str = KEY, default: Any = DEFAULT
) -> AsyncIterator[None]:
    """While this format is set."""
    expect(await admin.patch(CONFIGS, {"values": {key: {"format": format, "gapless": gapless}}}))
    try:
        yield
    finally:
        expect(await admin.patch(CONFIGS, {"values": {key: default}}))


async def sell(admin: Client, goods: Goods, **further: Any) -> Reply:
    line = {"product_id": goods.product_id, "quantity": "1"}
    return await admin.post(SALES, {"customer_name": "somebody", "lines": [line], **further})


def sequence_of(order: Any) -> int:
    return int(order["number"].rpartition("-")[2])


async def test_numbers_are_as_they_always_were_unless_a_format_is_set(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    numbers = [expect(await sell(admin, goods))["number"] for _ in range(2)]
    assert all(re.fullmatch(r"SO-\d{8}", number) for number in numbers)
    assert sequence_of({"number": numbers[1]}) > sequence_of({"number": numbers[0]})


async def test_a_format_with_a_month_counts_from_one_within_the_month(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    before = expect(await sell(admin, goods))
    async with numbered(admin, "{prefix}-{yyyy}{MM}-{seq:4}"):
        first, second = [expect(await sell(admin, goods))["number"] for _ in range(2)]
    month = f"{datetime.now(ZoneInfo('Asia/Shanghai')):%Y%m}"
    assert (first, second) == (f"SO-{month}-0001", f"SO-{month}-0002")
    assert sequence_of(expect(await sell(admin, goods))) == sequence_of(before) + 1


async def test_many_at_once_get_numbers_without_a_gap(admin: Client) -> None:
    await check_numbers_at_once(admin, 40)


async def check_numbers_at_once(admin: Client, many: int) -> None:
    """Fail unless so many orders at once get numbers without a gap."""
    goods = await Goods.fresh(admin)
    async with numbered(admin, "{prefix}-{yyyy}-{seq:6}", gapless=True):
        orders = [expect(reply) for reply in await asyncio.gather(*(sell(admin, goods) for _ in range(many)))]
        last = expect(await sell(admin, goods))
    assert sorted(map(sequence_of, orders)) == list(range(1, many + 1))
    assert sequence_of(last) == many + 1


async def test_an_order_that_is_not_made_leaves_no_gap_in_a_gapless_series(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    async with numbered(admin, "{prefix}-{yyyy}{MM}{dd}-{seq:3}", gapless=True):
        first = expect(await sell(admin, goods))
        refused = await asyncio.gather(*(sell(admin, goods, salesperson_id=999_999) for _ in range(5)))
        assert [reply.fields for reply in refused] == [{"salesperson_id"}] * 5
        second = expect(await sell(admin, goods))
    assert sequence_of(second) == sequence_of(first) + 1


async def test_credit_notes_are_numbered_without_a_gap_where_that_is_asked(admin: Client) -> None:
    books = await Books.fresh(admin)
    async with numbered(admin, "{prefix}{yyyy}-{seq:4}", gapless=True, key="finance_credit_note_number"):
        at = f"/api/v1/finance/invoices/{(await books.invoice())['id']}/credit-notes"
        first = expect(await admin.post(at, {"amount": "10.00"}))
        expect(await admin.post(at, {"amount": "100.00"}), 40901)
        second = expect(await admin.post(at, {"amount": "10.00"}))
    assert sequence_of(second) == sequence_of(first) + 1
    assert first["number"].startswith("CN20")


@pytest.mark.parametrize("format", ["SO-{seq}", "{MM}-{seq:4}", "{seq:4}{seq:4}", "{prefix}", "", "x" * 40 + "{seq:4}"])
async def test_a_bad_format_is_refused_by_the_name_of_its_setting(format: str, admin: Client) -> None:
    reply = await admin.patch(CONFIGS, {"values": {KEY: {"format": format}}})
    expect(reply, 40001)
    assert reply.fields == {f"values.{KEY}.format"}


async def test_claims_and_contracts_have_formats_too(admin: Client) -> None:
    claim = {
        "title": unique("claim"),
        "lines": [{"day": "2026-11-02", "category": "travel", "amount": "1.00"}],
    }
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    contract = {"customer_id": customer, "name": unique("contract"), "amount": "1.00"}
    assert re.fullmatch(r"EX-\d{8}", expect(await admin.post("/api/v1/finance/expense-claims", claim))["number"])
    assert re.fullmatch(r"HT-\d{4}-\d{5}", expect(await admin.post("/api/v1/crm/contracts", contract))["number"])
    async with numbered(admin, "报{yy}/{seq:2}", key=CLAIM_KEY):
        made = expect(await admin.post("/api/v1/finance/expense-claims", claim))
        assert re.fullmatch(r"报\d\d/01", made["number"])
