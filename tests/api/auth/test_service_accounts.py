"""Service accounts and their keys, over HTTP."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plugins.testing import PASSWORD, Client, People, eventually, expect, unique
from tests.support.servers import instances

pytestmark = pytest.mark.gen_test(timeout=30)
ACCOUNTS = "/api/v1/system/service-accounts"
PROFILE = "/api/v1/auth/profile"
MANAGING = [f"system:service-account:{action}" for action in ("list", "read", "create", "update", "delete", "key")]


async def account(client: Client, roles: list[int], department_id: int | None = None) -> dict[str, Any]:
    body = {"username": unique("erp"), "real_name": "ERP", "role_ids": roles, "department_id": department_id}
    made: dict[str, Any] = expect(await client.post(ACCOUNTS, body))
    return made


async def issued(client: Client, account_id: int, **limits: Any) -> tuple[dict[str, Any], Client]:
    """A key of the account, and a program that uses it."""
    made = expect(await client.post(f"{ACCOUNTS}/{account_id}/keys", {"name": "nightly", **limits}))
    return made, Client(client.url, made["key"])


async def refused(program: Client) -> bool:
    return (await program.get(PROFILE)).code == 40100


async def test_a_program_is_a_person_of_its_own_in_records_and_logs(admin: Client, people: People) -> None:
    department = await people.department()
    role = await people.role(["crm:customer:create"], "self")
    made = await account(admin, [role], department)
    _, program = await issued(admin, made["id"])
    customer = expect(await program.post("/api/v1/crm/customers", {"name": unique("customer")}))
    stamped = (customer["creator_id"], customer["creator_name"], customer["creator_department_id"])
    assert stamped == (made["id"], "ERP", department)

    async def logged() -> list[dict[str, Any]]:
        found = await admin.get(f"/api/v1/system/operation-logs?user_id={made['id']}")
        return [one for one in expect(found)["items"] if one["username"] == made["username"]]

    assert await eventually(logged)


async def test_a_program_sees_and_may_do_what_its_roles_allow(admin: Client, people: People) -> None:
    role = await people.role(["crm:customer:list"], "self")
    _, program = await issued(admin, (await account(admin, [role]))["id"])
    expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))
    assert expect(await program.get("/api/v1/crm/customers"))["items"] == []
    expect(await program.post("/api/v1/crm/customers", {"name": unique("customer")}), 40300)


async def test_a_key_works_from_its_networks_only(admin: Client) -> None:
    made = await account(admin, [])
    _, away = await issued(admin, made["id"], addresses=["203.0.113.0/24", "2001:db8::/32"])
    _, here = await issued(admin, made["id"], addresses=["203.0.113.9", "127.0.0.0/8"])
    assert await refused(away)
    expect(await here.get(PROFILE))


async def test_addresses_that_are_no_networks_are_refused_by_their_place(admin: Client) -> None:
    made = await account(admin, [])
    body = {"name": "nightly", "addresses": ["10.0.0.0/8", "10.0.0.0/40"]}
    reply = await admin.post(f"{ACCOUNTS}/{made['id']}/keys", body)
    assert reply.fields == {"addresses[1]"}


async def test_a_key_ends_when_it_expires(admin: Client) -> None:
    made = await account(admin, [])
    soon = datetime.now(UTC) + timedelta(seconds=1)
    _, program = await issued(admin, made["id"], expires_at=soon.isoformat())
    expect(await program.get(PROFILE))
    await eventually(lambda: refused(program))
    late = await admin.post(f"{ACCOUNTS}/{made['id']}/keys", {"name": "late", "expires_at": soon.isoformat()})
    assert late.fields == {"expires_at"}


async def test_a_key_is_shown_once_and_stored_as_a_hash(admin: Client) -> None:
    made = await account(admin, [])
    key, _ = await issued(admin, made["id"])
    (listed,) = expect(await admin.get(f"{ACCOUNTS}/{made['id']}/keys"))["items"]
    assert listed["id"] == key["id"]
    assert key["key"].startswith(listed["hint"])
    assert not {"key", "hash"} & set(listed)
    assert key["key"] not in str(listed)


async def test_a_rotated_key_overlaps_with_its_successor(admin: Client) -> None:
    made = await account(admin, [])
    key, old = await issued(admin, made["id"], addresses=["127.0.0.1"])
    at = f"{ACCOUNTS}/{made['id']}/keys"
    second = expect(await admin.post(f"{at}/{key['id']}/rotate", {}))
    assert (second["name"], second["addresses"]) == ("nightly", ["127.0.0.1"])
    new = Client(admin.url, second["key"])
    expect(await old.get(PROFILE))
    expect(await new.get(PROFILE))
    expect(await admin.post(f"{at}/{key['id']}/rotate", {"overlap_hours": 0}))
    assert await refused(old)
    expect(await new.get(PROFILE))


async def test_a_revoked_key_and_a_disabled_account_are_refused_by_every_instance(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with instances(mongodb_uri, tmp_path, {}, {}) as (here, there):
        admin = await Client(here.url).log_in("admin")
        made = await account(admin, [])
        key, _ = await issued(admin, made["id"])
        _, second = await issued(admin, made["id"])
        elsewhere, other = Client(there.url, key["key"]), Client(there.url, second.token)
        await eventually(lambda: accepted(elsewhere))
        expect(await admin.delete(f"{ACCOUNTS}/{made['id']}/keys/{key['id']}"))
        await eventually(lambda: refused(elsewhere), seconds=2)
        await eventually(lambda: accepted(other))
        expect(await admin.patch(f"{ACCOUNTS}/{made['id']}", {"version": made["version"], "status": "disabled"}))
        await eventually(lambda: refused(other), seconds=2)


async def accepted(program: Client) -> bool:
    return (await program.get(PROFILE)).code == 0


async def test_restoring_a_deleted_account_revives_none_of_its_keys(admin: Client) -> None:
    made = await account(admin, [])
    _, program = await issued(admin, made["id"])
    expect(await admin.delete(f"{ACCOUNTS}/{made['id']}"))
    assert await refused(program)
    expect(await admin.post(f"{ACCOUNTS}/{made['id']}/restore"))
    assert await refused(program)


async def test_what_belongs_to_people_is_refused_to_programs(admin: Client) -> None:
    _, program = await issued(admin, (await account(admin, []))["id"])
    change = {"old_password": PASSWORD, "new_password": f"{PASSWORD}-2"}
    for method, path, body in (
        ("PUT", "/api/v1/auth/password", change),
        ("GET", "/api/v1/auth/sessions", None),
        ("PATCH", PROFILE, {"real_name": "ERP"}),
        ("POST", "/api/v1/auth/logout", None),
        ("DELETE", "/api/v1/auth/wecom/bind", None),
    ):
        expect(await program.call(method, path, body), 40300)


async def test_a_service_account_is_no_user_and_cannot_log_in(admin: Client) -> None:
    made = await account(admin, [])
    users = "/api/v1/system/users"
    assert expect(await admin.get(f"{users}?q={made['username']}"))["items"] == []
    expect(await admin.delete(f"{users}/{made['id']}"), 40901)
    expect(await admin.post(f"{users}/{made['id']}/reset-password"), 40901)
    person = expect(await admin.get(PROFILE))["user"]["userId"]
    expect(await admin.get(f"{ACCOUNTS}/{person}"), 40400)
    expect(await admin.post(f"{ACCOUNTS}/{person}/keys", {"name": "mine"}), 40400)
    login = {"username": made["username"], "password": PASSWORD}
    expect(await Client(admin.url).post("/api/v1/auth/login", login), 40010)


async def test_nobody_gains_rights_by_a_service_account(admin: Client, people: People) -> None:
    department = await people.department()
    chief = await people.person(MANAGING, "department", department)
    above = await people.role(["crm:customer:list"], "all")
    body = {"username": unique("erp"), "role_ids": [above], "department_id": department}
    expect(await chief.post(ACCOUNTS, body), 40300)
    strong = await account(admin, [above], department)
    expect(await chief.post(f"{ACCOUNTS}/{strong['id']}/keys", {"name": "mine"}), 40300)
    weak = await account(chief, [], department)
    _, program = await issued(chief, weak["id"])
    expect(await program.get(PROFILE))
