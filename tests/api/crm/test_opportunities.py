"""Opportunities: stages, their history, and closing."""

import pytest

from plugins.testing import Client, expect
from tests.api.crm.sales import CONTACTS, OPPORTUNITIES, Record, contract, customer

pytestmark = pytest.mark.gen_test(timeout=20)


async def opportunity(client: Client, **fields: object) -> Record:
    of = await customer(client)
    made: Record = expect(await client.post(OPPORTUNITIES, {"customer_id": of["id"], "name": "年度采购", **fields}))
    return made


async def act(client: Client, record: Record, action: str, **body: object) -> Record:
    done: Record = expect(await client.post(f"{OPPORTUNITIES}/{record['id']}/{action}", body))
    return done


async def test_a_new_opportunity_is_in_the_first_stage(admin: Client) -> None:
    made = await opportunity(admin)
    assert (made["stage"], made["probability"], made["amount"]) == ("initial", 10, "0.00")
    assert made["owner_id"] == admin.user["userId"]


async def test_the_history_has_every_change_of_stage(admin: Client) -> None:
    made = await opportunity(admin)
    await act(admin, made, "advance", stage="proposal")
    lost = await act(admin, made, "lose", reason="预算取消")
    steps = [(step["from_stage"], step["stage"], step["reason"]) for step in lost["stage_history"]]
    assert steps == [(None, "initial", None), ("initial", "proposal", None), ("proposal", "lost", "预算取消")]
    assert (lost["lost_reason"], lost["probability"]) == ("预算取消", 0)
    assert lost["closed_at"]


async def test_an_advance_without_a_stage_goes_to_the_next_one(admin: Client) -> None:
    made = await opportunity(admin)
    stages = [(await act(admin, made, "advance"))["stage"] for _ in range(3)]
    assert stages == ["qualified", "proposal", "negotiation"]
    expect(await admin.post(f"{OPPORTUNITIES}/{made['id']}/advance", {}), 40901)


@pytest.mark.parametrize(
    ("action", "body"), [("advance", {"stage": "proposal"}), ("win", {}), ("lose", {"reason": "x"})]
)
async def test_a_closed_opportunity_stays_closed(action: str, body: Record, admin: Client) -> None:
    made = await opportunity(admin)
    await act(admin, made, "win")
    expect(await admin.post(f"{OPPORTUNITIES}/{made['id']}/{action}", body), 40901)


@pytest.mark.parametrize("final", [{"amount": "900.00"}, {"probability": 50}, {"expected_close_date": "2031-01-31"}])
@pytest.mark.parametrize(("action", "body"), [("win", {}), ("lose", {"reason": "x"})])
async def test_the_figures_of_a_closed_opportunity_are_final(
    action: str, body: Record, final: Record, admin: Client
) -> None:
    made = await opportunity(admin, amount="500.00")
    closed = await act(admin, made, action, **body)
    at = f"{OPPORTUNITIES}/{made['id']}"
    expect(await admin.patch(at, {"version": closed["version"], "name": "other", **final}), 40901)
    assert expect(await admin.get(at)) == closed


async def test_a_closed_opportunity_can_be_renamed_with_its_figures_unchanged(
    admin: Client,
) -> None:
    closed = await act(admin, await opportunity(admin, amount="500.00"), "win")
    body = {"version": closed["version"], "name": "other", "amount": "500", "probability": closed["probability"]}
    assert expect(await admin.patch(f"{OPPORTUNITIES}/{closed['id']}", body))["name"] == "other"


async def test_losing_needs_a_reason(admin: Client) -> None:
    made = await opportunity(admin)
    expect(await admin.post(f"{OPPORTUNITIES}/{made['id']}/lose", {}), 40001)


async def test_a_changed_stage_is_an_advance(admin: Client) -> None:
    made = await opportunity(admin)
    body = {"version": 1, "stage": "qualified", "name": "新名称"}
    changed = expect(await admin.patch(f"{OPPORTUNITIES}/{made['id']}", body))
    assert (changed["stage"], changed["name"], len(changed["stage_history"])) == ("qualified", "新名称", 2)


async def test_an_update_cannot_win_an_opportunity(admin: Client) -> None:
    made = await opportunity(admin)
    expect(await admin.patch(f"{OPPORTUNITIES}/{made['id']}", {"version": 1, "stage": "won"}), 40001)


async def test_an_opportunity_with_a_contract_cannot_be_deleted(admin: Client) -> None:
    made = await opportunity(admin)
    await contract(admin, customer_id=made["customer_id"], opportunity_id=made["id"])
    expect(await admin.delete(f"{OPPORTUNITIES}/{made['id']}"), 40901)


async def test_a_new_primary_contact_replaces_the_previous_one(admin: Client) -> None:
    of = await customer(admin)
    for name in ("first", "second"):
        expect(await admin.post(CONTACTS, {"customer_id": of["id"], "name": name, "is_primary": True}))
    primary = expect(await admin.get(f"{CONTACTS}?customer_id={of['id']}&is_primary=true"))["items"]
    assert [one["name"] for one in primary] == ["second"]
