"""The sheet of a month, which employees agree on before attendance is closed."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.test_two_readings import LAST, hired
from tests.api.hrm.week import MONTH, at
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=60)
SHEETS = f"{AT}/attendance/sheets"
CLOSINGS = f"{AT}/attendance/closings"


async def asked(staff: Staff) -> dict[str, Any]:
    """Ask the members of the person's group to agree, and return the answer."""
    body = {"month": MONTH, "group_ids": [staff.group["id"]]}
    answer: dict[str, Any] = expect(await staff.admin.post(f"{SHEETS}/ask", body))
    return answer


async def sheet_of(staff: Staff, **filters: str) -> dict[str, Any]:
    query = "".join(f"&{name}={value}" for name, value in filters.items())
    rows = expect(await staff.admin.get(f"{SHEETS}?month={MONTH}&employee_id={staff.employee['id']}{query}"))["items"]
    return next(iter(rows), {})


async def test_an_agreement_is_void_once_a_figure_changes(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, tradewind)
    assert await asked(staff) == {"people": 1, "created": 1, "notified": 1}
    sheet = await sheet_of(staff, status="open")
    assert (sheet["present"], sheet["absent"], sheet["hours"], sheet["reason"]) == (1, 1, "8", None)
    expect(await admin.post(f"{SHEETS}/{sheet['id']}/agree"), 40300)
    agreed = expect(await staff.client.post(f"{SHEETS}/{sheet['id']}/agree", {"version": sheet["version"]}))
    assert (agreed["status"], agreed["answered_by"]) == ("agreed", staff.employee["user_id"])
    assert await asked(staff) == {"people": 1, "created": 0, "notified": 0}
    expect(await admin.post(f"{AT}/punches/enter", {"employee_id": staff.employee["id"], "at": at(33), "reason": "x"}))
    changed = await sheet_of(staff, status="changed")
    assert (changed["present"], changed["absent"], changed["missed"]) == (2, 0, 1)
    expect(await staff.client.post(f"{SHEETS}/{sheet['id']}/agree", {"version": agreed["version"]}), 40902)
    assert (await staff.client.post(f"{SHEETS}/{sheet['id']}/object", {"reason": " "})).fields == {"reason"}
    objected = expect(await staff.client.post(f"{SHEETS}/{sheet['id']}/object", {"reason": "left at six"}))
    assert (objected["status"], objected["reason"]) == ("objected", "left at six")
    assert len(await titles(staff.client)) >= 2  # asked, and told of the change


async def test_for_somebody_without_an_account_the_answer_is_entered(
    admin: Client, tradewind: Running, people: People
) -> None:
    staff = await Staff.hire(admin, user_id=None, attends_from=f"{MONTH}-01", left_on=f"{MONTH}-02")
    assert await asked(staff) == {"people": 1, "created": 1, "notified": 0}
    clerk = await people.person(["hrm:attendance-closing:agreement", "hrm:attendance-sheet:list"], "all")
    path = f"{SHEETS}/{(await sheet_of(staff))['id']}/enter"
    assert (await clerk.post(path, {"answer": "agree"})).fields == {"note"}
    made = expect(await clerk.post(path, {"answer": "object", "note": "by phone", "reason": "one day too few"}))
    assert (made["status"], made["note"], made["reason"]) == ("objected", "by phone", "one day too few")
    made = expect(await clerk.post(path, {"answer": "agree", "note": "signed on paper"}))
    assert (made["status"], made["note"], made["reason"]) == ("agreed", "signed on paper", None)


async def test_closing_says_how_many_have_not_agreed_and_can_require_it(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, tradewind)
    await asked(staff)
    month = {"closed_to": LAST.isoformat(), "group_ids": [staff.group["id"]]}
    async with configured(admin, hrm_require_agreement=True):
        expect(await admin.post(CLOSINGS, month), 40901)
        expect(await staff.client.post(f"{SHEETS}/{(await sheet_of(staff))['id']}/agree"))
        made = expect(await admin.post(CLOSINGS, month))
    assert (made["not_agreed"], made["people"]) == (0, 1)
    expect(await admin.post(f"{CLOSINGS}/reopen", {"group_ids": month["group_ids"], "reason": "only a test"}))
    expect(await staff.client.post(f"{SHEETS}/{(await sheet_of(staff))['id']}/object", {"reason": "no"}))
    made = expect(await admin.post(CLOSINGS, month))
    assert made["not_agreed"] == 1
    expect(await admin.post(f"{CLOSINGS}/reopen", {"group_ids": month["group_ids"], "reason": "only a test"}))


async def test_a_month_that_is_not_over_is_not_asked_about(admin: Client) -> None:
    expect(await admin.post(f"{SHEETS}/ask", {"month": "2099-01"}), 40901)
