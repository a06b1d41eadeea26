"""Owners are reminded of follow-ups and payments, once each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.crm.reminders import remind
from plugins.testing import Client, People, expect
from tests.api.crm.sales import CONTRACTS, CUSTOMERS, FOLLOW_UPS, PLANS, contract, customer, seller

pytestmark = pytest.mark.gen_test(timeout=40)


async def reminded(client: Client, running: Running) -> list[str]:
    """Run the job, and return the kinds of reminders of this person."""
    await remind(running.service)
    rows = expect(await client.get("/api/v1/notifications?page_size=200"))["items"]
    return [row["kind"] for row in rows if row["kind"].endswith("_reminder")]


def moment(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


def day(days: int) -> str:
    return (datetime.now(UTC) + timedelta(hours=8, days=days)).date().isoformat()


async def planned(client: Client, boss: Client, due: int) -> dict[str, Any]:
    """Create a payment plan of a contract in force, which another person approved."""
    made = await contract(client)
    for who, action in ((client, "submit"), (boss, "approve")):
        expect(await who.post(f"{CONTRACTS}/{made['id']}/{action}", {}))
    body = {"contract_id": made["id"], "amount": "40.00", "due_date": day(due)}
    plan: dict[str, Any] = expect(await client.post(PLANS, body))
    return plan


async def test_a_due_follow_up_sends_one_reminder(people: People, tradewind: Running) -> None:
    me = await seller(people)
    await customer(me, next_follow_at=moment(2))
    assert await reminded(me, tradewind) == []
    made = await customer(me, next_follow_at=moment(-1))
    assert await reminded(me, tradewind) == ["follow_up_reminder"]
    assert await reminded(me, tradewind) == ["follow_up_reminder"]
    expect(await me.patch(f"{CUSTOMERS}/{made['id']}", {"version": made["version"], "next_follow_at": moment(-0.5)}))
    assert len(await reminded(me, tradewind)) == 2


async def test_a_follow_up_since_then_prevents_the_reminder(people: People, tradewind: Running) -> None:
    me = await seller(people)
    made = await customer(me, next_follow_at=moment(-1))
    expect(await me.post(FOLLOW_UPS, {"customer_id": made["id"], "content": "called"}))
    assert await reminded(me, tradewind) == []


async def test_a_payment_sends_reminders_before_it_is_due_and_when_it_is_overdue(
    people: People, tradewind: Running
) -> None:
    me = await seller(people)
    await planned(me, people.admin, 5)
    assert await reminded(me, tradewind) == []
    plan = await planned(me, people.admin, 2)
    for _ in range(2):
        assert await reminded(me, tradewind) == ["payment_reminder"]
    late = {"version": plan["version"], "due_date": day(-2)}
    expect(await me.patch(f"{PLANS}/{plan['id']}", late))
    for _ in range(2):
        assert await reminded(me, tradewind) == ["payment_reminder"] * 2


async def test_payments_of_a_draft_send_no_reminders(people: People, tradewind: Running) -> None:
    me = await seller(people)
    made = await contract(me)
    expect(await me.post(PLANS, {"contract_id": made["id"], "amount": "40.00", "due_date": day(1)}))
    assert await reminded(me, tradewind) == []
