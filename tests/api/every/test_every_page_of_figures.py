"""Every list that is no list of records, such as the records behind a figure, is read by cursor to its end."""

from __future__ import annotations

import pytest

from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=60)
USERS = "/api/v1/system/users"
MATRIX = "/api/v1/system/authorization/matrix"


def test_every_answer_with_pages_has_a_cursor() -> None:
    paged = {route.name: route for route in CATALOGUE.routes if "page" in route.query and not route.paged}
    assert len(paged) > 10
    without = {
        name
        for name, one in paged.items()
        if not ("cursor" in one.query and "next_cursor" in (one.returns.fields or {}))
    }
    assert without == set()


async def test_the_matrix_is_read_by_cursor_to_its_end(admin: Client) -> None:
    tag = unique("matrix")
    made = [
        expect(await admin.post(USERS, {"username": f"{at}{tag}", "password": "Trade-wind#2026"})) for at in range(5)
    ]
    seen, cursor = [], ""
    while cursor is not None:
        page = expect(await admin.get(f"{MATRIX}?q={tag}&page_size=2{cursor and f'&cursor={cursor}'}"))
        assert page["total"] == len(made)
        seen += [row["user_id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [one["id"] for one in made]


async def test_records_behind_a_figure_are_read_by_cursor_to_its_end(admin: Client) -> None:
    tag = unique("behind")
    for at in range(5):
        expect(await admin.post("/api/v1/crm/customers", {"name": f"{tag} {at}"}))
    at = "/api/dashboard/overview/rows?cell=customers&page_size="
    at += str(min(200, expect(await admin.get(f"{at}1"))["total"] // 3))  # other tests leave hundreds
    seen, cursor, page = [], "", {}
    while cursor is not None:
        page = expect(await admin.get(f"{at}{cursor and f'&cursor={cursor}'}"))
        assert (page["sum"], page["count"]) == (page["value"], page["total"])
        seen += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert len(set(seen)) == len(seen) == page["count"] >= 5
