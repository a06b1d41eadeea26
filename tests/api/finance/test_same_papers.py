"""One paper of a supplier is one invoice, however it is typed, or one line of an expense claim."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from bson import ObjectId

from plugins.boot.runtime import Running
from plugins.finance.invoices import KEYS
from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.books import AT
from tests.api.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=30)
INVOICES, CLAIMS = f"{AT}/invoices", f"{AT}/expense-claims"


INVOICES_STORED = "finance_invoices"
OLDER = {"$unset": {"party_key": "", "number_key": ""}}


async def enter(client: Client, number: str, **fields: Any) -> Reply:
    body = {"direction": "in", "number": number, "counterparty": "晨光 Ltd.", "amount": "1.00", **fields}
    return await client.post(INVOICES, body)


async def claim(client: Client, *numbers: str) -> Reply:
    lines = [{"day": "2026-11-18", "category": "travel", "amount": "1.00", "receipt_number": one} for one in numbers]
    return await client.post(CLAIMS, {"title": "trip", "lines": lines})


@pytest.mark.parametrize("typed", ["inv-{}", " INV - {}", "ＩＮＶ－{}", "INV–{}", "INV{}", "INV-000{}", "inv  {}"])
async def test_a_paper_typed_a_little_differently_is_refused(typed: str, admin: Client) -> None:
    digits, supplier = str(int(unique("1")[-6:], 16) + 1), await (await Goods.fresh(admin)).supplier()
    expect(await enter(admin, f"INV-{digits}", supplier_id=supplier))
    reply = await enter(admin, typed.format(digits), supplier_id=supplier, counterparty="晨光有限公司")
    assert expect(reply, 40900)["field"] == "number"


async def test_a_draft_does_not_become_the_same_paper(admin: Client) -> None:
    supplier = await (await Goods.fresh(admin)).supplier()
    expect(await enter(admin, "2026-11", supplier_id=supplier))
    other = expect(await enter(admin, "2026-1-1", supplier_id=supplier))
    change = {"version": other["version"], "number": "2026 - 011"}
    expect(await admin.patch(f"{INVOICES}/{other['id']}", change), 40900)
    expect(await admin.patch(f"{INVOICES}/{other['id']}", {**change, "number": "2026-12"}))


async def test_a_counterparty_without_a_supplier_is_known_by_its_name(admin: Client) -> None:
    number, name = unique("N"), unique("Paper & Co")
    expect(await enter(admin, number, counterparty=name))
    expect(await enter(admin, number.upper(), counterparty=name.lower().replace(" ", "　")), 40900)
    expect(await enter(admin, number, counterparty=f"{name} 2"))


async def test_two_suppliers_may_use_one_number_and_what_we_send_is_ours(admin: Client) -> None:
    number, goods = unique("N"), await Goods.fresh(admin)
    for _ in range(2):
        expect(await enter(admin, number, supplier_id=await goods.supplier(), counterparty=unique("c")))
    for _ in range(2):
        expect(await enter(admin, number, direction="out", counterparty=unique("c")))


async def test_older_invoices_are_recognised_too_and_of_two_copies_the_first(admin: Client, tradewind: Running) -> None:
    driver, supplier = tradewind.service.database.driver, await (await Goods.fresh(admin)).supplier()
    for number in ("A-1", "a - 1", "B-2"):
        made = expect(await enter(admin, number, supplier_id=supplier, counterparty=unique("c")))
        await driver.update_one(INVOICES_STORED, {"_id": ObjectId(made["id"])}, OLDER)
    rows = await driver.find(INVOICES_STORED, {"party_key": None, "supplier_id": ObjectId(supplier)})
    (stage,) = KEYS.stages(tradewind.service)
    assert await stage.change(rows) == 2
    expect(await enter(admin, "b–02", supplier_id=supplier), 40900)
    expect(await enter(admin, "A1", supplier_id=supplier), 40900)
    assert await stage.change(await driver.find(INVOICES_STORED, {"party_key": None, "number": "a - 1"})) == 0


async def test_what_a_claim_has_is_no_invoice_until_the_claim_is_gone(admin: Client) -> None:
    number = unique("R")
    claimed = expect(await claim(admin, unique("R"), number))
    assert expect(await enter(admin, f" {number.lower()}"), 40900)["field"] == "number"
    other = expect(await enter(admin, unique("R")))
    expect(await admin.patch(f"{INVOICES}/{other['id']}", {"version": other["version"], "number": number}), 40900)
    expect(await enter(admin, number, direction="out", counterparty=unique("c")))
    expect(await admin.delete(f"{CLAIMS}/{claimed['id']}"))
    entered = expect(await enter(admin, number))
    assert expect(await admin.post(f"{CLAIMS}/{claimed['id']}/restore"), 40900)["field"] == "lines[1].receipt_number"
    expect(await admin.delete(f"{INVOICES}/{entered['id']}"))
    expect(await admin.post(f"{CLAIMS}/{claimed['id']}/restore"))
    assert expect(await admin.post(f"{INVOICES}/{entered['id']}/restore"), 40900)["field"] == "number"


async def test_what_is_an_invoice_is_not_claimed_unless_it_is_void(admin: Client) -> None:
    number = unique("R")
    entered = expect(await enter(admin, number, day="2026-11-18"))
    assert expect(await claim(admin, unique("R"), number), 40900)["field"] == "lines[1].receipt_number"
    expect(await admin.post(f"{INVOICES}/{entered['id']}/confirm"))
    expect(await admin.post(f"{INVOICES}/{entered['id']}/void"))
    expect(await claim(admin, number))


async def test_of_a_claim_and_an_invoice_entered_at_once_one_has_the_number(admin: Client) -> None:
    number = unique("R")
    codes = [reply.code for reply in await asyncio.gather(claim(admin, number), enter(admin, number))]
    assert sorted(codes) == [0, 40900]
