"""Amendments and renewals: a signed contract changes by them alone, on their day, and keeps what it was before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from handlers.data.database import utc_now
from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.crm.amendments import put_in_force
from plugins.testing import Client, People, expect
from tests.api.crm.sales import CONTRACTS, CRM, PAYMENTS, PLANS, Record, customer, in_force, seller
from tests.api.crm.test_reminders import reminded

pytestmark = pytest.mark.gen_test(timeout=40)
AMENDMENTS = f"{CRM}/contract-amendments"
OWED = "/api/v1/finance/receivables"


def day(days: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(hours=8, days=days)).date().isoformat()


async def draft(client: Client, contract: Record, **terms: Any) -> Record:
    """A draft of an amendment."""
    made: Record = expect(await client.post(AMENDMENTS, {"contract_id": contract["id"], **terms}))
    return made


async def amended(client: Client, contract: Record, **terms: Any) -> Record:
    """An amendment that was submitted and approved."""
    at = f"{AMENDMENTS}/{(await draft(client, contract, **terms))['id']}"
    expect(await client.post(f"{at}/submit", {}))
    made: Record = expect(await client.post(f"{at}/approve", {}))
    return made


async def read(client: Client, contract: Record) -> Record:
    found: Record = expect(await client.get(f"{CONTRACTS}/{contract['id']}"))
    return found


async def versions(client: Client, contract: Record, on: str = "") -> list[tuple[Any, ...]]:
    """From when until when which amount is in force."""
    query = f"?day={on}" if on else ""
    items = expect(await client.get(f"{CONTRACTS}/{contract['id']}/versions{query}"))["items"]
    return [(one["version"], one["from"], one["to"], one["amount"]) for one in items]


async def test_a_signed_contract_becomes_another_amount_and_keeps_what_it_was(
    admin: Client, tradewind: Running
) -> None:
    contract = await in_force(admin, "100.00", signed_date=day(-40), end_date=day(40))
    expect(await admin.post(PAYMENTS, {"contract_id": contract["id"], "amount": "60.00"}))
    now = await read(admin, contract)
    reply = await admin.patch(f"{CONTRACTS}/{contract['id']}", {"version": now["version"], "amount": "120"})
    expect(reply, 40901)
    assert "合同变更" in reply.json["msg"]
    made = await amended(admin, contract, amount="120.00", effective_on=day(-10), description="两台设备")
    after = await read(admin, contract)
    assert (made["status"], made["change"], made["before"]["amount"]) == ("in_force", "20.00", "100.00")
    assert (after["number"], after["amount"], after["received_amount"]) == (contract["number"], "120.00", "60.00")
    await amended(admin, contract, kind="renewal", end_date=day(400), amount="90.00", effective_on=day())
    assert await versions(admin, contract) == [
        (1, day(-40), day(-11), "100.00"),
        (2, day(-10), day(-1), "120.00"),
        (3, day(), None, "90.00"),
    ]
    assert [one[3] for one in await versions(admin, contract, day(-11))] == ["100.00"]
    assert await versions(admin, contract, day(-41)) == []
    (item,) = expect(await admin.get(f"{OWED}?customer_id={contract['customer_id']}"))["items"]
    assert (item["amount"], item["paid"]) == ("90.00", "60.00")
    found = await differences(tradewind.service.database.driver)
    assert [one for one in found if contract["number"] in one] == []


async def test_a_version_that_is_replaced_on_its_first_day_is_in_force_on_none(admin: Client) -> None:
    contract = await in_force(admin, "100.00", signed_date=day(-40))
    for on, amount in ((-40, "110.00"), (-10, "120.00"), (-10, "130.00")):
        await amended(admin, contract, amount=amount, effective_on=day(on))
    assert await versions(admin, contract) == [
        (1, None, None, "100.00"),
        (2, day(-40), day(-11), "110.00"),
        (3, None, None, "120.00"),
        (4, day(-10), None, "130.00"),
    ]
    items = expect(await admin.get(f"{CONTRACTS}/{contract['id']}/versions"))["items"]
    assert [one["replaced_on"] for one in items] == [day(-40), None, day(-10), None]
    assert [(await versions(admin, contract, day(on)))[0][0] for on in (-40, -11, -10, 5)] == [2, 2, 4, 4]


async def test_a_rehearsal_says_what_plans_credit_and_forecast_become(admin: Client) -> None:
    of = (await customer(admin, credit_limit="150.00"))["id"]
    contract = await in_force(admin, "100.00", customer_id=of, end_date="2099-12-31")
    expect(await admin.post(PLANS, {"contract_id": contract["id"], "amount": "70.00", "due_date": "2099-03-31"}))
    terms = {"amount": "180.00", "end_date": "2100-06-30", "effective_on": day()}
    effect = expect(await admin.post(f"{CONTRACTS}/{contract['id']}/amendments/rehearse", terms))
    assert (effect["before"]["amount"], effect["after"]["end_date"], effect["change"]) == (
        "100.00",
        "2100-06-30",
        "80.00",
    )
    assert (effect["unplanned_before"], effect["unplanned_after"]) == ("30.00", "110.00")
    assert effect["credit"] == {
        "limit": "150.00",
        "used_before": "100.00",
        "used_after": "180.00",
        "excess": "30.00",
    }
    assert [(one["month"], one["before"], one["after"]) for one in effect["forecast"]] == [
        ("2099-03", "70.00", "70.00"),
        ("2099-12", "30.00", "0.00"),
        ("2100-06", "0.00", "110.00"),
    ]
    assert (await read(admin, contract))["version"] == contract["version"]
    waiting = await draft(admin, contract, **terms)
    assert expect(await admin.get(f"{AMENDMENTS}/{waiting['id']}/effect")) == effect


async def test_an_amendment_leaves_what_is_planned_received_and_agreed_before(admin: Client) -> None:
    contract = await in_force(admin, "100.00", signed_date=day(-30), end_date=day(10))
    expect(await admin.post(PLANS, {"contract_id": contract["id"], "amount": "70.00", "due_date": day(5)}))
    body = {"contract_id": contract["id"]}
    for terms, field in (
        ({}, "description"),
        ({"kind": "renewal"}, "end_date"),
        ({"kind": "renewal", "end_date": day(10)}, "end_date"),
        ({"start_date": day(20)}, "end_date"),
    ):
        assert (await admin.post(AMENDMENTS, {**body, **terms})).fields == {field}
    low = await draft(admin, contract, amount="69.99")
    reply = await admin.post(f"{AMENDMENTS}/{low['id']}/submit", {})
    assert expect(reply, 40901)["least"] == "70.00"
    renewed = await draft(admin, contract, kind="renewal", end_date=day(50))
    assert renewed["effective_on"] == day(11)
    await amended(admin, contract, name="改名", effective_on=day(-3))
    early = {**body, "description": "x", "effective_on": day(-4)}
    assert expect(await admin.post(AMENDMENTS, early), 40901)["day"] == day(-3)


async def test_an_approved_amendment_waits_for_its_day(admin: Client, tradewind: Running) -> None:
    contract = await in_force(admin, "100.00")
    made = await amended(admin, contract, amount="130.00", effective_on=day(1))
    await put_in_force(tradewind.service)
    assert (made["status"], (await read(admin, contract))["amount"]) == ("approved", "100.00")
    assert await versions(admin, contract, day(1)) == [(2, day(1), None, "130.00")]
    due = {"effective_on": day()}
    await tradewind.service.database.driver.update_many(
        "crm_contract_amendments", {"number": made["number"]}, {"$set": due}
    )
    await put_in_force(tradewind.service)
    assert (await read(admin, contract))["amount"] == "130.00"
    later = await amended(admin, contract, amount="1.00", effective_on=day(5))
    expect(await admin.post(f"{CONTRACTS}/{contract['id']}/terminate", {"reason": "x"}))
    states = [expect(await admin.get(f"{AMENDMENTS}/{one['id']}"))["status"] for one in (made, later)]
    assert states == ["ended", "cancelled"]


async def test_a_figure_counts_an_amendment_on_its_own_day(admin: Client) -> None:
    async def trend() -> list[tuple[Decimal, int]]:
        rows = expect(await admin.get("/api/dashboard/contract-trend?months=4"))["items"]
        return [(Decimal(row["amount"]), row["count"]) for row in rows]

    before = await trend()
    contract = await in_force(admin, "100.00", signed_date=day(-62))
    signed = await trend()
    await amended(admin, contract, amount="130.00")
    after = await trend()
    assert sum(amount for amount, _ in signed) - sum(amount for amount, _ in before) == 100
    assert (after[:-1], after[-1]) == (signed[:-1], (signed[-1][0] + 30, signed[-1][1]))
    expect(await admin.post(f"{CONTRACTS}/{contract['id']}/terminate", {"reason": "x"}))
    assert await trend() == before


async def test_the_outcome_of_an_approval_puts_an_amendment_in_force(admin: Client, tradewind: Running) -> None:
    contract = await in_force(admin, "100.00")
    made = await draft(admin, contract, amount="110.00")
    expect(await admin.post(f"{AMENDMENTS}/{made['id']}/submit", {}))
    decision = {"biz_type": "CONTRACT_AMENDMENT", "resource_id": made["id"], "outcome": "approved", "at": utc_now()}
    await tradewind.service.events.emit("approval.finished", decision)
    assert (await read(admin, contract))["amount"] == "110.00"


async def test_the_end_of_a_contract_is_announced_before_and_when_it_has_come(
    people: People, tradewind: Running
) -> None:
    me = await seller(people)
    far, near, over = [
        await in_force(people.admin, owner_id=me.user["userId"], end_date=day(days)) for days in (90, 20, -2)
    ]
    for _ in range(2):
        assert await reminded(me, tradewind) == ["contract_reminder"] * 2
    rows = expect(await me.get("/api/v1/notifications?page_size=200"))["items"]
    announced = {row["data"]["contract_id"] for row in rows if row["kind"] == "contract_reminder"}
    assert announced == {near["id"], over["id"]}
    await amended(people.admin, far, end_date=day(10))
    assert await reminded(me, tradewind) == ["contract_reminder"] * 3
