"""What colleagues write makes no element of a page, and what an address says leads to no other request."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.week import MONTH, at, day
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=60)
MARKUP = "<b data-made=1>bold</b>"
CUSTOMERS, SHEETS = "/api/v1/crm/customers", f"{AT}/attendance/sheets"


async def test_texts_that_a_filter_shows_make_no_element(console: Console, company: Running, admin: Client) -> None:
    made = expect(await admin.post(CUSTOMERS, {"name": unique("customer"), "tags": [MARKUP]}))
    changed = {"version": 1, "tags": ["other", MARKUP], "remark": MARKUP}
    expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", changed))
    await do(console.visit, company.url, admin, f"#/records/crm.customers/{made['id']}")
    await do(console.until, lambda: f"other, {MARKUP}" in console.shown("main"))
    await do(console.click, "History")
    # before and after of the tags, and the remark
    await do(console.until, lambda: console.shown("main").count(MARKUP) >= 3)
    assert await do(console.count, "[data-made]") == 0


async def test_leave_of_a_type_that_the_company_made_is_shown_by_its_name(
    console: Console, company: Running, admin: Client
) -> None:
    name = unique("leave")
    type = await create(admin, "leave-types", code=unique("type").replace("-", "_"), name=name)
    staff = await Staff.hire(admin, attends_from=day())
    await staff.leave(at(9), at(18), "submit", "approve", type=type["code"])
    expect(await admin.post(f"{SHEETS}/ask", {"month": MONTH, "group_ids": [staff.group["id"]]}))
    (sheet,) = expect(await admin.get(f"{SHEETS}?month={MONTH}&employee_id={staff.employee['id']}"))["items"]
    await do(console.visit, company.url, admin, f"#/records/hrm.attendance.sheets/{sheet['id']}")
    await do(console.until, lambda: f"{name}: 1" in console.shown("main"))
    assert type["code"] not in await do(console.shown, "main")


@pytest.mark.parametrize("id", ["..%2f..%2fsystem%2fusers%2f80%23", "..", "a%2f..", "a%23", "a?b", "%5c..%5cx"])
async def test_an_address_that_names_no_record_shows_none(
    id: str, console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    await do(console.open, f"#/records/crm.customers/{id}", "main .notice")
    assert await do(console.count, "main .drawn") == 0


SENT = ["/api/v1/a", "/api/v1/a?q=b", "/api/v1/a?", "/api/v1/a/%E7%BA%BF%E4%B8%8A", "/api/v1/a/b%2Fc"]
NOT_SENT = [
    "/a/../b",
    "/a#b",
    "//elsewhere.example/a",
    "/api\\a",
    "/a b",
    "/a/..%2Fb",
    "/a/%2e%2e/b",
    "/a/..",
    "/a/线上",
]


async def test_a_path_that_could_be_taken_for_another_is_not_sent(
    console: Console, company: Running, admin: Client
) -> None:
    await do(console.visit, company.url, admin, "#/crm.customer")
    check = """
    const [paths, done] = arguments;
    const taken = (checked, path) => { try { checked(path); return true; } catch { return false; } };
    import("/console/paths.js").then(({ checked }) => done(paths.map((path) => taken(checked, path))), (error) => done(String(error)));
    """
    taken = await do(console.browser.execute_async_script, check, [*SENT, *NOT_SENT])
    assert taken == [True] * len(SENT) + [False] * len(NOT_SENT)
