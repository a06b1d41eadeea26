"""What is kept of employees besides their work: contracts with reminders, and private details."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handlers.data.database import utc_now
from plugins.boot.runtime import Running
from plugins.hrm.contracts import remind
from plugins.hrm.private_details import PRIVATE, seal_again
from plugins.testing import Client, People, expect, unique
from tests.api.hrm.staff import AT, create
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=30)
SECRETS = ("110101199003070011", "6225880123456789", "021-5555 0101")
DETAILS = {
    "identity_number": SECRETS[0],
    "bank_account": SECRETS[1],
    "birth_day": "1990-03-07",
    "emergency_contacts": [{"name": "王芳", "relation": None, "phone": SECRETS[2]}],
}


def in_days(number: int) -> str:
    return f"{utc_now() + timedelta(hours=8, days=number):%Y-%m-%d}"


async def employee_of(admin: Client, **fields: Any) -> str:
    made = await create(admin, "employees", name=unique("Zhao"), hired_on="2025-01-01", **fields)
    return f"{AT}/employees/{made['id']}"


async def test_the_end_of_a_contract_and_of_probation_is_reminded_of_once(
    admin: Client, people: People, tradewind: Running
) -> None:
    clerk = await people.person(["hrm:employee:contract", "hrm:employee:read"], "all")
    path = await employee_of(admin)
    body = {"from": "2026-01-01", "to": in_days(20), "probation_until": in_days(10), "remind_days": 14}
    made = expect(await clerk.post(f"{path}/contracts", body))
    for _ in range(2):
        await remind(tradewind.service)
    assert [title.split(" ")[1:2] for title in await titles(clerk)] == [["的试用期将于"]]
    moved = {"version": made["version"], "to": in_days(12)}
    expect(await clerk.patch(f"{path}/contracts/{made['id']}", moved))
    for _ in range(2):
        await remind(tradewind.service)
    assert len(await titles(clerk)) == 2
    assert [one["id"] for one in expect(await clerk.get(f"{path}/contracts"))["items"]] == [made["id"]]
    expect(await clerk.get(f"{await employee_of(admin)}/contracts/{made['id']}"), 40400)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"to": None}, "to"),
        ({"to": "2025-12-31"}, "to"),
        ({"kind": "open_ended"}, "to"),
        ({"probation_until": "2028-01-01"}, "probation_until"),
    ],
)
async def test_an_impossible_contract_names_the_field(given: dict[str, Any], field: str, admin: Client) -> None:
    body = {"from": "2026-01-01", "to": "2026-12-31", **given}
    reply = await admin.post(f"{await employee_of(admin)}/contracts", body)
    assert (reply.code, reply.fields) == (40001, {field})


async def test_private_details_are_encrypted_and_seen_nowhere_without_the_permission(
    admin: Client, people: People, tradewind: Running
) -> None:
    path = await employee_of(admin)
    rights = [f"hrm:employee:{one}" for one in ("list", "read", "update", "export")]
    clerk = await people.person(rights, "all")
    expect(await clerk.get(f"{path}/private"), 40300)
    expect(await clerk.patch(f"{path}/private", DETAILS), 40300)
    assert expect(await admin.get(f"{path}/private"))["changed_at"] is None
    made = expect(await admin.patch(f"{path}/private", DETAILS))
    assert {name: made[name] for name in DETAILS} == DETAILS
    assert (await admin.patch(f"{path}/private", {"birth_day": "1899-12-31"})).fields == {"birth_day"}
    changed = expect(await admin.patch(f"{path}/private", {"birth_day": "1900-01-01"}))
    assert (changed["identity_number"], changed["birth_day"]) == (SECRETS[0], "1900-01-01")
    stored = await tradewind.service.database.store(PRIVATE).find({})
    logs = await admin.get("/api/v1/system/operation-logs?page_size=50")
    seen = [(await clerk.get(one)).body for one in (path, f"{path}/history", f"{AT}/employees?q={SECRETS[0]}")]
    export = await admin.get(f"{AT}/employees/export?format=csv")
    for secret in SECRETS:
        assert secret not in repr(stored)
        assert all(secret.encode() not in one for one in (*seen, export.body, logs.body))
    assert b"/private" in logs.body


async def test_details_are_encrypted_again_once_there_is_a_new_signing_secret(
    admin: Client, tradewind: Running
) -> None:
    path, service = await employee_of(admin), tradewind.service
    expect(await admin.patch(f"{path}/private", DETAILS))
    known = service.signing_secrets
    try:
        service.signing_secrets = ("a new secret of thirty-two bytes.", *known)
        await seal_again(service)
        service.signing_secrets = service.signing_secrets[:1]
        assert expect(await admin.get(f"{path}/private"))["bank_account"] == SECRETS[1]
        service.signing_secrets = known
        expect(await admin.get(f"{path}/private"), 40901)
    finally:
        service.signing_secrets = known
        for row in await service.database.store(PRIVATE).find({}):
            await service.database.store(PRIVATE).remove({"_id": row["id"]})
