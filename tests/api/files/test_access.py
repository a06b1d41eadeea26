"""Who may do what with a file: one table that reads as a specification.

Every cell is a file of the uploader and a customer of theirs. `0` is allowed; 40400 does not reveal that it exists.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from handlers.catalogue.declarations import Catalogue
from plugins.testing import Client, expect
from tests.api.files.places import Place
from tests.api.files.samples import attach, customer, note, send, upload

pytestmark = pytest.mark.gen_test(timeout=30)
READING = ["crm:customer:list", "crm:customer:read"]
EDITING = [*READING, "crm:customer:create", "crm:customer:update", "crm:customer:delete", "crm:customer:transfer"]
NO_ID = "f" * 24


@dataclass(frozen=True)
class Case:
    """A file, a customer, and the attachment that binds them, if any."""

    key: str
    record: dict[str, Any]
    attachment: str = NO_ID


@pytest.fixture(scope="module")
def people(io_loop: IOLoop, local: Place) -> dict[str, Client]:
    async def create() -> dict[str, Client]:
        people = local.people
        ours, theirs = await people.department(), await people.department()
        return {
            "uploader": await people.person(EDITING, "self", ours),
            "reader in scope": await people.person(READING, "department", ours),
            "editor in scope": await people.person(EDITING, "department", ours),
            "editor outside": await people.person(EDITING, "department", theirs),
            "other role, every row": await people.person([], "all", ours),
            "super administrator": local.admin,
            "anonymous": local.anonymous,
        }

    people_here: dict[str, Client] = io_loop.run_sync(create)
    return people_here


async def unattached(local: Place, people: dict[str, Client]) -> Case:
    uploader = people["uploader"]
    return Case((await note(uploader))["objectKey"], await customer(uploader))


async def attached(local: Place, people: dict[str, Client]) -> Case:
    uploader = people["uploader"]
    stored, record = await note(uploader), await customer(uploader)
    return Case(stored["objectKey"], record, expect(await attach(uploader, record, stored))["id"])


async def detached(local: Place, people: dict[str, Client]) -> Case:
    case = await attached(local, people)
    expect(await people["uploader"].delete(f"/api/attachments/{case.attachment}"))
    return case


async def record_deleted(local: Place, people: dict[str, Client]) -> Case:
    case = await attached(local, people)
    expect(await people["uploader"].delete(f"/api/v1/crm/customers/{case.record['id']}"))
    return case


async def record_handed_over(local: Place, people: dict[str, Client]) -> Case:
    case = await attached(local, people)
    body = {"owner_id": people["editor outside"].user["userId"]}
    expect(await people["uploader"].post(f"/api/v1/crm/customers/{case.record['id']}/transfer", body))
    return case


async def record_moved_away(local: Place, people: dict[str, Client]) -> Case:
    case = await attached(local, people)
    there = people["editor outside"].user
    service = local.running.service
    customers = service.part(Catalogue).collections["crm_customers"]
    department = there["department"]["id"]
    moved = {"creator_id": there["userId"], "creator_department_id": department, "owner_department_id": department}
    key = {"_id": customers.parse_id(case.record["id"])}
    await service.database.driver.update_one(customers.name, key, {"$set": moved})
    return case


Situation = Callable[[Place, dict[str, Client]], Awaitable[Case]]
ANYBODY = {"anonymous": (40100, 40100, 40100, 40100)}
NOBODY = (40400, 40400, 40400, 40400)
# who → sign, download, list the attachments of the record, delete the attachment
TABLE: dict[str, tuple[Situation, dict[str, tuple[int, int, int, int]]]] = {
    "a file that nothing is attached to": (
        unattached,
        {
            "uploader": (0, 0, 0, 40400),
            "reader in scope": (40400, 40400, 0, 40400),
            "editor in scope": (40400, 40400, 0, 40400),
            "editor outside": NOBODY,
            "other role, every row": NOBODY,
            "super administrator": (40400, 40400, 0, 40400),
            **ANYBODY,
        },
    ),
    "an attached file": (
        attached,
        {
            "uploader": (0, 0, 0, 0),
            "reader in scope": (0, 0, 0, 40300),
            "editor in scope": (0, 0, 0, 0),
            "editor outside": NOBODY,
            "other role, every row": NOBODY,
            "super administrator": (0, 0, 0, 0),
            **ANYBODY,
        },
    ),
    "an attachment that was deleted": (
        detached,
        {
            "uploader": (0, 0, 0, 40400),
            "reader in scope": (40400, 40400, 0, 40400),
            "editor in scope": (40400, 40400, 0, 40400),
            "editor outside": NOBODY,
            "other role, every row": NOBODY,
            "super administrator": (40400, 40400, 0, 40400),
            **ANYBODY,
        },
    ),
    "a record that was deleted": (
        record_deleted,
        {
            "uploader": (0, 0, 40400, 40400),
            "reader in scope": NOBODY,
            "editor in scope": NOBODY,
            "editor outside": NOBODY,
            "other role, every row": NOBODY,
            "super administrator": NOBODY,
            **ANYBODY,
        },
    ),
    "a record that was handed to somebody outside": (
        record_handed_over,
        {
            "uploader": (0, 0, 0, 0),
            "reader in scope": (0, 0, 0, 40300),
            "editor in scope": (0, 0, 0, 0),
            "editor outside": (0, 0, 0, 0),
            "other role, every row": NOBODY,
            "super administrator": (0, 0, 0, 0),
            **ANYBODY,
        },
    ),
    "a record that was moved to another department": (
        record_moved_away,
        {
            "uploader": (0, 0, 40400, 40400),
            "reader in scope": NOBODY,
            "editor in scope": NOBODY,
            "editor outside": (0, 0, 0, 0),
            "other role, every row": NOBODY,
            "super administrator": (0, 0, 0, 0),
            **ANYBODY,
        },
    ),
}
CELLS = [(what, who, codes) for what, (_, row) in TABLE.items() for who, codes in row.items()]


@pytest.mark.parametrize(("what", "who", "codes"), CELLS, ids=[f"{what}, {who}" for what, who, _ in CELLS])
async def test_the_table(
    what: str, who: str, codes: tuple[int, int, int, int], local: Place, people: dict[str, Client]
) -> None:
    case = await TABLE[what][0](local, people)
    client = people[who]
    of_record = f"biz_type=CUSTOMER&resource_id={case.record['id']}"
    download = await client.get(f"/api/file/dl?object_key={case.key}")
    responses = (
        (await client.get(f"/api/file/sign?object_key={case.key}")).code,
        0 if download.status == 200 else download.code,
        (await client.get(f"/api/attachments?{of_record}")).code,
        (await client.delete(f"/api/attachments/{case.attachment}")).code,
    )
    assert responses == codes


@pytest.mark.parametrize("who", ["reader in scope", "editor outside", "other role, every row", "super administrator"])
async def test_nobody_attaches_a_file_that_they_may_not_read(who: str, local: Place, people: dict[str, Client]) -> None:
    stored, client = await note(people["uploader"]), people[who]
    record = await customer(local.admin if who != "editor outside" else client)
    expect(await attach(client, record, stored), 40400)


async def test_nobody_attaches_to_a_record_that_they_do_not_see(local: Place, people: dict[str, Client]) -> None:
    record = await customer(people["uploader"])
    for who in ("editor outside", "other role, every row"):
        expect(await attach(people[who], record, await note(people[who])), 40400)


async def test_a_reader_may_attach_and_detach_their_own_files(people: dict[str, Client]) -> None:
    record, reader = await customer(people["uploader"]), people["reader in scope"]
    attachment = expect(await attach(reader, record, await note(reader)))
    expect(await reader.delete(f"/api/attachments/{attachment['id']}"))


async def test_a_file_on_two_records_is_readable_to_whoever_sees_either(people: dict[str, Client]) -> None:
    editor, outside = people["editor in scope"], people["editor outside"]
    stored, record = await note(people["uploader"]), await customer(people["uploader"])
    expect(await attach(people["uploader"], record, stored))
    expect(await editor.post(f"/api/v1/crm/customers/{record['id']}/transfer", {"owner_id": outside.user["userId"]}))
    own = await customer(outside)
    expect(await attach(outside, own, stored))
    expect(await people["uploader"].delete(f"/api/v1/crm/customers/{record['id']}"))
    assert (await outside.get(f"/api/file/dl?object_key={stored['objectKey']}")).status == 200
    expect(await editor.get(f"/api/file/dl?object_key={stored['objectKey']}"), 40400)


@pytest.mark.parametrize("key", ["20261120-0123456789abcdef0123456789abcdef.pdf", "x", "../../etc/passwd", "."])
async def test_guessing_a_key_gets_40400(key: str, people: dict[str, Client]) -> None:
    for path in ("/api/file/sign", "/api/file/dl"):
        expect(await people["uploader"].get(f"{path}?object_key={key}"), 40400)


async def test_a_public_file_is_everybodys_to_read(local: Place, people: dict[str, Client]) -> None:
    stored = await upload(people["uploader"], b"%PDF-1.7 public", "a.pdf", "public")
    for client in people.values():
        assert (await client.get(stored["url"])).body == b"%PDF-1.7 public"
    assert (await people["editor outside"].get(f"/api/file/dl?object_key={stored['objectKey']}")).status == 200


async def test_a_user_who_must_change_their_password_reads_and_uploads_nothing(local: Place) -> None:
    account = await local.people.account(must_change_password=True)
    client = await local.anonymous.log_in(account["username"])
    expect(await send(client, b"text", "a.txt"), 40301)
    expect(await client.get("/api/file/dl?object_key=x"), 40301)
