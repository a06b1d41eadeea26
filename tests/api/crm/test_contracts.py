"""Contracts: numbers, states, approval, payments and their plans."""

import asyncio
import re
from urllib.parse import quote

import pytest

from handlers.data.database import utc_now
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.crm.sales import (
    CONTRACTS,
    OPPORTUNITIES,
    PAYMENTS,
    PLANS,
    Record,
    contract,
    customer,
    in_force,
    seller,
)
from tests.support.openapi_checks import CONFLICT_SCHEMA, Described

pytestmark = pytest.mark.gen_test(timeout=40)


async def test_fifty_contracts_made_at_once_are_numbered_without_gap_or_duplicate(admin: Client) -> None:
    of = (await customer(admin))["id"]
    made = await asyncio.gather(*(contract(admin, customer_id=of) for _ in range(50)))
    numbers = sorted(int(re.fullmatch(r"HT-\d{4}-(\d{5,})", one["number"])[1]) for one in made)  # type: ignore[index]
    assert numbers == list(range(numbers[0], numbers[0] + 50))


async def test_a_refused_contract_uses_no_number(admin: Client) -> None:
    first = await contract(admin)
    body = {"customer_id": first["customer_id"], "name": "x", "amount": "1", "owner_id": 999_999}
    expect(await admin.post(CONTRACTS, body), 40001)
    second = await contract(admin)
    assert int(second["number"][-5:]) == int(first["number"][-5:]) + 1


async def test_a_number_given_by_hand_is_kept_and_skipped_by_the_sequence(admin: Client) -> None:
    first = await contract(admin)
    head, tail = first["number"][:-5], int(first["number"][-5:])
    await contract(admin, number=f"{head}{tail + 1:05}")
    assert (await contract(admin))["number"] == f"{head}{tail + 2:05}"
    number = unique("A")
    assert (await contract(admin, number=number))["number"] == number


async def test_fifty_concurrent_payments_never_exceed_the_open_amount(admin: Client) -> None:
    made = await in_force(admin, "100.00")
    body = {"contract_id": made["id"], "amount": "7.00"}
    replies = await asyncio.gather(*(admin.post(PAYMENTS, body) for _ in range(50)))
    assert sorted({reply.code for reply in replies}) == [0, 40901]
    assert sum(reply.code == 0 for reply in replies) == 14
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["received_amount"] == "98.00"
    assert expect(await admin.get(f"{PAYMENTS}?contract_id={made['id']}"))["total"] == 14


async def test_a_contract_moved_to_another_customer_cannot_keep_its_opportunity(admin: Client) -> None:
    draft, other = await contract(admin), await customer(admin)
    opportunity = expect(await admin.post(OPPORTUNITIES, {"customer_id": draft["customer_id"], "name": "x"}))
    at = f"{CONTRACTS}/{draft['id']}"
    joined = expect(await admin.patch(at, {"version": draft["version"], "opportunity_id": opportunity["id"]}))
    reply = await admin.patch(at, {"version": joined["version"], "customer_id": other["id"]})
    expect(reply, 40001)
    assert reply.fields == {"opportunity_id"}
    moved = {"version": opportunity["version"], "customer_id": other["id"]}
    expect(await admin.patch(f"{OPPORTUNITIES}/{opportunity['id']}", moved), 40901)


async def test_the_plans_of_a_contract_follow_its_customer_and_owner(admin: Client, people: People) -> None:
    draft, other, owner = await contract(admin), await customer(admin), await seller(people)
    body = {"contract_id": draft["id"], "amount": "1.00", "due_date": "2099-01-01"}
    plan = expect(await admin.post(PLANS, body))
    change = {"version": draft["version"], "customer_id": other["id"], "owner_id": owner.user["userId"]}
    expect(await admin.patch(f"{CONTRACTS}/{draft['id']}", change))
    seen = expect(await owner.get(f"{PLANS}/{plan['id']}"))
    assert (seen["customer_id"], seen["owner_id"]) == (other["id"], owner.user["userId"])


async def test_the_amount_of_a_deleted_payment_is_open_again(admin: Client) -> None:
    made = await in_force(admin, "100.00")
    paid = expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "100.00"}))
    expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "0.01"}), 40901)
    expect(await admin.delete(f"{PAYMENTS}/{paid['id']}"))
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["received_amount"] == "0.00"


async def test_a_draft_takes_no_payments(admin: Client) -> None:
    draft = await contract(admin)
    expect(await admin.post(PAYMENTS, {"contract_id": draft["id"], "amount": "1.00"}), 40901)


@pytest.mark.parametrize("amount", ["0", "-1.00", "0.001", "abc"])
async def test_an_invalid_amount_is_refused(amount: str, admin: Client) -> None:
    made = await in_force(admin)
    expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": amount}), 40001)


# -- plans


async def plan(client: Client, made: Record, amount: str, due_date: str) -> Record:
    planned: Record = expect(
        await client.post(PLANS, {"contract_id": made["id"], "amount": amount, "due_date": due_date})
    )
    return planned


async def test_a_plan_is_pending_partial_paid_or_overdue(admin: Client) -> None:
    made = await in_force(admin, "400.00")
    due = {"overdue": "2020-01-01", "pending": "2099-01-01", "partial": "2099-02-01", "paid": "2020-02-01"}
    plans = {status: await plan(admin, made, "100.00", day) for status, day in due.items()}
    for status, amount in (("partial", "40.00"), ("paid", "100.00")):
        expect(
            await admin.post(PAYMENTS, {"contract_id": made["id"], "plan_id": plans[status]["id"], "amount": amount})
        )
    rows = expect(await admin.get(f"{PLANS}?contract_id={made['id']}&sort=sequence"))["items"]
    assert [(row["sequence"], row["status"]) for row in rows] == list(enumerate(due, start=1))
    for status in due:
        found = expect(await admin.get(f"{PLANS}?contract_id={made['id']}&status={status}"))
        assert [row["id"] for row in found["items"]] == [plans[status]["id"]]


async def test_a_plan_gets_a_number_although_that_of_the_last_one_was_cleared(admin: Client) -> None:
    made = await in_force(admin, "400.00")
    first = await plan(admin, made, "100.00", "2099-01-01")
    expect(await admin.patch(f"{PLANS}/{first['id']}", {"version": first["version"], "sequence": None}))
    assert (await plan(admin, made, "100.00", "2099-02-01"))["sequence"] == 1


async def test_plans_do_not_exceed_the_contract(admin: Client) -> None:
    made = await contract(admin, "100.00")
    body = {"contract_id": made["id"], "amount": "60.00", "due_date": "2099-01-01"}
    replies = await asyncio.gather(*(admin.post(PLANS, body) for _ in range(5)))
    assert sorted(reply.code for reply in replies) == [0] + [40901] * 4


async def test_a_payment_cannot_exceed_its_plan(admin: Client) -> None:
    made = await in_force(admin, "100.00")
    first = await plan(admin, made, "30.00", "2099-01-01")
    expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "plan_id": first["id"], "amount": "30.01"}), 40901)
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["received_amount"] == "0.00"


async def test_an_amount_below_its_plans_is_refused(admin: Client) -> None:
    made = await contract(admin, "100.00")
    await plan(admin, made, "60.00", "2099-01-01")
    version = expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["version"]
    expect(await admin.patch(f"{CONTRACTS}/{made['id']}", {"version": version, "amount": "59.99"}), 40001)


# -- states


async def test_a_contract_in_force_cannot_be_changed_or_deleted(admin: Client) -> None:
    made = await in_force(admin)
    expect(await admin.patch(f"{CONTRACTS}/{made['id']}", {"version": made["version"], "amount": "1.00"}), 40901)
    expect(await admin.delete(f"{CONTRACTS}/{made['id']}"), 40901)


async def test_a_contract_in_force_has_a_signing_date(admin: Client) -> None:
    made = await in_force(admin)
    assert made["signed_date"] is not None
    assert (await in_force(admin, signed_date="2026-01-05"))["signed_date"] == "2026-01-05"


async def test_a_rejected_contract_is_changed_and_submitted_again(admin: Client) -> None:
    made = await contract(admin)
    at = f"{CONTRACTS}/{made['id']}"
    expect(await admin.post(f"{at}/submit", {}))
    rejected = expect(await admin.post(f"{at}/reject", {"reason": "价格过低"}))
    assert (rejected["status"], rejected["reason"]) == ("rejected", "价格过低")
    expect(await admin.patch(at, {"version": rejected["version"], "amount": "200.00"}))
    assert expect(await admin.post(f"{at}/submit", {}))["status"] == "pending"


async def test_the_end_of_a_contract_is_not_before_its_start(admin: Client) -> None:
    of = (await customer(admin))["id"]
    body = {"customer_id": of, "name": "x", "amount": "1", "start_date": "2026-02-01", "end_date": "2026-01-01"}
    expect(await admin.post(CONTRACTS, body), 40001)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("approved", "in_force"), ("rejected", "rejected"), ("returned", "draft"), ("withdrawn", "draft")],
)
async def test_the_outcome_of_an_approval_decides(outcome: str, status: str, admin: Client, tradewind: Running) -> None:
    made = await contract(admin)
    expect(await admin.post(f"{CONTRACTS}/{made['id']}/submit", {}))
    decision = {"biz_type": "CONTRACT", "resource_id": made["id"], "outcome": outcome, "at": utc_now()}
    await tradewind.service.events.emit("approval.finished", decision)
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["status"] == status


async def test_a_late_outcome_of_an_approval_changes_nothing(admin: Client, tradewind: Running) -> None:
    made = await in_force(admin)
    decision = {"biz_type": "CONTRACT", "resource_id": made["id"], "outcome": "rejected"}
    await tradewind.service.events.emit("approval.finished", decision)
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}")) == made


@pytest.mark.parametrize("path", [PLANS, PAYMENTS])
async def test_plans_and_payments_are_found_by_their_remark(path: str, admin: Client) -> None:
    of, remark = (await in_force(admin))["id"], unique("first instalment")
    body = {"contract_id": of, "amount": "10.00", **({"due_date": "2030-01-31"} if path == PLANS else {})}
    made = expect(await admin.post(path, {**body, "remark": remark}))
    expect(await admin.post(path, {**body, "remark": "the rest"}))
    found = expect(await admin.get(f"{path}?contract_id={of}&q={quote(remark[-12:])}"))["items"]
    assert [row["id"] for row in found] == [made["id"]]


async def test_a_payment_that_exceeds_the_open_amount_is_refused_with_that_amount(
    admin: Client, described: Described
) -> None:
    made = await in_force(admin, "100.00")
    planned = await plan(admin, made, "30.00", "2099-01-01")
    expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "60.50"}))
    too_much = await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "39.51"})
    assert expect(too_much, 40901) == {"open": "39.50"}
    assert described.faults(CONFLICT_SCHEMA, too_much.json) == []
    assert "39.50" in too_much.json["msg"]
    of_plan = {"contract_id": made["id"], "plan_id": planned["id"], "amount": "30.01"}
    assert expect(await admin.post(PAYMENTS, of_plan), 40901) == {"open": "30.00"}
