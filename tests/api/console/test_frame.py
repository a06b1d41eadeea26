"""The frame around the console's pages and the first page: both show what the person may open, and nothing else."""

from __future__ import annotations

import pytest

from plugins.testing import Client, People, expect
from tests.browser.walk import calls

pytestmark = pytest.mark.gen_test(timeout=20)
FRAME, HOME = "/api/v1/console/shell", "/api/v1/console/pages/home"
INBOX = "/api/v1/notifications"


async def test_the_frame_names_the_lists_of_which_the_caller_may_read_records(people: People, nobody: Client) -> None:
    reader = await people.person(["crm:lead:list", "crm:lead:read"])
    lists = {one["name"]: one for one in expect(await reader.get(FRAME))["lists"]}
    assert lists["crm.leads"] == {"name": "crm.leads", "menu": "crm.lead", "paths": ["/crm/leads"]}
    assert "crm.contracts" not in lists
    assert "crm.leads" not in {one["name"] for one in expect(await nobody.get(FRAME))["lists"]}


async def test_records_are_found_by_the_path_of_their_menu_and_by_that_of_the_api(admin: Client) -> None:
    frame = expect(await admin.get(FRAME))
    paths = {path: one["name"] for one in frame["lists"] for path in one["paths"]}
    assert paths["/approval/instances"] == paths["/approvals/instances"] == "approvals.instances"
    assert (frame["inbox"], frame["desk"]) == (INBOX, "approval.task")


async def test_the_first_page_has_what_waits_is_due_and_counts_as_far_as_the_caller_may_see_it(
    people: People, nobody: Client
) -> None:
    assert {path for _, path, _ in calls(expect(await nobody.get(HOME)))} == {INBOX}
    clerk = await people.person(["approval:task:list", "finance:invoice:receivables", "dashboard:chart:overview"])
    asked = {path: names for _, path, names in calls(expect(await clerk.get(HOME)))}
    due = "/api/v1/finance/receivables"
    assert [path for path in asked if "/rows" not in path] == [
        "/api/v1/approvals/tasks",
        INBOX,
        "/api/dashboard/overview",
        "/api/dashboard/overview/before",
        due,
    ]
    assert (asked["/api/v1/approvals/tasks"], asked[due]) == ({"box"}, {"status", "due_on_to", "sort"})
