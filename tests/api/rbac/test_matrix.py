"""The matrix: who may do what, as a table; what it says is what requests are told."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
MATRIX = "/api/v1/system/authorization/matrix"
ALLOWED = "system:authorization:matrix"
LIST, EXPORT = "crm:customer:list", "crm:customer:export"
ENGLISH = {"Accept-Language": "en"}


async def shown(client: Client, query: str = "") -> dict[str, Any]:
    table: dict[str, Any] = expect(await client.get(f"{MATRIX}?{query}", headers=ENGLISH))
    return table


async def row_of(client: Client, name: str, query: str = "") -> dict[str, Any]:
    """The one row of a person or role with this code."""
    items = (await shown(client, f"q={name}&page_size=200&{query}"))["items"]
    (row,) = [item for item in items if item["code"] == name]
    return dict(row)


async def as_table(client: Client, query: str = "") -> list[list[str]]:
    reply = await client.get(f"{MATRIX}?format=csv&{query}", headers=ENGLISH)
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert reply.headers["Content-Disposition"].startswith('attachment; filename="authorization-matrix-')
    return list(csv.reader(io.StringIO(reply.body.decode("utf-8-sig"))))


async def test_a_row_is_a_person_with_their_roles_rows_and_permissions(admin: Client, people: People) -> None:
    place = await people.department()
    role = await people.role([LIST, EXPORT], "department")
    off = await people.role(["crm:lead:list"], "all", status="disabled")
    user = await people.account([role, off], place, real_name="Auditee")
    row = await row_of(admin, user["username"])
    assert (row["user_id"], row["name"], row["department_id"], row["role_ids"]) == (
        user["id"],
        "Auditee",
        place,
        [role],
    )
    assert row["permissions"] == [EXPORT, LIST]
    assert row["data_scope"] == "department"
    assert row["rows"].startswith("the rows of the departments department-")
    assert row["is_super"] is False


async def test_columns_are_all_permission_codes_in_words(admin: Client) -> None:
    columns = {one["permission"]: one["label"] for one in (await shown(admin, "page_size=1"))["columns"]}
    assert columns[EXPORT] == "export customers"
    assert columns.keys() >= set(expect(await admin.get("/api/v1/meta/constants"))["permissions"])


async def test_super_administrators_may_do_everything_and_the_disabled_nothing(admin: Client, people: People) -> None:
    table = await shown(admin, "q=admin&page_size=200")
    (chief,) = [item for item in table["items"] if item["user_id"] == 1]
    assert chief["permissions"] == [one["permission"] for one in table["columns"]]
    assert (chief["data_scope"], chief["rows"]) == ("all", "all rows")
    gone = await people.account([await people.role([LIST], "all")], status="disabled")
    row = await row_of(admin, gone["username"], "status=disabled")
    assert (row["permissions"], row["rows"]) == ([], "no rows")


async def test_rows_may_be_roles(admin: Client, people: People) -> None:
    place = await people.department()
    id = await people.role([LIST], "custom", [place])
    code = expect(await admin.get(f"/api/v1/system/roles/{id}"))["code"]
    row = await row_of(admin, code, "by=role")
    assert (row["user_id"], row["role_ids"], row["permissions"]) == (None, [id], [LIST])
    assert (row["data_scope"], row["rows"][:30]) == ("custom", "the rows of the departments de")


async def test_an_operation_that_is_bound_by_a_menu_of_ones_own_counts(admin: Client, people: People) -> None:
    apis = [{"method": "GET", "path": "/api/v1/crm/customers"}]
    menu = {"type": "button", "code": unique("own"), "title": "x", "apis": apis}
    made = expect(await admin.post("/api/v1/system/menus", menu))["id"]
    role = await people.role()
    expect(await admin.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": [made]}))
    user = await people.account([role])
    assert (await row_of(admin, user["username"]))["permissions"] == [LIST]
    # other tests take it that one button has this API
    expect(await admin.delete(f"/api/v1/system/menus/{made}"))


async def test_the_csv_has_a_column_for_each_code_and_no_formulas(admin: Client, people: People) -> None:
    user = await people.account([await people.role([LIST])], real_name="=1+1")
    headers, *rows = await as_table(admin, f"q={user['username']}")
    (row,) = rows
    cells = dict(zip(headers, row, strict=True))
    assert headers[:6] == ["Username", "Name", "Department", "Roles", "Status", "Data scope"]
    assert (row[0], row[1]) == (user["username"], "'=1+1")
    assert (cells[f"list customers {LIST}"], cells[f"export customers {EXPORT}"]) == ("1", "")
    assert row.count("1") == 1


async def test_the_csv_has_everybody(admin: Client) -> None:
    total = (await shown(admin, "page_size=1"))["total"]
    assert len(await as_table(admin)) == total + 1
    roles = (await shown(admin, "by=role&page_size=1"))["total"]
    assert len(await as_table(admin, "by=role")) == roles + 1


async def test_it_takes_a_permission_of_its_own_and_shows_the_people_in_sight(people: People) -> None:
    place = await people.department()
    inside = await people.account([], place)
    auditor = await people.person([ALLOWED], "department", place)
    expect(await (await people.person(["system:user:list"])).get(MATRIX), 40300)
    assert {row["user_id"] for row in (await shown(auditor))["items"]} == {inside["id"], auditor.user["userId"]}
    assert len(await as_table(auditor)) == 3
