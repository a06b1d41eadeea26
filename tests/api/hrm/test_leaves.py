"""Leave over HTTP: its states, its days, and its approval by events."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.hrm.staff import AT, Staff
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=30)
APPROVALS = "/api/v1/approvals"
WEDNESDAY = ("2026-12-02T01:00:00Z", "2026-12-02T10:00:00Z")  # nine to six in Shanghai


async def flow(admin: Client, **condition: Any) -> dict[str, Any]:
    """A flow for leave that asks user 1."""
    node = {"key": "boss", "name": "boss", "approvers": {"users": [1]}, "mode": "any", "on_reject": "end"}
    body = {"name": "leave", "biz_type": "LEAVE", "conditions": [condition], "nodes": [node], "priority": 1}
    made: dict[str, Any] = expect(await admin.post(f"{APPROVALS}/definitions", body))
    return made


async def asked(admin: Client) -> tuple[Staff, dict[str, Any], dict[str, Any]]:
    """Create an employee with pending leave in a flow of its own; return them, the leave and the approval."""
    staff = await Staff.hire(admin)
    await flow(admin, field="user_id", op="eq", value=staff.client.user["userId"])
    leave = await staff.leave(*WEDNESDAY, "submit")
    found = expect(await admin.get(f"{APPROVALS}/instances?biz_type=LEAVE&resource_id={leave['id']}"))["items"]
    return staff, leave, found[0]


async def status(admin: Client, leave: dict[str, Any]) -> str:
    return str(expect(await admin.get(f"{AT}/leaves/{leave['id']}"))["status"])


@pytest.mark.parametrize(("action", "outcome"), [("agree", "approved"), ("reject", "rejected"), ("send-back", "draft")])
async def test_the_outcome_of_the_approval_decides(action: str, outcome: str, admin: Client) -> None:
    _, leave, instance = await asked(admin)
    assert (leave["status"], instance["status"], instance["title"]) == ("pending", "pending", "Mei 请假 1 天")
    expect(await admin.post(f"{APPROVALS}/instances/{instance['id']}/{action}", {"comment": "so be it"}))
    decided = expect(await admin.get(f"{AT}/leaves/{leave['id']}"))
    assert (decided["status"], decided["decision_reason"], decided["decided_by"]) == (outcome, "so be it", 1)


@pytest.mark.parametrize("action", ["withdraw", "approve", "reject"])
async def test_a_decision_at_the_record_ends_its_approval(action: str, admin: Client) -> None:
    _, leave, instance = await asked(admin)
    body = {} if action == "reject" else None
    decided = expect(await admin.post(f"{AT}/leaves/{leave['id']}/{action}", body))
    assert expect(await admin.get(f"{APPROVALS}/instances/{instance['id']}"))["status"] == "withdrawn"
    assert await status(admin, leave) == decided["status"] != "pending"


async def test_fifty_concurrent_decisions_have_one_effect(admin: Client) -> None:
    _, leave, instance = await asked(admin)
    at = f"{APPROVALS}/instances/{instance['id']}/agree"
    replies = await asyncio.gather(*(admin.post(at, {}) for _ in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 49}
    assert await status(admin, leave) == "approved"


async def test_other_plugins_receive_the_decision(admin: Client, tradewind: Running) -> None:
    heard: list[str] = []

    async def listener(payload: Any) -> None:
        heard.append(str(payload["leave"]["id"]))

    tradewind.service.events.listen("hrm.leave.decided", listener)
    leave = await (await Staff.hire(admin)).leave(*WEDNESDAY, "submit", "approve")
    assert leave["id"] in heard


@pytest.mark.parametrize(
    ("starts_at", "ends_at", "days"),
    [
        (*WEDNESDAY, "1"),
        ("2026-12-02T01:00:00Z", "2026-12-02T03:00:00Z", "0.5"),
        ("2026-12-03T16:00:00Z", "2026-12-07T16:00:00Z", "2"),  # Friday to Monday
        ("2026-12-05T01:00:00Z", "2026-12-05T10:00:00Z", "0"),  # Saturday
    ],
)
async def test_leave_counts_working_days_by_halves(starts_at: str, ends_at: str, days: str, admin: Client) -> None:
    staff = await Staff.hire(admin, group={"working_days": [1, 2, 3, 4, 5]})
    assert (await staff.leave(starts_at, ends_at))["days"] == days


async def test_overlapping_leave_is_refused(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await staff.leave(*WEDNESDAY, "submit")
    again = await staff.leave("2026-12-02T09:00:00Z", "2026-12-03T10:00:00Z")
    expect(await staff.client.post(f"{AT}/leaves/{again['id']}/submit"), 40901)
    assert await status(admin, again) == "draft"


async def test_of_concurrent_overlapping_requests_one_succeeds(admin: Client) -> None:
    staff = await Staff.hire(admin)
    drafts = [await staff.leave(*WEDNESDAY) for _ in range(5)]
    replies = await asyncio.gather(*(staff.client.post(f"{AT}/leaves/{one['id']}/submit") for one in drafts))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 4}


@pytest.mark.parametrize("ends_at", [WEDNESDAY[0], "2026-12-01T00:00:00Z", "2028-01-01T00:00:00Z"])
async def test_leave_without_length_or_longer_than_a_year_is_refused(ends_at: str, admin: Client) -> None:
    reply = await admin.post(f"{AT}/leaves", {"type": "sick", "starts_at": WEDNESDAY[0], "ends_at": ends_at})
    expect(reply, 40001)
    assert reply.fields == {"ends_at"}


async def test_pending_leave_is_neither_changed_nor_deleted(admin: Client) -> None:
    leave = await (await Staff.hire(admin)).leave(*WEDNESDAY, "submit")
    at = f"{AT}/leaves/{leave['id']}"
    expect(await admin.patch(at, {"version": leave["version"], "reason": "other"}), 40901)
    expect(await admin.delete(at), 40901)


@pytest.mark.parametrize("action", ["approve", "reject"])
async def test_nobody_decides_on_their_own_leave_but_super_administrators(
    action: str, admin: Client, people: People
) -> None:
    me = await people.person(["hrm:leave:create", "hrm:leave:submit", "hrm:leave:approve"])
    for who, code in ((me, 40901), (admin, 0)):
        body = {"type": "sick", "starts_at": "2031-03-03T01:00:00Z", "ends_at": "2031-03-03T10:00:00Z"}
        leave = expect(await who.post(f"{AT}/leaves", body))
        expect(await who.post(f"{AT}/leaves/{leave['id']}/submit"))
        expect(await who.post(f"{AT}/leaves/{leave['id']}/{action}", {} if action == "reject" else None), code)
        if code == 0:
            expect(await who.post(f"{AT}/leaves/{leave['id']}/cancel"), 0 if action == "approve" else 40901)


async def test_leave_of_others_is_decided_with_the_permission(admin: Client, people: People) -> None:
    boss = await people.person(["hrm:leave:approve"], "all")
    leave = await (await Staff.hire(admin)).leave(*WEDNESDAY, "submit")
    assert expect(await boss.post(f"{AT}/leaves/{leave['id']}/approve"))["status"] == "approved"


@pytest.mark.parametrize("dates", [{"left_on": "2026-12-01"}, {"hired_on": "2026-12-03"}])
async def test_leave_outside_of_employment_is_refused(dates: dict[str, str], admin: Client) -> None:
    staff = await Staff.hire(admin, **dates)
    leave = await staff.leave(*WEDNESDAY)
    expect(await staff.client.post(f"{AT}/leaves/{leave['id']}/submit"), 40901)


async def test_leave_contains_its_employee(admin: Client) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave(*WEDNESDAY)
    assert (leave["employee_id"], leave["employee_name"]) == (staff.employee["id"], "Mei")
    found = expect(await admin.get(f"{AT}/leaves?employee_id={staff.employee['id']}"))["items"]
    assert [row["id"] for row in found] == [leave["id"]]


@pytest.mark.parametrize(
    ("actions", "outcomes"),
    [
        (["approve"], ["已批准"]),
        (["reject"], ["已驳回"]),
        (["approve", "cancel"], ["已销假", "已批准"]),
    ],
)
async def test_people_are_notified_of_decisions_on_their_leave(
    actions: list[str], outcomes: list[str], admin: Client
) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave(*WEDNESDAY, "submit")
    for action in actions:
        expect(await admin.post(f"{AT}/leaves/{leave['id']}/{action}", {} if action == "reject" else None))
    assert await titles(staff.client) == [f"您 2026-12-02 起的 1 天请假：{outcome}" for outcome in outcomes]


async def test_people_are_not_notified_of_their_own_actions(admin: Client) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave(*WEDNESDAY, "submit")
    expect(await staff.client.post(f"{AT}/leaves/{leave['id']}/withdraw"))
    assert await titles(staff.client) == []
