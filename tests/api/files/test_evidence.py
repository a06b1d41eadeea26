"""What hangs on a record that is submitted or decided is evidence: it stays, whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plugins.records.lifecycles import Lifecycle
from plugins.records.steps import Step
from plugins.testing import Client, People, Reply, expect
from tests.api.crm.sales import CONTRACTS, contract
from tests.api.files.samples import note
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.inventory.goods import AT as INVENTORY, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/attachments"


async def claim(admin: Client) -> str:
    return f"{FINANCE}/expense-claims/{(await (await Books.fresh(admin)).claim())['id']}"


async def draft_contract(admin: Client) -> str:
    return f"{CONTRACTS}/{(await contract(admin))['id']}"


async def purchase_order(admin: Client) -> str:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "1", "price": "1.00"}
    body = {"supplier_id": await goods.supplier(), "warehouse_id": goods.warehouse_id, "lines": [line]}
    return f"{INVENTORY}/purchase-orders/{expect(await admin.post(f'{INVENTORY}/purchase-orders', body))['id']}"


async def attached(client: Client, biz_type: str, at: str) -> dict[str, Any]:
    stored = await note(client, "receipt")
    body = {"biz_type": biz_type, "resource_id": at.rpartition("/")[2], "object_key": stored["objectKey"]}
    made: dict[str, Any] = expect(await client.post(AT, body))
    return made


@pytest.mark.parametrize(
    ("biz_type", "draft", "actions"),
    [
        ("EXPENSE", claim, ("submit",)),
        ("EXPENSE", claim, ("submit", "approve")),
        ("EXPENSE", claim, ("submit", "reject")),
        ("CONTRACT", draft_contract, ("submit", "approve")),
        ("PURCHASE_ORDER", purchase_order, ("submit", "confirm")),
    ],
)
async def test_evidence_can_be_added_and_not_removed(
    biz_type: str, draft: Callable[[Client], Awaitable[str]], actions: tuple[str, ...], admin: Client
) -> None:
    at = await draft(admin)
    mistaken, receipt = [await attached(admin, biz_type, at) for _ in range(2)]
    expect(await admin.delete(f"{AT}/{mistaken['id']}"))
    for action in actions:
        expect(await admin.post(f"{at}/{action}", {"reason": "x"} if action == "reject" else {}))
    late = await attached(admin, biz_type, at)
    for one in (receipt, late):
        expect(await admin.delete(f"{AT}/{one['id']}"), 40901)
    listed = expect(await admin.get(f"{AT}?biz_type={biz_type}&resource_id={at.rpartition('/')[2]}"))["items"]
    assert {one["id"] for one in listed} == {receipt["id"], late["id"]}


async def test_the_receipt_of_an_approved_claim_is_read_by_whoever_may_read_the_claim(
    admin: Client, people: People
) -> None:
    at = await claim(admin)
    receipt = await attached(admin, "EXPENSE", at)
    for action in ("submit", "approve"):
        expect(await admin.post(f"{at}/{action}"))
    await admin.delete(f"{AT}/{receipt['id']}")
    reader = await people.person(["finance:expense-claim:list"], "all")
    assert (await reader.get(f"/api/file/dl?object_key={receipt['object_key']}")).body == b"receipt"


async def test_what_hangs_on_a_record_stays_while_somebody_submits_it(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = await claim(admin)
    receipt = await attached(admin, "EXPENSE", at)
    removals: list[asyncio.Task[Reply]] = []
    announce = Lifecycle._announce

    async def remove_first(self: Lifecycle, step: Step) -> None:
        if not removals:
            removals.append(asyncio.create_task(admin.delete(f"{AT}/{receipt['id']}")))
            await asyncio.wait(removals, timeout=0.3)  # a removal that waits for nobody is done by then
        await announce(self, step)

    monkeypatch.setattr(Lifecycle, "_announce", remove_first)
    expect(await admin.post(f"{at}/submit"))
    expect(await removals[0], 40901)
