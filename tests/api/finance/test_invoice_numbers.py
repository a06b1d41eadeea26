"""The series of the numbers of invoices that are sent: without gaps, by the year of the invoice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.finance.books import AT
from tests.api.finance.test_billed_items import confirm, draft_of, item_of
from tests.api.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=60)


async def draft(client: Client, **further: Any) -> dict[str, Any]:
    body = {"direction": "out", "counterparty": "c", "amount": "10.00", **further}
    made: dict[str, Any] = expect(await client.post(f"{AT}/invoices", body))
    return made


async def next_after(client: Client, number: str, day: str) -> str:
    """The number of the next invoice of a year, which follows the given one."""
    made = expect(await confirm(client, await draft(client, day=day)))["number"]
    prefix, _, sequence = number.rpartition("-")
    assert made == f"{prefix}-{int(sequence) + 1:05}"
    return str(made)


async def test_invoices_confirmed_at_once_have_the_numbers_of_their_year_without_a_gap_or_a_double(
    admin: Client,
) -> None:
    first = expect(await confirm(admin, await draft(admin, day="2025-12-31")))["number"]
    assert first.startswith("INV-2025-")
    drafts = [await draft(admin, day="2025-12-30") for _ in range(6)]
    assert {one["number"] for one in drafts} == {None}
    taken = {expect(reply)["number"] for reply in await asyncio.gather(*(confirm(admin, one) for one in drafts))}
    start = int(first.rpartition("-")[2])
    assert taken == {f"INV-2025-{start + count:05}" for count in range(1, 7)}
    assert expect(await confirm(admin, await draft(admin, day="2024-06-01")))["number"].startswith("INV-2024-")


async def test_a_refused_confirmation_and_a_number_that_somebody_typed_leave_no_gap(admin: Client) -> None:
    day = "2023-06-01"
    number = expect(await confirm(admin, await draft(admin, day=day)))["number"]
    goods = await Goods.fresh(admin)
    item = await item_of(admin, await goods.sale(1, "10.00"))
    more = expect(await draft_of(admin, item, "10.01", number=None, day=day))
    expect(await confirm(admin, more), 40901)
    number = await next_after(admin, number, day)
    prefix, _, sequence = number.rpartition("-")
    typed = f"{prefix}-{int(sequence) + 1:05}"
    expect(await confirm(admin, await draft(admin, day=day, number=typed)))
    await next_after(admin, typed, day)


async def test_the_paper_of_a_supplier_needs_its_own_number(admin: Client) -> None:
    body = {"direction": "in", "counterparty": unique("S"), "amount": "1.00"}
    assert (await admin.post(f"{AT}/invoices", body)).fields == {"number"}
    made = await draft(admin)
    turned = {"direction": "in", "version": made["version"]}
    assert (await admin.patch(f"{AT}/invoices/{made['id']}", turned)).fields == {"number"}
