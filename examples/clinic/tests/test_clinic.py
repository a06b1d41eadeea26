"""The clinic over HTTP."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plugins.testing import Client, People, expect, server_at
from tradewind_clinic.bookings import remind

pytestmark = pytest.mark.gen_test(timeout=60)
AT = "/api/v1/clinic/bookings"
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)


async def book(clinic: Client, days: float, **values: Any) -> dict[str, Any]:
    """A draft of half an hour for the administrator, who is the doctor here."""
    customer = expect(await clinic.post("/api/v1/crm/customers", {"name": f"Patient of day {days}"}))
    treatments = expect(await clinic.get("/api/v1/clinic/treatments"))["items"]
    if not treatments:
        body = {"name": "Filling", "kind": "dental", "minutes": 30, "price": "120.00"}
        treatments = [expect(await clinic.post("/api/v1/clinic/treatments", body))]
    body = {"customer_id": customer["id"], "treatment_id": treatments[0]["id"], "doctor_id": 1, "reason": "Toothache"}
    starts_at = (NOON + timedelta(days=days)).isoformat()
    draft: dict[str, Any] = expect(await clinic.post(AT, {**body, "starts_at": starts_at, **values}))
    return draft


async def test_of_five_requests_for_one_slot_one_gets_it(clinic: Client) -> None:
    drafts = [await book(clinic, 2) for _ in range(5)]
    replies = await asyncio.gather(*(clinic.post(f"{AT}/{draft['id']}/submit") for draft in drafts))
    assert sorted(reply.code for reply in replies) == [0, 61001, 61001, 61001, 61001]


async def test_a_booking_may_begin_when_another_ends_and_its_price_is_that_of_the_treatment(clinic: Client) -> None:
    first, next_one = [await book(clinic, 3 + minutes / 1440) for minutes in (0, 30)]
    for draft in (first, next_one):
        asked = expect(await clinic.post(f"{AT}/{draft['id']}/submit"))
        assert (asked["status"], asked["price"]) == ("asked", "120.00")


async def test_a_time_is_free_again_after_its_booking_is_cancelled(clinic: Client) -> None:
    first, second = [await book(clinic, 4) for _ in range(2)]
    for action in ("submit", "confirm", "cancel"):
        expect(await clinic.post(f"{AT}/{first['id']}/{action}"))
    expect(await clinic.post(f"{AT}/{second['id']}/submit"))


async def test_what_was_submitted_cannot_be_changed_or_deleted(clinic: Client) -> None:
    draft = await book(clinic, 5)
    asked = expect(await clinic.post(f"{AT}/{draft['id']}/submit"))
    expect(await clinic.patch(f"{AT}/{draft['id']}", {"version": asked["version"], "reason": "Check-up"}), 40901)
    expect(await clinic.delete(f"{AT}/{draft['id']}"), 40901)


async def test_nobody_books_later_than_the_setting_says(clinic: Client) -> None:
    draft = await book(clinic, 91)
    expect(await clinic.post(f"{AT}/{draft['id']}/submit"), 40901)
    expect(await clinic.patch("/api/v1/system/configs", {"values": {"clinic_days_ahead": 120}}))
    expect(await clinic.post(f"{AT}/{draft['id']}/submit"))


async def test_a_flow_confirms_a_booking(clinic: Client) -> None:
    boss = await People(clinic).person(["approval:instance:list", "approval:task:agree"], "all")
    node = {"key": "boss", "name": "Boss", "approvers": {"users": [boss.user["userId"]]}, "mode": "any"}
    flow = {"name": "Bookings", "biz_type": "BOOKING", "nodes": [node]}
    made = expect(await clinic.post("/api/v1/approvals/definitions", flow))
    draft = await book(clinic, 6)
    expect(await clinic.post(f"{AT}/{draft['id']}/submit"))
    (waiting,) = expect(await boss.get(f"/api/v1/approvals/instances?resource_id={draft['id']}"))["items"]
    expect(await boss.post(f"/api/v1/approvals/instances/{waiting['id']}/agree"))
    assert expect(await clinic.get(f"{AT}/{draft['id']}"))["status"] == "booked"
    expect(await clinic.delete(f"/api/v1/approvals/definitions/{made['id']}"))


async def test_a_file_hangs_on_a_booking(clinic: Client) -> None:
    draft = await book(clinic, 7)
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="x-ray.txt"\r\n\r\nTwo roots\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    stored = expect(await clinic.post("/api/upload", raw=form, headers=headers))
    body = {"biz_type": "BOOKING", "resource_id": draft["id"], "object_key": stored["objectKey"], "file_name": "X-ray"}
    expect(await clinic.post("/api/attachments", body))
    found = expect(await clinic.get(f"/api/attachments?biz_type=BOOKING&resource_id={draft['id']}"))["items"]
    assert [one["file_name"] for one in found] == ["X-ray"]


async def test_the_income_counts_what_is_done_and_shows_the_bookings_behind_it(clinic: Client) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=1)
    draft = await book(clinic, 0, starts_at=soon.isoformat())
    for action in ("submit", "confirm", "complete"):
        done = expect(await clinic.post(f"{AT}/{draft['id']}/{action}"))
    months = expect(await clinic.get("/api/dashboard/clinic-income?months=1"))["items"]
    assert sum(float(month["amount"]) for month in months) == 120
    (month,) = [month for month in months if month["count"]]
    behind = expect(await clinic.get(f"/api/dashboard/clinic-income/rows?months=1&cell=items.{month['month']}.amount"))
    assert [row["id"] for row in behind["items"]] == [done["id"]]


async def test_a_customer_has_a_chart_number_and_is_found_by_it(clinic: Client) -> None:
    expect(await clinic.post("/api/v1/crm/customers", {"name": "Patient", "x_chart_number": "P-0012"}))
    found = expect(await clinic.get("/api/v1/crm/customers?x_chart_number=P-0012"))["items"]
    assert [one["name"] for one in found] == ["Patient"]


async def test_a_doctor_is_reminded_once_of_what_is_booked_for_the_next_day(clinic: Client) -> None:
    tomorrow = datetime.now(UTC) + timedelta(hours=23)
    draft = await book(clinic, 1, starts_at=tomorrow.isoformat())
    for action in ("submit", "confirm"):
        expect(await clinic.post(f"{AT}/{draft['id']}/{action}"))
    running = server_at(clinic.url)
    assert running
    for _ in range(2):
        await remind(running.service)
    inbox = expect(await clinic.get("/api/v1/notifications?kind=clinic_reminder"))["items"]
    assert [message["link"] for message in inbox] == [f"/clinic/bookings/{draft['id']}"]
