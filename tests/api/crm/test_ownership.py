"""Who sees a customer and its records: transfer, collaborators, the pool."""

import asyncio
from datetime import timedelta

import pytest
from bson import ObjectId

from handlers.data.database import utc_now
from plugins.boot.runtime import Running
from plugins.crm.migrations import MIGRATIONS
from plugins.crm.pool import CLAIM_LIMIT_KEY, RETURN_DAYS_KEY, return_neglected
from plugins.crm.records import CUSTOMERS as CUSTOMER_RECORDS
from plugins.testing import Client, People, expect
from tests.api.crm.sales import (
    CONTACTS,
    CONTRACTS,
    CUSTOMERS,
    FOLLOW_UPS,
    LEADS,
    OPPORTUNITIES,
    PAYMENTS,
    PLANS,
    Record,
    contract,
    customer,
    in_force,
    sees,
    seller,
)

pytestmark = pytest.mark.gen_test(timeout=40)
USERS = "/api/v1/system/users"


async def below(client: Client, of: Record) -> dict[str, Record]:
    """Create one record of every kind for a customer, by the path of the kind."""
    contract = await in_force(client, customer_id=of["id"])
    bodies: dict[str, Record] = {
        CONTACTS: {"customer_id": of["id"], "name": "王芳"},
        OPPORTUNITIES: {"customer_id": of["id"], "name": "年度采购"},
        FOLLOW_UPS: {"customer_id": of["id"], "content": "电话"},
        PLANS: {"contract_id": contract["id"], "amount": "1.00", "due_date": "2099-01-01"},
        PAYMENTS: {"contract_id": contract["id"], "amount": "1.00"},
    }
    return {CONTRACTS: contract, **{path: expect(await client.post(path, body)) for path, body in bodies.items()}}


async def seen(client: Client, of: Record, records: dict[str, Record]) -> set[bool]:
    """Whether this person sees the customer and each record."""
    at = {CUSTOMERS: of, **records}
    return {await sees(client, path, record["id"]) for path, record in at.items()}


async def share(client: Client, of: Record, *collaborators: tuple[Client, str]) -> Record:
    given = [{"user_id": one.user["userId"], "access": access} for one, access in collaborators]
    shared: Record = expect(await client.put(f"{CUSTOMERS}/{of['id']}/collaborators", {"collaborators": given}))
    return shared


async def set_option(admin: Client, key: str, value: int) -> None:
    expect(await admin.patch("/api/v1/system/configs", {"values": {key: value}}))


# -- transfer


async def test_a_transfer_moves_the_records_of_the_customer(admin: Client, people: People) -> None:
    new, other = await seller(people), await seller(people)
    of = await customer(admin)
    records = await below(admin, of)
    assert await seen(new, of, records) == {False}
    expect(await admin.post(f"{CUSTOMERS}/{of['id']}/transfer", {"owner_id": new.user["userId"]}))
    assert await seen(new, of, records) == {True}
    owners = {path: expect(await new.get(f"{path}/{record['id']}"))["owner_id"] for path, record in records.items()}
    assert owners == dict.fromkeys(records, new.user["userId"])
    expect(await admin.post(f"{CUSTOMERS}/{of['id']}/transfer", {"owner_id": other.user["userId"]}))
    assert (await seen(new, of, records), await seen(other, of, records)) == ({False}, {True})


async def test_past_sales_stay_with_who_made_them_when_the_customer_gets_another_owner(
    admin: Client, people: People, tradewind: Running
) -> None:
    before, after = await seller(people), await seller(people)
    days = "date_from=2014-05-01&date_to=2014-05-31"
    sold = await in_force(admin, "300.00", signed_date="2014-05-04", owner_id=before.user["userId"])

    async def pay(client: Client, amount: str) -> Record:
        body = {"contract_id": sold["id"], "amount": amount, "paid_at": "2014-05-12T08:00:00Z"}
        made: Record = expect(await client.post(PAYMENTS, body))
        return made

    async def rank(by: str) -> dict[int, tuple[str, int]]:
        """Amount and count of both, and of what is behind them."""
        at = f"/api/dashboard/sales-ranking{{}}?{days}&limit=100&by={by}"
        rows = expect(await admin.get(at.format("")))["items"]
        ours = {row["user_id"]: (row["amount"], row["count"]) for row in rows}
        for person, (amount, _) in ours.items():
            behind = expect(await admin.get(f"{at.format('/rows')}&cell=items.{person}.amount"))
            assert behind["value"] == amount
        return {person: ours[person] for person in (before.user["userId"], after.user["userId"]) if person in ours}

    paid = await pay(before, "100.00")
    expect(await admin.post(f"{CUSTOMERS}/{sold['customer_id']}/transfer", {"owner_id": after.user["userId"]}))
    was = {before.user["userId"]: ("100.00", 1)}
    assert await rank("payments") == was
    assert await rank("contracts") == {before.user["userId"]: ("300.00", 1)}
    await pay(after, "50.00")
    assert await rank("payments") == {**was, after.user["userId"]: ("50.00", 1)}
    expect(await after.post(f"{PAYMENTS}/{paid['id']}/reverse", {"day": "2014-05-20"}))
    assert (await rank("payments"))[before.user["userId"]] == ("0.00", 0)
    expect(await admin.post(f"{CONTRACTS}/{sold['id']}/terminate", {"reason": "over"}))


async def test_payments_of_an_earlier_version_are_ranked_by_owner_and_keep_them_from_the_migration_on(
    admin: Client, people: People, tradewind: Running
) -> None:
    before, after = await seller(people), await seller(people)
    sold, stored = await in_force(admin, owner_id=before.user["userId"]), tradewind.service.database.driver
    body = {"contract_id": sold["id"], "amount": "1.00", "paid_at": "2013-09-12T08:00:00Z"}
    paid = expect(await before.post(PAYMENTS, body))
    for name, record in (("crm_payments", paid), ("crm_contracts", sold)):
        await stored.update_one(name, {"_id": ObjectId(record["id"])}, {"$unset": {"salesperson_id": ""}})
    at = "/api/dashboard/sales-ranking?date_from=2013-09-12&date_to=2013-09-12"
    assert [row["user_id"] for row in expect(await admin.get(at))["items"]] == [before.user["userId"]]
    for stage in MIGRATIONS[0].stages(tradewind.service):
        id = ObjectId((paid if stage.collection.name == "crm_payments" else sold)["id"])
        assert await stage.change(await stored.find(stage.collection.name, {"_id": id})) == 1
    expect(await admin.post(f"{CUSTOMERS}/{sold['customer_id']}/transfer", {"owner_id": after.user["userId"]}))
    for path, record in ((PAYMENTS, paid), (CONTRACTS, sold)):
        assert expect(await admin.get(f"{path}/{record['id']}"))["salesperson_id"] == before.user["userId"]
    expect(await admin.delete(f"{PAYMENTS}/{paid['id']}"))


async def test_the_owner_of_the_customer_sees_later_records(admin: Client, people: People) -> None:
    owner = await seller(people)
    of = await customer(admin, owner_id=owner.user["userId"])
    assert await seen(owner, of, await below(admin, of)) == {True}


async def test_an_owner_gives_a_customer_to_somebody_they_cannot_see(people: People) -> None:
    owner, new = await seller(people), await seller(people)
    of = await customer(owner)
    expect(await owner.post(f"{CUSTOMERS}/{of['id']}/transfer", {"owner_id": new.user["userId"]}))
    assert await sees(new, CUSTOMERS, of["id"])


async def test_previous_owners_no_longer_see_records_of_a_transferred_customer(admin: Client, people: People) -> None:
    had, new = await seller(people), await seller(people)
    of = await customer(admin)
    body = {"customer_id": of["id"], "name": "年度采购", "owner_id": had.user["userId"]}
    opportunity = expect(await admin.post(OPPORTUNITIES, body))
    assert await sees(had, OPPORTUNITIES, opportunity["id"])
    expect(await admin.post(f"{CUSTOMERS}/{of['id']}/transfer", {"owner_id": new.user["userId"]}))
    assert [await sees(one, OPPORTUNITIES, opportunity["id"]) for one in (had, new)] == [False, True]


async def test_changing_the_owner_requires_the_permission_to_transfer(admin: Client, people: People) -> None:
    clerk = await people.person(["crm:customer:update", "crm:customer:read"], "all")
    of = await customer(admin)
    at, version = f"{CUSTOMERS}/{of['id']}", {"version": of["version"]}
    for owner_id in (clerk.user["userId"], None):
        expect(await clerk.patch(at, {**version, "owner_id": owner_id}), 40300)
    # a form that sends the unchanged owner back is no transfer
    renamed = expect(await clerk.patch(at, {**version, "owner_id": of["owner_id"], "name": "晨光"}))
    assert (renamed["name"], renamed["owner_id"]) == ("晨光", of["owner_id"])
    # a form from before another change of the owner is stale
    given = expect(await admin.patch(at, {"version": renamed["version"], "owner_id": clerk.user["userId"]}))
    expect(await clerk.patch(at, {"version": renamed["version"], "owner_id": of["owner_id"], "name": "late"}), 40902)
    assert expect(await admin.get(at)) == given


async def test_the_permission_to_transfer_is_enough_to_name_an_owner(admin: Client, people: People) -> None:
    head = await people.person(["crm:customer:update", "crm:customer:read", "crm:customer:transfer"], "all")
    of = await customer(admin)
    at = f"{CUSTOMERS}/{of['id']}"
    given = expect(await head.patch(at, {"version": of["version"], "owner_id": head.user["userId"]}))
    assert given["owner_id"] == head.user["userId"]
    expect(await head.patch(at, {"version": given["version"], "owner_id": None}), 40300)


async def test_a_disabled_account_cannot_become_owner(admin: Client, people: People) -> None:
    gone, of = await seller(people), await customer(admin)
    user = expect(await admin.get(f"{USERS}/{gone.user['userId']}"))
    expect(await admin.patch(f"{USERS}/{user['id']}", {"version": user["version"], "status": "disabled"}))
    lead = expect(await admin.post(LEADS, {"name": "刘洋"}))
    owner = {"owner_id": user["id"]}
    refused = [
        await admin.post(CUSTOMERS, {"name": "x", **owner}),
        await admin.patch(f"{CUSTOMERS}/{of['id']}", {"version": of["version"], **owner}),
        await admin.patch(f"{LEADS}/{lead['id']}", {"version": lead["version"], **owner}),
        await admin.post(OPPORTUNITIES, {"customer_id": of["id"], "name": "x", **owner}),
    ]
    assert [(reply.code, reply.fields) for reply in refused] == [(40001, {"owner_id"})] * 4


async def test_several_customers_are_transferred_all_or_none(admin: Client, people: People) -> None:
    first, second, new = await seller(people), await seller(people), await seller(people)
    mine, also, foreign = await customer(first), await customer(first), await customer(second)
    owner = {"owner_id": new.user["userId"]}
    ids = [mine["id"], also["id"]]
    reply = await first.post(f"{CUSTOMERS}/transfer", {"customer_ids": [*ids, foreign["id"]], **owner})
    expect(reply, 40001)
    assert reply.fields == {"customer_ids[2]"}
    assert not await sees(new, CUSTOMERS, mine["id"])
    assert expect(await first.post(f"{CUSTOMERS}/transfer", {"customer_ids": ids, **owner})) == {"transferred": 2}
    assert [await sees(new, CUSTOMERS, id) for id in ids] == [True, True]


# -- collaborators


async def test_a_collaborator_with_read_access_sees_all_records_and_changes_none(admin: Client, people: People) -> None:
    reader = await seller(people)
    of = await customer(admin)
    records = await below(admin, of)
    shared = await share(admin, of, (reader, "read"))
    assert await seen(reader, of, records) == {True}
    expect(await reader.patch(f"{CUSTOMERS}/{of['id']}", {"version": shared["version"], "name": "x"}), 40300)
    expect(await reader.post(f"{CUSTOMERS}/{of['id']}/release"), 40300)
    expect(await reader.post(CONTACTS, {"customer_id": of["id"], "name": "x"}), 40300)
    for path, record in records.items():
        expect(await reader.delete(f"{path}/{record['id']}"), 40300)


async def test_a_collaborator_with_write_access_changes_and_adds_records(admin: Client, people: People) -> None:
    writer = await seller(people)
    of = await customer(admin)
    contact = expect(await admin.post(CONTACTS, {"customer_id": of["id"], "name": "王芳"}))
    await share(admin, of, (writer, "write"))
    expect(await writer.patch(f"{CONTACTS}/{contact['id']}", {"version": 2, "name": "王小芳"}))
    expect(await writer.post(CONTACTS, {"customer_id": of["id"], "name": "李雷"}))


async def test_a_removed_collaborator_no_longer_sees_the_customer(admin: Client, people: People) -> None:
    gone, demoted = await seller(people), await seller(people)
    of = await customer(admin)
    records = await below(admin, of)
    await share(admin, of, (gone, "write"), (demoted, "write"))
    await share(admin, of, (demoted, "read"))
    assert (await seen(gone, of, records), await seen(demoted, of, records)) == ({False}, {True})
    expect(await demoted.delete(f"{CONTACTS}/{records[CONTACTS]['id']}"), 40300)


async def test_an_unknown_account_cannot_collaborate(admin: Client) -> None:
    of = await customer(admin)
    body = {"collaborators": [{"user_id": 999_999, "access": "read"}]}
    reply = await admin.put(f"{CUSTOMERS}/{of['id']}/collaborators", body)
    expect(reply, 40001)
    assert reply.fields == {"collaborators[0].user_id"}


# -- the pool


async def test_of_fifty_concurrent_claims_one_succeeds(admin: Client, people: People) -> None:
    rivals = [await seller(people) for _ in range(5)]
    of = await customer(admin, owner_id=None)
    attempts = [rivals[n % 5].post(f"{CUSTOMERS}/{of['id']}/claim") for n in range(50)]
    replies = await asyncio.gather(*attempts)
    assert sorted(reply.code for reply in replies) == [0] + [40901] * 49
    winner = next(reply.data["owner_id"] for reply in replies if reply.code == 0)
    assert expect(await admin.get(f"{CUSTOMERS}/{of['id']}"))["owner_id"] == winner


async def test_a_released_customer_is_invisible_until_it_is_claimed(admin: Client, people: People) -> None:
    first, second = await seller(people), await seller(people)
    of = await customer(admin, owner_id=first.user["userId"])
    records = await below(admin, of)
    expect(await first.post(f"{CUSTOMERS}/{of['id']}/release"))
    # the owner of a contract goes on looking after it, and after its plans and payments
    kept = {path: records.pop(path) for path in (CONTRACTS, PLANS, PAYMENTS)}
    assert await seen(first, of, records) == {False}
    assert [await sees(first, path, record["id"]) for path, record in kept.items()] == [True] * 3
    expect(await second.post(f"{CUSTOMERS}/{of['id']}/claim"))
    assert await seen(second, of, {**records, **kept}) == {True}
    assert await seen(first, of, {**records, **kept}) == {False}


async def test_former_collaborators_see_no_records_of_a_released_customer(admin: Client, people: People) -> None:
    collaborator, owner = await seller(people), await seller(people)
    of = await customer(admin, owner_id=owner.user["userId"])
    records = await below(admin, of)
    await share(admin, of, (collaborator, "write"))
    assert await seen(collaborator, of, records) == {True}
    expect(await owner.post(f"{CUSTOMERS}/{of['id']}/release"))
    assert await seen(collaborator, of, records) == {False}


async def test_a_claim_takes_over_the_contracts_of_the_previous_owner(admin: Client, people: People) -> None:
    before, now = await seller(people), await seller(people)
    of = await customer(admin, owner_id=before.user["userId"])
    made = await contract(admin, customer_id=of["id"], owner_id=before.user["userId"])
    expect(await before.post(f"{CUSTOMERS}/{of['id']}/release"))
    assert await sees(before, CONTRACTS, made["id"])
    expect(await now.post(f"{CUSTOMERS}/{of['id']}/claim"))
    assert [await sees(one, CONTRACTS, made["id"]) for one in (before, now)] == [False, True]


async def test_concurrent_claims_do_not_exceed_the_limit(admin: Client, people: People) -> None:
    greedy = await seller(people)
    pool = [await customer(admin, owner_id=None) for _ in range(6)]
    await set_option(admin, CLAIM_LIMIT_KEY, 2)
    try:
        replies = await asyncio.gather(*(greedy.post(f"{CUSTOMERS}/{one['id']}/claim") for one in pool))
    finally:
        await set_option(admin, CLAIM_LIMIT_KEY, 200)
    assert sorted(reply.code for reply in replies) == [0, 0, *[40901] * 4]


async def test_customers_that_nobody_follows_up_return_to_the_pool(admin: Client, tradewind: Running) -> None:
    service = tradewind.service
    neglected, followed = await customer(admin), await customer(admin)
    expect(await admin.post(FOLLOW_UPS, {"customer_id": followed["id"], "content": "电话"}))
    store = service.database.store(CUSTOMER_RECORDS)
    keys = [CUSTOMER_RECORDS.parse_id(one["id"]) for one in (neglected, followed)]
    await store.update_many({"_id": {"$in": keys}}, {"$set": {"owned_since": utc_now() - timedelta(days=31)}})
    await set_option(admin, RETURN_DAYS_KEY, 30)
    try:
        await return_neglected(service)
    finally:
        await set_option(admin, RETURN_DAYS_KEY, 0)
    owners = [expect(await admin.get(f"{CUSTOMERS}/{one['id']}"))["owner_id"] for one in (neglected, followed)]
    assert owners == [None, admin.user["userId"]]


# -- deletion and duplicates


async def test_a_customer_with_opportunities_cannot_be_deleted(admin: Client) -> None:
    of = await customer(admin)
    expect(await admin.post(OPPORTUNITIES, {"customer_id": of["id"], "name": "x"}))
    expect(await admin.delete(f"{CUSTOMERS}/{of['id']}"), 40901)


async def test_contacts_are_deleted_with_their_customer(admin: Client) -> None:
    of = await customer(admin)
    contact = expect(await admin.post(CONTACTS, {"customer_id": of["id"], "name": "王芳"}))
    expect(await admin.delete(f"{CUSTOMERS}/{of['id']}"))
    expect(await admin.get(f"{CONTACTS}/{contact['id']}"), 40400)
