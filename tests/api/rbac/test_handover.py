"""A person leaves: what they hold goes to somebody else, all of it, as by hand, and no account takes anything along.

Everything that a plugin declares as a holding is given to one person; a new plugin is covered the moment it is declared.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from config.database import Document
from handlers.catalogue.responsibilities import Holding
from handlers.data.collection import THE_USERS, Collection, new_id
from handlers.data.database import Database, utc_now
from handlers.data.references.links import Link
from handlers.operations.operation_log import OPERATION_LOGS
from plugins.approval.records import INSTANCES
from plugins.boot.runtime import Running
from plugins.crm.records import CUSTOMERS as CUSTOMER_RECORDS, LEADS, OPPORTUNITIES
from plugins.rbac.handover_records import HANDOVERS
from plugins.rbac.handover_running import run
from plugins.testing import Client, People, Reply, eventually, expect
from tests.api.approval.flows import act, ask, define, draft, id_of, node, read, waiting
from tests.api.crm.sales import CONTRACTS, CUSTOMERS, customer
from tests.api.crm.test_ownership import below
from tests.api.rbac.branch import MANAGING
from tests.support.openapi_checks import CONFLICT_SCHEMA, Described
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=60)
USERS = "/api/v1/system/users"
NOTIFICATIONS = "/api/v1/notifications"


@dataclass
class Company:
    """The server with demo data; the people who leave and receive are new ones."""

    running: Running
    people: People
    maker: Maker

    @property
    def admin(self) -> Client:
        return self.people.admin

    @property
    def database(self) -> Database:
        return self.running.service.database

    @property
    def holdings(self) -> list[Holding]:
        return [one for one in self.running.catalogue.holdings if not one.stays]

    async def person(self) -> Client:
        """Somebody who may sell and approve."""
        codes = self.running.catalogue.permissions
        return await self.people.person([code for code in codes if code.startswith(("crm:", "approval:"))])

    async def holds(self, id: int) -> dict[tuple[str, str], int]:
        """What a person holds, by collection and field."""
        items = expect(await self.admin.get(f"{USERS}/{id}/holdings"))["items"]
        return {(item["collection"], item["field"]): item["count"] for item in items}

    async def hand_over(self, of: Client, to: Client, **body: Any) -> Any:
        """Hand everything over, or what `body` chooses."""
        return expect(await hand_over(self.admin, id_of(of), id_of(to), **body))


async def hand_over(client: Client, of: int, to: object, **body: Any) -> Reply:
    return await client.post(f"{USERS}/{of}/handover", {"to": to, **body})


@pytest.fixture(scope="module")
def company(tradewind: Running, people: People, maker: Maker) -> Company:
    return Company(tradewind, people, maker)


# -- everything


async def test_no_live_record_names_the_person_afterwards(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    await give_everything(company, leaver)
    before = await company.holds(id_of(leaver))
    assert set(before) == {(one.collection.name, one.field) for one in company.holdings}
    done = await company.hand_over(leaver, receiver)
    assert (done["status"], done["failures"]) == ("finished", [])
    assert await company.holds(id_of(leaver)) == {}
    assert await still_named(company, id_of(leaver)) == []
    expect(await company.admin.delete(f"{USERS}/{id_of(leaver)}"))


async def give_everything(company: Company, person: Client) -> None:
    """Approvals by the API, as their tasks are more than a field; any record of the other kinds."""
    substitutes = {"absent": "substitute", "substitutes": {"users": [id_of(person)]}}
    definition = await define(company.admin, node("first", person) | substitutes, node("second", person))
    await ask(await company.person(), definition)
    await draft(person, definition)
    for holding in company.holdings:
        if holding.collection is not INSTANCES:
            await give(company, holding, id_of(person))
    await below(company.admin, await customer(person))


async def give(company: Company, holding: Holding, user_id: int) -> None:
    """Let a live record of the holding name this person."""
    collection, driver = holding.collection, company.database.driver
    made = await company.maker.record(collection.name)
    key = collection.parse_id(made["id"])
    document = await driver.find_one(collection.name, {"_id": key})
    assert document is not None
    assert holding.link is not None
    name = holding.field.split(".")[0]
    refer(document, holding.link, user_id)
    await driver.update_one(collection.name, {"_id": key}, {"$set": {name: document[name]}})
    company.database.tell(collection.name, key)
    if collection.name == "approval_delegations":  # one to come: it is the administrator's, who is asked in other tests
        days = {"starts_at": utc_now().replace(year=2189), "ends_at": utc_now().replace(year=2190)}
        await driver.update_one(collection.name, {"_id": key}, {"$set": days})


def refer(document: Document, link: Link, id: int) -> None:
    """Write `id` where the link is, in lists and objects as they are needed."""
    *above, last = link.path.split(".")
    place: Any = document
    for name in above:
        if not place.get(name):
            place[name] = [{}] if name == "collaborators" else {}
        place = place[name][0] if isinstance(place[name], list) else place[name]
    place[last] = [id] if link.is_list else id
    place.update({"access": "read"} if "collaborators" in above else {})


async def still_named(company: Company, user_id: int) -> list[tuple[str, str]]:
    """Each field that clients write, or that an owner is in, by which a live record that has not ended names a person."""
    found = []
    for collection in company.running.catalogue.collections.values():
        for link in people_of(collection, company):
            ended = sorted(collection.states.ended) if collection.states is not None else []
            live = {"deleted": False, link.path: user_id}
            live |= {collection.machine.field: {"$nin": ended}} if ended else {}
            if await company.database.driver.find(collection.name, live, limit=1):
                found.append((collection.name, link.path))
    return found


def people_of(collection: Collection, company: Company) -> list[Link]:
    if collection.plain:
        return []
    stays = {one.field for one in company.running.catalogue.holdings if one.stays and one.collection is collection}
    links = [link for link in collection.links if link.target in (THE_USERS, "rbac_users")]
    written = [link for link in links if not link.read_only or link.path == collection.owner]
    return [link for link in written if link.path not in stays]


# -- as by hand


async def test_a_customer_that_is_handed_over_is_as_one_that_is_transferred(company: Company) -> None:
    seller, receiver, helper = await company.person(), await company.person(), await company.person()
    pair = [await customer(seller), await customer(seller)]
    for one in pair:
        await below(company.admin, one)
        people = [{"user_id": id_of(person), "access": "read"} for person in (helper, receiver)]
        expect(await company.admin.put(f"{CUSTOMERS}/{one['id']}/collaborators", {"collaborators": people}))
    expect(await company.admin.post(f"{CUSTOMERS}/{pair[0]['id']}/transfer", {"owner_id": id_of(receiver)}))
    done = await company.hand_over(seller, receiver)
    assert done["items"][0]["collection"] == "crm_customers"
    by_hand, handed = [await people_around(company, one["id"]) for one in pair]
    assert by_hand == handed


async def people_around(company: Company, id: str) -> list[Any]:
    """Who has to do with a customer and its records, and how."""
    key, found = CUSTOMER_RECORDS.parse_id(id), []
    for name, collection in company.running.catalogue.collections.items():
        if name.startswith("crm_") and not collection.plain:
            of_customer = {"_id": key} if name == "crm_customers" else {"customer_id": key}
            rows = await company.database.driver.find(name, of_customer)
            fields = ("owner_id", "owner_department_id", "shared_with", "editors", "collaborators", "pool_left_at")
            found += [(name, {field: row.get(field) for field in fields}) for row in rows]
    return found


async def test_records_of_somebody_elses_customer_move_alone(company: Company) -> None:
    seller, receiver = await company.person(), await company.person()
    foreign = await customer(company.admin)
    body = {"customer_id": foreign["id"], "name": "合同", "amount": "9.00", "owner_id": id_of(seller)}
    contract = expect(await company.admin.post(CONTRACTS, body))
    await company.hand_over(seller, receiver)
    assert expect(await company.admin.get(f"{CUSTOMERS}/{foreign['id']}"))["owner_id"] == 1
    seen = expect(await receiver.get(f"{CONTRACTS}/{contract['id']}"))
    assert seen["owner_id"] == id_of(receiver)


async def test_the_history_says_who_handed_over_and_the_operation_log_how_much(company: Company) -> None:
    seller, receiver = await company.person(), await company.person()
    made = await customer(seller)
    reply = await hand_over(company.admin, id_of(seller), id_of(receiver))
    expect(reply)
    latest = expect(await company.admin.get(f"{CUSTOMERS}/{made['id']}/history"))["items"][0]
    assert (latest["action"], latest["user_id"], latest["request_id"]) == ("handover", 1, reply.headers["X-Request-ID"])
    owner = next(change for change in latest["changes"] if change["field"] == "owner_id")
    assert (owner["before"], owner["after"]) == (id_of(seller), id_of(receiver))

    async def logged() -> Any:
        written = {"request_id": reply.headers["X-Request-ID"]}
        return await company.database.driver.find(OPERATION_LOGS.name, written)

    (entry,) = await eventually(logged)
    assert (entry["rows"], entry["body"]["to"]) == (1, id_of(receiver))


async def test_the_receiver_is_notified_once(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    definition = await define(company.admin, node("first", leaver))
    for _ in range(3):
        await ask(company.admin, definition)
    await customer(leaver)
    await company.hand_over(leaver, receiver)
    (message,) = expect(await receiver.get(NOTIFICATIONS))["items"]
    assert message["kind"] == "handover"
    assert "客户（负责人） 1" in message["body"]
    assert "审批（处理人） 3" in message["body"]


# -- tasks


async def test_a_task_goes_to_the_receiver_who_decides(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    asked = await ask(company.admin, await define(company.admin, node("first", leaver), node("second", leaver)))
    await company.hand_over(leaver, receiver)
    expect(await act(leaver, asked, "agree"), 40901)
    expect(await act(receiver, asked, "agree"))
    assert waiting(await read(company.admin, asked)) == {id_of(receiver)}
    assert expect(await act(receiver, asked, "agree"))["status"] == "approved"


async def test_a_task_about_a_request_of_the_receiver_goes_to_somebody_else(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    asked = await ask(receiver, await define(company.admin, node("first", leaver)))
    await company.hand_over(leaver, receiver)
    assert waiting(await read(company.admin, asked)) == {1}


async def test_a_receiver_who_is_asked_already_is_asked_once(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    definition = await define(company.admin, node("first", leaver, receiver))
    asked = await ask(await company.person(), definition)
    await company.hand_over(leaver, receiver)
    assert waiting(await read(company.admin, asked)) == {id_of(receiver)}
    flow = expect(await company.admin.get(f"/api/v1/approvals/definitions/{definition['id']}"))
    assert flow["nodes"][0]["approvers"]["users"] == [id_of(receiver)]


async def test_two_of_two_stay_two(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    definition = await define(company.admin, node("first", leaver, receiver, mode="all"))
    asked = await ask(await company.person(), definition)
    await company.hand_over(leaver, receiver)
    assert waiting(await read(company.admin, asked)) == {id_of(receiver), 1}


async def test_a_delegation_of_the_person_is_void_and_one_to_them_goes_on(company: Company) -> None:
    leaver, receiver, other = await company.person(), await company.person(), await company.person()
    days = {"starts_at": "2025-01-01T00:00:00.000Z", "ends_at": "2190-01-01T00:00:00.000Z"}
    at = "/api/v1/approvals/delegations"
    own = expect(await leaver.post(at, {"delegate_id": id_of(other), **days}))
    theirs = expect(await other.post(at, {"delegate_id": id_of(leaver), **days}))
    await company.hand_over(leaver, receiver)
    expect(await company.admin.get(f"{at}/{own['id']}"), 40400)
    assert expect(await company.admin.get(f"{at}/{theirs['id']}"))["delegate_id"] == id_of(receiver)


# -- parts, rehearsal, failures


async def test_several_people_share_the_work(company: Company) -> None:
    leaver, first, second = await company.person(), await company.person(), await company.person()
    await customer(leaver)
    expect(await leaver.post("/api/v1/crm/leads", {"name": "刘洋"}))
    await company.hand_over(leaver, first, collections=["crm_leads"])
    assert await company.holds(id_of(leaver)) == {("crm_customers", "owner_id"): 1}
    await company.hand_over(leaver, second)
    assert await company.holds(id_of(first)) == {("crm_leads", "owner_id"): 1}
    assert await company.holds(id_of(second)) == {("crm_customers", "owner_id"): 1}


async def test_a_rehearsal_counts_and_changes_nothing(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    await customer(leaver)
    rehearsed = await company.hand_over(leaver, receiver, dry_run=True)
    assert (rehearsed["id"], rehearsed["status"]) == (None, None)
    assert [(item["label"], item["count"]) for item in rehearsed["items"]] == [("客户（负责人）", 1)]
    shown = expect(await company.admin.get(f"{USERS}/{id_of(leaver)}/holdings"))
    assert (shown["handover"], len(shown["items"])) == (None, 1)
    assert expect(await receiver.get(NOTIFICATIONS))["items"] == []


async def test_a_record_that_cannot_move_is_named_and_the_others_move(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    for _ in range(3):
        await leaver.post("/api/v1/crm/opportunities", {"customer_id": (await customer(leaver))["id"], "name": "x"})
    lost = {"_id": new_id(), **stamped(id_of(leaver)), **OPPORTUNITIES.defaults, "name": "lost"}
    await company.database.driver.insert(OPPORTUNITIES.name, [{**lost, "customer_id": new_id()}])
    done = await company.hand_over(leaver, receiver)
    assert done["status"] == "failed"
    (failure,) = done["failures"]
    assert (failure["collection"], failure["resource_id"]) == (OPPORTUNITIES.name, str(lost["_id"]))
    assert await company.holds(id_of(leaver)) == {(OPPORTUNITIES.name, "owner_id"): 1}
    # others list opportunities, and this one is as the API would store none
    await company.database.driver.delete_many(OPPORTUNITIES.name, {"_id": lost["_id"]})


# -- bad input


@pytest.mark.parametrize("to", ["self", "disabled", "deleted", "nobody"])
async def test_work_goes_to_an_enabled_account_of_somebody_else_only(company: Company, to: str) -> None:
    leaver = await company.person()
    await customer(leaver)
    other = await company.people.account((), status="disabled" if to == "disabled" else "enabled")
    if to == "deleted":
        expect(await company.admin.delete(f"{USERS}/{other['id']}"))
    target = {"self": id_of(leaver), "nobody": 999_999}.get(to, other["id"])
    reply = await hand_over(company.admin, id_of(leaver), target)
    expect(reply, 40001)
    assert reply.fields == {"to"}
    assert await company.holds(id_of(leaver)) == {("crm_customers", "owner_id"): 1}


@pytest.mark.parametrize(
    ("values", "field"), [({"collections": ["rbac_users"]}, "collections[0]"), ({"to": None}, "to")]
)
async def test_what_nobody_holds_is_refused(company: Company, values: dict[str, Any], field: str) -> None:
    person = await company.people.account()
    reply = await company.admin.post(f"{USERS}/{person['id']}/handover", {"to": 1, **values})
    expect(reply, 40001)
    assert reply.fields == {field}


async def test_of_two_handovers_of_a_person_at_once_one_is_refused(company: Company) -> None:
    leaver, first, second = await company.person(), await company.person(), await company.person()
    await many_leads(company.database, id_of(leaver), 200)
    replies = await asyncio.gather(*(hand_over(company.admin, id_of(leaver), id_of(to)) for to in (first, second)))
    assert sorted(reply.code for reply in replies) == [0, 40901]
    received = [await company.holds(id_of(to)) for to in (first, second)]
    assert sorted(map(len, received)) == [0, 1]


def stamped(owner_id: int) -> dict[str, Any]:
    """What every record has, of one that belongs to its creator."""
    stamps = {"created_at": utc_now(), "updated_at": utc_now(), "creator_id": owner_id, "updater_id": owner_id}
    return {**stamps, "owner_id": owner_id, "deleted": False, "version": 1}


async def many_leads(database: Database, owner_id: int, count: int) -> None:
    row = {**LEADS.defaults, **stamped(owner_id)}
    await database.driver.insert(LEADS.name, [{**row, "_id": new_id(), "name": f"lead {n}"} for n in range(count)])


async def test_a_sub_administrator_hands_over_only_users_in_their_charge(company: Company) -> None:
    people = company.people
    department = await people.department()
    role = await people.role([*MANAGING, "system:user:handover"], "department")
    manager = await people.admin.log_in((await people.account([role], department))["username"])
    receiver, heir = [await people.account((), department) for _ in range(2)]
    wider = await people.account([await people.role(["crm:customer:list"], "all")], department)
    chief = await people.account((), department, is_super=True)
    cases = {receiver["id"]: 0, wider["id"]: 40300, chief["id"]: 40302, id_of(await company.person()): 40400}
    for id, code in cases.items():
        expect(await hand_over(manager, id, heir["id"]), code)
    expect(await hand_over(await people.person(["system:user:update"], "all"), receiver["id"], 1), 40300)


# -- deletion


async def test_an_account_that_holds_something_is_deleted_only_after_a_handover(
    company: Company, described: Described
) -> None:
    leaver, receiver = await company.person(), await company.person()
    await customer(leaver)
    at = f"{USERS}/{id_of(leaver)}"
    refused = await company.admin.delete(at)
    assert expect(refused, 40901) == {"held_by": [{"collection": "crm_customers", "field": "owner_id", "count": 1}]}
    assert described.faults(CONFLICT_SCHEMA, refused.json) == []
    assert refused.json["msg"] == "该用户名下仍有：客户（负责人） 1，请先移交"
    english = await company.admin.delete(at, headers={"Accept-Language": "en"})
    assert (
        english.json["msg"]
        == "The user still holds the following, which must be handed over first: customer (owner): 1"
    )
    await company.hand_over(leaver, receiver)
    expect(await company.admin.delete(at))


async def test_a_disabled_account_keeps_what_it_holds_and_the_response_says_how_much(company: Company) -> None:
    leaver, idle = await company.person(), await company.person()
    await customer(leaver)
    told = [
        await company.admin.patch(f"{USERS}/{id_of(person)}", {"version": 1, "status": "disabled"})
        for person in (leaver, idle)
    ]
    assert [reply.headers.get("X-Holdings") for reply in told] == ["1", None]


async def test_what_people_hold_who_were_deleted_before_is_handed_over_too(company: Company) -> None:
    leaver, receiver = await company.person(), await company.person()
    made = await customer(leaver)
    await company.database.driver.update_one("rbac_users", {"_id": id_of(leaver)}, {"$set": {"deleted": True}})
    company.database.tell("rbac_users", id_of(leaver))
    await company.hand_over(leaver, receiver)
    assert expect(await receiver.get(f"{CUSTOMERS}/{made['id']}"))["owner_id"] == id_of(receiver)


async def test_a_handover_ends_where_the_receiver_is_disabled_meanwhile(company: Company) -> None:
    leaver, receiver = await company.person(), await company.people.account((), status="disabled")
    await customer(leaver)
    items = [{"collection": "crm_customers", "field": "owner_id", "count": 0}]
    values = {"user_id": id_of(leaver), "to_user_id": receiver["id"], "items": items, "request_id": "x"}
    handover = await company.database.store(HANDOVERS).create(values)
    await run(company.running.service, handover["id"])
    shown = expect(await company.admin.get(f"{USERS}/{id_of(leaver)}/holdings"))
    assert (shown["handover"]["status"], len(shown["items"])) == ("failed", 1)
    assert shown["handover"]["failures"][0]["message"] == "接收人已停用或删除"
