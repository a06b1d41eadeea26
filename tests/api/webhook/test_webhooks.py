"""Webhooks, from the change of a record to a receiver on loopback."""

import json
import subprocess
from datetime import timedelta
from typing import Any

import pytest

from handlers.data.collection import Collection
from handlers.data.history.outbox import HandOn, Outbox
from plugins.api.data import CachedSnapshot
from plugins.api.errors import DatabaseUnavailable
from plugins.boot.runtime import Running
from plugins.testing import Client, People, eventually, expect, unique
from plugins.webhook.sending import Webhooks
from tests.api.webhook.receivers import Message, Receiver
from tests.support.readme import ROOT, example

pytestmark = pytest.mark.gen_test(timeout=30)
HOOKS = "/api/v1/system/webhooks"
ACCOUNTS = "/api/v1/system/service-accounts"
CUSTOMERS = "/api/v1/crm/customers"
HOW_TO = (ROOT / "docs" / "how-to" / "webhooks.md").read_text()


async def account(people: People, permissions: list[str], scope: str = "all", department: int | None = None) -> int:
    role = await people.role(permissions, scope)
    body = {"username": unique("erp"), "role_ids": [role], "department_id": department}
    return int(expect(await people.admin.post(ACCOUNTS, body))["id"])


async def hook(
    hooked: Running, people: People, url: str, events: list[str], account_id: int | None = None
) -> dict[str, Any]:
    """A webhook that is in force."""
    reader = account_id or await account(people, ["crm:customer:read"])
    body = {"name": unique("hook"), "url": url, "events": events, "account_id": reader}
    made: dict[str, Any] = expect(await people.admin.post(HOOKS, body))

    async def in_force() -> bool:
        return "crm_customers" in hooked.service.database.outbox.wanted

    await eventually(in_force)
    return made


async def customer(client: Client) -> dict[str, Any]:
    made: dict[str, Any] = expect(await client.post(CUSTOMERS, {"name": unique("customer")}))
    return made


async def renamed(client: Client, record: dict[str, Any], name: str) -> dict[str, Any]:
    body = {"version": record["version"], "name": name}
    changed: dict[str, Any] = expect(await client.patch(f"{CUSTOMERS}/{record['id']}", body))
    return changed


async def arrived(receiver: Receiver, record: Any, count: int) -> list[Message]:
    async def enough() -> list[Message]:
        found = receiver.of(record)
        return found if len(found) >= count else []

    found: list[Message] = await eventually(enough)
    return found


async def delivery(admin: Client, made: dict[str, Any], state: str) -> dict[str, Any]:
    async def found() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = expect(await admin.get(f"{HOOKS}/{made['id']}/deliveries?state={state}"))["items"]
        return rows

    return dict((await eventually(found))[0])


def verified(secret: str, message: Message) -> bool:
    """By the Python of the documents."""
    names: dict[str, Any] = {}
    exec(example(HOW_TO, "In Python:"), names)
    return bool(names["verify"](secret, message.headers, message.body))


async def test_the_changes_of_a_record_arrive_in_order_and_signed(
    hooked: Running, admin: Client, people: People, receiver: Receiver
) -> None:
    made = await hook(hooked, people, receiver.url, ["crm_customers.*"])
    record = await customer(admin)
    await renamed(admin, record, "after")
    expect(await admin.delete(f"{CUSTOMERS}/{record['id']}"))
    messages = await arrived(receiver, record["id"], 3)
    assert [one.type for one in messages] == [f"crm_customers.{one}" for one in ("create", "update", "delete")]
    assert all(verified(made["secret"], one) for one in messages)
    changes = messages[1].event["data"]["changes"]
    assert {"field": "name", "before": record["name"], "after": "after"} in changes
    assert messages[2].event["data"]["record"] is None


async def test_webhooks_that_cannot_be_read_are_read_again(
    hooked: Running, people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks, failures = hooked.service.part(Webhooks), [DatabaseUnavailable("away"), DatabaseUnavailable("away")]

    async def load() -> Any:
        if failures:
            raise failures.pop()
        return await hooks._load()

    monkeypatch.setattr(hooks, "_known", CachedSnapshot(load))
    await hook(hooked, people, receiver.url, ["crm_customers.*"])
    assert not failures


async def test_a_custom_field_is_in_the_record_and_in_its_changes(
    hooked: Running, admin: Client, people: People, receiver: Receiver
) -> None:
    await hook(hooked, people, receiver.url, ["crm_customers.*"])
    labels = {"label": "配送商", "label_en": "Courier"}
    body = {"collection": "crm_customers", "name": "courier", "type": "money", **labels}
    field = expect(await admin.post("/api/v1/system/custom-fields", body))
    record = expect(await admin.post(CUSTOMERS, {"name": unique("customer"), "x_courier": "1.50"}))
    (message,) = await arrived(receiver, record["id"], 1)
    assert message.event["data"]["record"]["x_courier"] == "1.50"
    assert {"field": "x_courier", "before": None, "after": "1.50"} in message.event["data"]["changes"]
    expect(await admin.delete(f"/api/v1/system/custom-fields/{field['id']}"))


async def test_the_documented_programs_verify_a_signature_and_refuse_another_body(
    hooked: Running, admin: Client, people: People, receiver: Receiver
) -> None:
    made = await hook(hooked, people, receiver.url, ["crm_customers.create"])
    (message,) = await arrived(receiver, (await customer(admin))["id"], 1)
    program = HOW_TO.partition("```javascript\n")[2].partition("```")[0]
    program += "const [secret, headers, body] = JSON.parse(require('fs').readFileSync(0));"
    program += "console.log(verify(secret, headers, body), verify(secret, headers, body + ' '));"
    given = json.dumps([made["secret"], message.headers, message.body.decode()])
    done = subprocess.run(["node", "-e", program], input=given, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["true", "false"]
    assert not verified(made["secret"], Message(message.path, message.headers, message.body + b" "))


async def test_what_the_account_may_not_read_is_not_sent(
    hooked: Running, admin: Client, people: People, receiver: Receiver
) -> None:
    department = await people.department()
    seller = await people.person(["crm:customer:create"], "self", department)
    near = await account(people, ["crm:customer:read"], "department", department)
    blind = await account(people, ["crm:customer:create"], "all")
    await hook(hooked, people, f"{receiver.url}/blind", ["*"], blind)
    await hook(hooked, people, f"{receiver.url}/near", ["*"], near)
    elsewhere, here = await customer(admin), await customer(seller)
    (message,) = await arrived(receiver, here["id"], 1)
    assert message.path == "/near"
    assert receiver.of(elsewhere["id"]) == []


async def test_a_refused_message_comes_again_before_the_next_of_its_record_and_others_do_not_wait(
    hooked: Running, admin: Client, people: People, receiver: Receiver
) -> None:
    await hook(hooked, people, receiver.url, ["crm_customers.*"])
    first = await customer(admin)
    receiver.answer = lambda one: 500 if one.of == first["id"] and len(receiver.of(first["id"])) < 3 else 200
    await renamed(admin, first, "later")
    second = await customer(admin)
    await arrived(receiver, second["id"], 1)
    messages = await arrived(receiver, first["id"], 4)
    assert [one.type.rpartition(".")[2] for one in messages] == ["create", "create", "create", "update"]
    assert len({one.headers["webhook-id"] for one in messages}) == 2


async def test_messages_that_wait_for_their_next_attempt_hold_up_no_other(
    hooked: Running, admin: Client, people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.webhook.sending._LOOKED_AT", 1)
    monkeypatch.setattr("plugins.webhook.sending.RETRY_SECONDS", (3600,))
    receiver.answer = lambda _: 500 if len(receiver.messages) == 1 else 200
    await hook(hooked, people, receiver.url, ["crm_customers.create"])
    refused_one = await customer(admin)
    await arrived(receiver, refused_one["id"], 1)
    other = await customer(admin)
    await arrived(receiver, other["id"], 1)
    assert len(receiver.of(refused_one["id"])) == 1


@pytest.mark.parametrize(
    ("path", "status", "shown"),
    [("/", 404, 404), ("/", 302, 302), ("/", 0, None), ("/large", 200, None)],
    ids=["refused", "redirected", "closed", "too much"],
)
async def test_a_receiver_that_fails_is_told_about(
    hooked: Running, admin: Client, people: People, receiver: Receiver, path: str, status: int, shown: int | None
) -> None:
    receiver.answer = lambda _: status
    made = await hook(hooked, people, f"{receiver.url}{path}", ["crm_customers.*"])
    attempt = expect(await admin.post(f"{HOOKS}/{made['id']}/ping"))
    assert attempt["status"] == shown
    assert bool(attempt["fault"]) == (shown is None)
    assert [one.path for one in receiver.messages] == [path]


async def test_a_delivery_that_failed_for_good_is_replayed_with_its_id(
    hooked: Running, admin: Client, people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.webhook.sending.RETRY_SECONDS", ())
    receiver.answer = lambda _: 500
    made = await hook(hooked, people, receiver.url, ["crm_customers.*"])
    await customer(admin)
    failed = await delivery(admin, made, "failed")
    assert (failed["status"], failed["response"], failed["attempts"]) == (500, "thanks", 1)
    receiver.answer = lambda _: 200
    expect(await admin.post(f"{HOOKS}/{made['id']}/deliveries/{failed['id'].replace('/', '%2F')}/replay"))
    again = await delivery(admin, made, "delivered")
    assert {one.headers["webhook-id"] for one in receiver.messages} == {again["message"]}


async def test_a_webhook_that_fails_for_days_is_disabled_and_its_administrators_are_told(
    hooked: Running, admin: Client, people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.webhook.sending.GIVE_UP", timedelta(0))
    receiver.answer = lambda _: 500
    made = await hook(hooked, people, receiver.url, ["crm_customers.*"])
    await customer(admin)

    async def disabled() -> bool:
        return bool(expect(await admin.get(f"{HOOKS}/{made['id']}"))["status"] == "disabled")

    await eventually(disabled)
    notices = expect(await admin.get("/api/v1/notifications?kind=webhook_disabled"))["items"]
    assert any(made["name"] in one["title"] for one in notices)


async def test_both_secrets_sign_while_one_replaces_the_other(
    hooked: Running, admin: Client, people: People, receiver: Receiver
) -> None:
    made = await hook(hooked, people, receiver.url, ["crm_customers.*"])
    at = f"{HOOKS}/{made['id']}"
    new = expect(await admin.post(f"{at}/rotate-secret", {}))["secret"]
    expect(await admin.post(f"{at}/ping"))
    assert verified(made["secret"], receiver.messages[-1])
    assert verified(new, receiver.messages[-1])
    newest = expect(await admin.post(f"{at}/rotate-secret", {"overlap_hours": 0}))["secret"]
    expect(await admin.post(f"{at}/ping"))
    assert verified(newest, receiver.messages[-1])
    assert not verified(new, receiver.messages[-1])
    assert "secret" not in str(expect(await admin.get(at)))


async def test_unknown_events_and_accounts_of_people_are_refused(admin: Client, people: People) -> None:
    body = {"name": "hook", "url": "https://example.com", "account_id": await account(people, []), "events": ["*"]}
    unknown = await admin.post(HOOKS, {**body, "events": ["crm_customers.*", "nothing.*"]})
    assert unknown.fields == {"events[1]"}
    assert (await admin.post(HOOKS, {**body, "account_id": 1})).fields == {"account_id"}


async def test_nobody_gets_rows_by_a_webhook_that_they_do_not_see(admin: Client, people: People) -> None:
    department = await people.department()
    strong = await account(people, ["crm:customer:read"], "all", department)
    chief = await people.person(["system:webhook:create"], "department", department)
    body = {"name": "hook", "url": "https://example.com", "account_id": strong, "events": ["*"]}
    expect(await chief.post(HOOKS, body), 40300)


async def test_as_many_torn_records_as_are_read_at_once_hold_up_no_other(
    hooked: Running, admin: Client, people: People, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = hooked.service.database
    handed = Outbox.hand_on

    async def torn(outbox: Outbox, collection: Collection, receive: HandOn) -> int:
        async def without_torn(document: Any, changes: Any) -> None:
            assert not document["name"].startswith("torn"), "it cannot be read"
            await receive(document, changes)

        return await handed(outbox, collection, without_torn)

    monkeypatch.setattr(Outbox, "hand_on", torn)
    monkeypatch.setattr("handlers.data.history.outbox._RECORDS_AT_ONCE", 3)
    await hook(hooked, people, receiver.url, ["crm_customers.create"])
    prefix = unique("torn")
    for number in range(3):
        expect(await admin.post(CUSTOMERS, {"name": f"{prefix} {number}"}))
    made = await customer(admin)
    assert [one.type for one in await arrived(receiver, made["id"], 1)] == ["crm_customers.create"]
    again = {"name": {"$regex": f"^{prefix}"}, "_history.unsent": {"$type": "number"}}
    assert await database.driver.count("crm_customers", again) == 3, "they wait, and are not lost"
    await database.driver.delete_many("crm_customers", again)


async def test_records_that_no_webhook_waits_for_are_not_marked(hooked: Running, admin: Client, people: People) -> None:
    database = hooked.service.database

    async def unwanted() -> bool:
        return not database.outbox.wanted

    await eventually(unwanted)
    made = await people.account()
    stored = await database.driver.find_one("rbac_users", {"_id": made["id"]})
    assert stored is not None
    assert "unsent" not in stored["_history"]
