"""A plugin that is not enabled any more: what its records hold is kept, until `tradewind plugin purge` removes them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from handlers.data.database import COUNTERS, LEASES
from handlers.operations.operation_log import OPERATION_LOGS
from plugins.api import (
    Collection,
    Dictionary,
    Extends,
    Job,
    Menu,
    Message,
    Option,
    Plugin,
    Service,
    crud,
    integer,
    object_id,
    record_name,
    text,
)
from plugins.api.records import Item
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.commands.diagnosis.database import check_database
from plugins.crm.api import CUSTOMERS as OF_CRM
from plugins.testing import SECRET, Client, People, empty_database, eventually, expect, serving
from tests.api.files.samples import attach, note
from tests.support.commands import run_command

pytestmark = pytest.mark.gen_test(timeout=60)
SHOPS, GIFTS, CUSTOMERS = "/api/v1/acme/shops", "/api/v1/gift/gifts", "/api/v1/crm/customers"
ENABLED = ("auth", "crm", "files")
SHOP = Collection(
    name="acme_shops",
    title="Shop",
    noun=Message("店铺", "shop"),
    ids="integer",
    fields={
        "name": record_name(label=("名称", "Name")),
        "customer_id": object_id(label=("客户", "Customer"), ref="crm_customers"),
    },
)
GIFT = Collection(
    name="gift_gifts",
    title="Gift",
    noun=Message("赠品", "gift"),
    fields={
        "name": record_name(label=("名称", "Name")),
        "shop_id": integer(label=("店铺", "Shop"), ref="acme_shops", ref_optional=True),
    },
)


async def work(service: Service) -> None:
    """A job that does nothing."""


ACME = Plugin(
    name="acme",
    title=Message("店铺", "Shops"),
    requires=("crm",),
    collections=(SHOP,),
    routes=crud(SHOP, at=SHOPS, resource="acme:shop"),
    menus=(Menu("acme", Message("店铺", "Shops"), path="/acme", resource="acme:shop"),),
    dictionaries=(Dictionary("acme_kind", Message("种类", "Kind"), (Item("a", Message("甲", "A")),)),),
    options=(Option("acme_colour", text(default="red"), Message("颜色", "Colour")),),
    jobs=(Job("acme.sweep", 60, work),),
    biz_types={"SHOP": SHOP},
    extends=(Extends(OF_CRM, {"x_shelf": text(label=("货架", "Shelf"), filter=True)}),),
)
GIFTED = Plugin(
    name="gift",
    title=Message("赠品", "Gifts"),
    collections=(GIFT,),
    routes=crud(GIFT, at=GIFTS, resource="gift:gift"),
    menus=(Menu("gift", Message("赠品", "Gifts"), path="/gift", resource="gift:gift"),),
)


class Place:
    """A database, on which servers run one after another, with further plugins or without."""

    def __init__(self, uri: str, name: str, folder: Path) -> None:
        self._at = {"mongodb_uri": uri, "mongodb_database": name, "data_dir": str(folder)}
        self._uri, self._folder = uri, folder

    @asynccontextmanager
    async def served(self, *further: Plugin) -> AsyncIterator[tuple[Running, Client]]:
        plugins = [*load_plugins(ENABLED), *further]
        async with serving(self._uri, self._folder, plugins, mongodb_database=self._at["mongodb_database"]) as server:
            yield server, await Client(server.url).log_in("admin")

    async def purge(self, *arguments: str) -> tuple[int, str, str]:
        """The command without these plugins: exit code, output, errors."""
        enabled = ",".join(ENABLED)
        done = await run_command(
            "plugins.commands.__main__", "plugin", "purge", *arguments, **self._at, jwt_secret=SECRET, plugins=enabled
        )
        return done.code, done.output, done.errors


@pytest.fixture
def place(io_loop: IOLoop, mongodb_uri: str, tmp_path: Path) -> Iterator[Place]:
    block = empty_database(mongodb_uri)
    yield Place(mongodb_uri, io_loop.run_sync(block.__aenter__), tmp_path)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def shop_of_a_customer(admin: Client) -> Mapping[str, str]:
    customer = expect(await admin.post(CUSTOMERS, {"name": "Held", "x_shelf": "A7"}))["id"]
    return {"customer": customer, "shop": expect(await admin.post(SHOPS, {"name": "S", "customer_id": customer}))["id"]}


async def test_what_its_records_hold_cannot_be_deleted_until_it_is_back(place: Place) -> None:
    async with place.served(ACME) as (_, admin):
        made = await shop_of_a_customer(admin)
    async with place.served() as (server, admin):
        told = [one.advice async for one in check_database(server.service.database) if one.subject == "acme_shops"]
        assert ["of the plugin acme, which is not enabled" in advice for advice in told] == [True]
        refused = await admin.delete(f"{CUSTOMERS}/{made['customer']}")
        expect(refused, 40901)
        assert "acme" in refused.json["msg"]
        assert "x_shelf" not in expect(await admin.get(f"{CUSTOMERS}/{made['customer']}"))
        assert refused.data["held_by"] == [{"collection": "acme_shops", "count": 1}]
        free = expect(await admin.post(CUSTOMERS, {"name": "Free"}))["id"]
        expect(await admin.delete(f"{CUSTOMERS}/{free}"))
    async with place.served(ACME) as (_, admin):
        assert expect(await admin.get(f"{CUSTOMERS}?x_shelf=A7"))["items"][0]["id"] == made["customer"]
        expect(await admin.delete(f"{SHOPS}/{made['shop']}"))
    async with place.served() as (_, admin):
        expect(await admin.delete(f"{CUSTOMERS}/{made['customer']}"))


async def test_a_purge_says_what_there_is_and_then_removes_it(place: Place) -> None:
    async with place.served(ACME) as (server, admin):
        made = await shop_of_a_customer(admin)
        role = await People(admin).role(["acme:shop:list", "acme:shop:create", "crm:customer:list"])
        expect(await admin.patch("/api/v1/system/configs", {"values": {"acme_colour": "blue", "site_name": "Ours"}}))

        async def swept() -> bool:
            return bool(await server.service.database.driver.find(LEASES, {"_id": "job:acme.sweep"}))

        await eventually(swept)
    code, output, errors = await place.purge("acme", "--json")
    counts = {what: count for what, count in json.loads(output)["counts"].items() if count}
    assert (code, errors) == (1, "plugin: nothing was removed; --yes removes all of this for good\n")
    assert counts == {
        "acme_shops": 1,
        "records of others with values in its fields": 1,
        "menus and buttons, with what roles may do": 6,
        "dictionaries": 1,
        "settings": 1,
        "jobs": 1,
        "counters": 1,
    }
    assert (await place.purge("acme", "--json"))[1] == output
    async with place.served() as (server, admin):
        before = expect(await admin.get(f"/api/v1/system/roles/{role}"))["menu_ids"]
        assert (await place.purge("acme", "--yes"))[0] == 0
        driver = server.service.database.driver
        (entry,) = await server.service.database.store(OPERATION_LOGS).find({"path": "tradewind plugin purge acme"})
        assert entry["body"]["removed"] == counts
        assert [row["_id"] for row in await driver.find(COUNTERS, {}) if row["_id"].startswith("acme")] == []
        after = expect(await admin.get(f"/api/v1/system/roles/{role}"))["menu_ids"]
        assert len(after) == len(before) - 2
        assert expect(await admin.get("/api/v1/system/dictionaries?types=acme_kind"))["items"] == []
        assert expect(await admin.get("/api/v1/system/configs/site_name"))["value"] == "Ours"
        customer = await driver.find("crm_customers", {"name": "Held"})
        assert ["x_shelf" in one for one in customer] == [False]
        expect(await admin.delete(f"{CUSTOMERS}/{made['customer']}"))
    assert (await place.purge("acme"))[2].startswith("plugin: no start has noted a plugin acme; ")
    async with place.served(ACME) as (_, admin):
        assert expect(await admin.get(SHOPS))["total"] == 0
        assert expect(await admin.get("/api/v1/system/configs/acme_colour"))["value"] == "red"


async def test_a_purge_is_refused_while_others_need_the_plugin_or_its_records(place: Place) -> None:
    async with place.served(ACME, replace(GIFTED, requires=("acme",))) as (_, admin):
        shop = (await shop_of_a_customer(admin))["shop"]
        gift = expect(await admin.post(GIFTS, {"name": "G", "shop_id": shop}))["id"]
        expect(await attach(admin, {"id": shop}, await note(admin), "SHOP"))
    assert await place.purge("crm", "--yes") == (
        1,
        "",
        "plugin: crm is enabled: take it out of TRADEWIND_PLUGINS and restart every instance first\n",
    )
    assert (await place.purge("acme", "--yes"))[2] == "plugin: gift requires acme: purge that plugin first\n"
    async with place.served(GIFTED) as (_, admin):
        refused = await place.purge("acme", "--yes")
        assert refused[2] == (
            "plugin: records of others refer to those of acme: gift_gifts.shop_id: 1, files_attachments (about them): 1\n"
        )
        expect(await admin.delete(f"{GIFTS}/{gift}"))
    wrong = await place.purge("acme", "--also", "file_attachments", "--yes")
    assert wrong[2] == "plugin: no other plugin keeps anything about records of acme in file_attachments\n"
    code, output, errors = await place.purge("acme", "--also", "files_attachments", "--yes", "--json")
    assert (code, errors, json.loads(output)["counts"]["files_attachments about them"]) == (0, "", 1)
