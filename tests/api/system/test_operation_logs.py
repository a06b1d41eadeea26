"""The operation log as administrators filter it."""

from typing import Any
from urllib.parse import quote

import pytest

from handlers.operations.operation_log import OPERATION_LOGS
from plugins.boot.runtime import Running
from plugins.testing import Client, People, eventually, expect, unique

pytestmark = pytest.mark.gen_test
LOGS = "/api/v1/system/operation-logs"
CUSTOMERS = "/api/v1/crm/customers"


async def logged(admin: Client, query: str, rows: int) -> list[dict[str, Any]]:
    """The entries that match, once there are this many."""

    async def found() -> Any:
        items = expect(await admin.get(f"{LOGS}?{query}"))["items"]
        return items if len(items) >= rows else None

    entries: list[dict[str, Any]] = await eventually(found)
    return entries


async def test_a_refused_write_is_found_by_user_and_outcome(people: People, admin: Client) -> None:
    person = await people.person()
    expect(await person.post(CUSTOMERS, {"name": "x"}), 40300)
    expect(await person.patch("/api/v1/auth/profile", {"real_name": "x"}))
    user_id = person.user["userId"]
    assert len(await logged(admin, f"user_id={user_id}", 2)) == 2
    (refused,) = await logged(admin, f"user_id={user_id}&code=40300", 1)
    for outcome, code in (("failure", 40300), ("success", 0)):
        assert [row["code"] for row in await logged(admin, f"user_id={user_id}&outcome={outcome}", 1)] == [code]
    assert (refused["path"], refused["status"], refused["username"]) == (CUSTOMERS, 403, person.user["username"])


async def test_entries_are_found_by_path(people: People, admin: Client) -> None:
    path = f"{CUSTOMERS}/{'0' * 24}"
    person = await people.person()
    expect(await person.delete(path), 40300)
    entries = await logged(admin, f"path={quote(path)}&user_id={person.user['userId']}", 1)
    assert [entry["method"] for entry in entries] == ["DELETE"]


async def test_entries_are_found_by_time(people: People, admin: Client) -> None:
    person = await people.person()
    user = f"user_id={person.user['userId']}"
    for _ in range(3):
        expect(await person.post(CUSTOMERS, {"name": "x"}), 40300)
    newest, middle, oldest = await logged(admin, user, 3)
    between = f"{user}&at_from={quote(middle['at'])}&at_to={quote(newest['at'])}"
    assert [entry["id"] for entry in await logged(admin, between, 2)][:2] == [newest["id"], middle["id"]]
    assert oldest["at"] <= middle["at"] <= newest["at"]


async def test_a_reader_sees_what_the_people_in_their_data_scope_wrote(people: People, admin: Client) -> None:
    ours, theirs = await people.department(), await people.department()
    reader = await people.person(["system:operation-log:list"], "department", ours)
    for department in (ours, theirs):
        person = await people.person(department_id=department)
        expect(await person.post(CUSTOMERS, {"name": "x"}), 40300)
        user_id = person.user["userId"]
        await logged(admin, f"user_id={user_id}", 1)
        seen = expect(await reader.get(f"{LOGS}?user_id={user_id}"))
        assert seen["total"] == len(seen["items"]) == (department == ours)


async def test_a_reader_needs_the_permission(people: People) -> None:
    expect(await (await people.person(["system:operation-log:list"])).get(LOGS))
    expect(await (await people.person()).get(LOGS), 40300)


@pytest.mark.parametrize(
    "filter",
    [
        {"user_id": 7},
        {"path": "/x"},
        {"code": 40300},
        {"code": {"$ne": 0}},
        {"at": {"$gte": 0}},
        {"request_id": "x"},
        {},
    ],
)
async def test_every_filter_is_served_by_an_index(tradewind: Running, filter: dict[str, Any]) -> None:
    find = {"find": OPERATION_LOGS.name, "filter": filter, "sort": {"at": -1, "_id": -1}}
    plan = await tradewind.service.database.driver.command({"explain": find, "verbosity": "queryPlanner"})
    stages = str(plan["queryPlanner"]["winningPlan"])
    assert "IXSCAN" in stages
    assert "COLLSCAN" not in stages


async def test_what_is_secret_is_not_in_the_log(admin: Client) -> None:
    name = unique("user")
    expect(await admin.post("/api/v1/system/users", {"username": name, "password": "Correct-horse-8"}))
    path = quote("/api/v1/system/users")

    async def entry() -> Any:
        items = expect(await admin.get(f"{LOGS}?path={path}&page_size=200"))["items"]
        return next((item for item in items if item["body"] and item["body"].get("username") == name), None)

    assert (await eventually(entry))["body"]["password"] == "***"


@pytest.mark.parametrize(
    ("given", "code", "logged_as"),
    [
        ({"remark": "x" * 501}, 0, {"remark": "x" * 500}),
        ({"remark": None}, 0, {"remark": None}),
        ({"remark": {"token": "t", "n": 7}}, 40001, {"remark": {"token": "***", "n": 7}}),
        ({"password": "Correct-horse-8"}, 40001, {"password": "***"}),
        ({"$ref": "x"}, 40001, {"\\$ref": "x"}),
        ({f"unknown_{number}": "x" for number in range(60)}, 40001, {f"unknown_{n}": "x" for n in range(49)}),
    ],
    ids=["long", "null", "secret within", "secret", "reference", "many"],
)
async def test_a_body_is_logged_without_secrets_and_within_limits(
    given: dict[str, Any], code: int, logged_as: dict[str, Any], admin: Client
) -> None:
    name, request_id = unique("body"), unique("body")
    expect(await admin.post(CUSTOMERS, {"name": name, **given}, headers={"X-Request-ID": request_id}), code)
    [entry] = await logged(admin, f"request_id={request_id}", 1)
    assert entry["body"] == {"name": name, **logged_as}


async def test_an_identifier_of_any_length_fits_into_the_log(admin: Client) -> None:
    request_id = unique("long")
    sent = {"X-Request-ID": request_id}
    expect(await admin.call("DELETE", f"{CUSTOMERS}/{'x' * 600}", headers=sent), 40400)
    [entry] = await logged(admin, f"request_id={request_id}", 1)
    assert entry["resource_id"] == "x" * 500


async def test_a_creation_names_its_record_and_says_in_the_language_of_the_reader_what_it_was(
    people: People, admin: Client
) -> None:
    person = await people.person(["crm:customer:create"])
    made = expect(await person.post(CUSTOMERS, {"name": unique("logged")}))
    query = f"user_id={person.user['userId']}&method=POST&path={quote(CUSTOMERS)}"
    (entry,) = await logged(admin, query, 1)
    assert (entry["resource_id"], entry["summary"]) == (made["id"], "新增客户")
    (read,) = expect(await admin.get(f"{LOGS}?{query}", headers={"Accept-Language": "en"}))["items"]
    assert read["summary"] == "Create a customer"


async def test_an_export_is_logged_with_its_rows(people: People, admin: Client) -> None:
    person = await people.person(["crm:customer:create", "crm:customer:export"])
    for _ in range(2):
        expect(await person.post(CUSTOMERS, {"name": unique("exported")}))
    assert (await person.get(f"{CUSTOMERS}/export?format=csv")).status == 200
    (entry,) = await logged(admin, f"user_id={person.user['userId']}&method=GET", 1)
    assert (entry["rows"], entry["summary"], entry["code"]) == (2, "导出客户", 0)
