"""Settings that administrators change while the service runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.api import Message, Option, Plugin, array, choice, integer, money, text
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.system.api import Configs
from plugins.testing import Client, People, eventually, expect, serving, unique
from tests.support.servers import KEYS

pytestmark = pytest.mark.gen_test(timeout=30)
CONFIGS = "/api/v1/system/configs"
PUBLIC = "/api/configs/public"
ALL = f"{CONFIGS}?page_size=200"
SYSTEM = load_plugins(("auth", "rbac", "system"))

ACME = Plugin(
    name="acme",
    title=Message("协议", "Agreements"),
    requires=("system",),
    options=(
        Option("acme_pool_days", integer(minimum=1, maximum=365, default=30), Message("公海天数", "Days in the pool")),
        Option("acme_weeks", integer(minimum=1, default=2), Message("周数", "Weeks")),
        Option("acme_limit", money(minimum="0"), Message("限额", "Limit")),
        Option("acme_discount", money(minimum="0", default="10.50"), Message("折扣", "Discount")),
        Option("acme_colours", array(choice("red", "blue"), default=["red"]), Message("颜色", "Colours"), public=True),
        Option("acme_note", text(max_length=20), Message("备注", "Note")),
    ),
)


@dataclass
class Pair:
    """Two instances on one database, whose plugin acme declares options, and the administrator of the first."""

    here: Running
    there: Running
    admin: Client


@pytest.fixture(scope="module")
def pair(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The servers of this file; a test that needs a value unset takes one that no other sets."""
    database = unique("test").replace("-", "_")
    blocks = [
        serving(
            mongodb_uri,
            tmp_path_factory.mktemp("acme"),
            [*SYSTEM, ACME],
            mongodb_database=database,
            demo=False,
            jwt_secret=KEYS[0],
        )
        for _ in range(2)
    ]
    here, there = [io_loop.run_sync(block.__aenter__) for block in blocks]
    yield Pair(here, there, io_loop.run_sync(lambda: Client(here.url).log_in("admin")))
    for block in blocks:
        io_loop.run_sync(lambda block=block: block.__aexit__(None, None, None))  # type: ignore[misc]


async def value_of(client: Client, key: str) -> Any:
    return next(row["value"] for row in expect(await client.get(ALL))["items"] if row["key"] == key)


async def test_every_setting_is_listed_with_its_value_and_what_it_is(pair: Pair) -> None:
    rows = {row["key"]: row for row in expect(await pair.admin.get(ALL, headers={"Accept-Language": "en"}))["items"]}
    assert rows["icp_number"] == {
        "id": "icp_number",
        "key": "icp_number",
        "value": None,
        "default": None,
        "public": True,
        "super_only": False,
        "description": "ICP filing number",
        "version": 1,
        "schema": {"type": ["string", "null"], "maxLength": 100},
        "labels": {},
    }


@pytest.mark.parametrize("query", ["page=501", "page=51&page_size=200"])
async def test_pages_of_settings_end_where_those_of_every_list_do(query: str, pair: Pair) -> None:
    reply = await pair.admin.get(f"{CONFIGS}?{query}")
    assert (reply.code, reply.fields) == (40001, {"page"})
    expect(await pair.admin.get(f"{CONFIGS}?page=500"))


async def test_a_changed_setting_is_public_at_once_and_its_version_grows(pair: Pair) -> None:
    (changed,) = expect(await pair.admin.patch(CONFIGS, {"values": {"copyright": "晨光平台"}}))
    assert (changed["value"], changed["version"]) == ("晨光平台", 2)
    assert expect(await Client(pair.here.url).get(PUBLIC))["copyright"] == "晨光平台"


async def test_anybody_reads_the_public_settings_and_no_other(pair: Pair) -> None:
    public = expect(await Client(pair.here.url).get(PUBLIC))
    assert public["acme_colours"] == ["red"]
    assert public["time_zone"] == "Asia/Shanghai"
    assert "acme_pool_days" not in public


async def test_public_settings_that_did_not_change_get_304(anonymous: Client) -> None:
    first = await anonymous.get(PUBLIC)
    again = await anonymous.get(PUBLIC, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status == 304


async def test_a_plugin_reads_its_own_option_in_the_type_that_it_declared(pair: Pair) -> None:
    expect(await pair.admin.patch(CONFIGS, {"values": {"acme_weeks": 7, "acme_limit": "3"}}))
    configs = pair.here.service.part(Configs)
    assert await configs.value("acme_weeks") == 7
    assert str(await configs.value("acme_limit")) == "3.00"


async def test_a_default_is_in_force_until_somebody_sets_a_value(pair: Pair) -> None:
    assert await value_of(pair.admin, "acme_discount") == "10.50"


async def test_every_wrong_value_is_named_and_nothing_is_changed(pair: Pair) -> None:
    values = {
        "site_description": "changed",
        "nonsense": 1,
        "acme_pool_days": "many",
        "acme_limit": "1.234",
        "acme_colours": ["red", "green"],
        "acme_note": "x" * 21,
    }
    reply = await pair.admin.patch(CONFIGS, {"values": values})
    assert reply.code == 40001
    assert reply.fields == {
        "values.nonsense",
        "values.acme_pool_days",
        "values.acme_limit",
        "values.acme_colours[1]",
        "values.acme_note",
    }
    assert await value_of(pair.admin, "site_description") is None


@pytest.mark.parametrize("values", [None, [], "site_name", 1])
async def test_values_must_be_an_object(admin: Client, values: Any) -> None:
    reply = await admin.patch(CONFIGS, {"values": values})
    assert (reply.code, reply.fields) == (40001, {"values"})


async def test_a_setting_that_may_not_be_empty_is_not_cleared(admin: Client) -> None:
    assert (await admin.patch(CONFIGS, {"values": {"site_name": None}})).fields == {"values.site_name"}


async def test_reading_and_changing_settings_need_their_permissions(people: People) -> None:
    reader = await people.person(["system:config:list"])
    expect(await reader.get(CONFIGS))
    expect(await reader.patch(CONFIGS, {"values": {}}), 40300)
    expect(await (await people.person()).get(CONFIGS), 40300)


async def test_a_change_is_in_force_on_another_instance_within_two_seconds(pair: Pair) -> None:
    elsewhere = Client(pair.there.url)
    assert expect(await elsewhere.get(PUBLIC))["site_name"] == "Tradewind"
    expect(await pair.admin.patch(CONFIGS, {"values": {"site_name": "both"}}))

    async def told() -> bool:
        return bool(expect(await elsewhere.get(PUBLIC))["site_name"] == "both")

    await eventually(told, seconds=2)


async def test_a_value_survives_a_restart_and_an_untouched_one_follows_the_code(
    pair: Pair, mongodb_uri: str, tmp_path: Path
) -> None:
    expect(await pair.admin.patch(CONFIGS, {"values": {"acme_note": "kept"}}))
    newer = Plugin(
        name="acme",
        title=ACME.title,
        requires=("system",),
        options=(
            Option("acme_note", text(max_length=20), Message("备注", "Note")),
            Option("acme_pool_days", integer(default=60), Message("公海天数", "Days in the pool")),
        ),
    )
    database = pair.here.service.settings.mongodb_database
    async with serving(
        mongodb_uri, tmp_path, [*SYSTEM, newer], mongodb_database=database, demo=False, jwt_secret=KEYS[0]
    ) as running:
        configs = running.service.part(Configs)
        assert (await configs.value("acme_note"), await configs.value("acme_pool_days")) == ("kept", 60)


async def test_a_response_repeats_only_so_much_of_a_flood_of_unknown_keys(admin: Client) -> None:
    reply = await admin.patch(CONFIGS, {"values": {f"{i}{'x' * 100}": 1 for i in range(1000)}})
    assert reply.code == 40001
    assert len(reply.data["errors"]) <= 64
    assert all(len(field) < 100 for field in reply.fields)


async def test_a_setting_that_somebody_else_changed_is_not_overwritten(admin: Client) -> None:
    async def read() -> dict[str, Any]:
        return {one["key"]: one for one in expect(await admin.get(f"{CONFIGS}?page_size=200"))["items"]}

    before = await read()
    versions = {key: before[key]["version"] for key in ("copyright", "icp_number")}
    values = {"copyright": "mine", "icp_number": "mine"}
    expect(await admin.patch(CONFIGS, {"values": {"icp_number": "theirs"}}))
    expect(await admin.patch(CONFIGS, {"values": values, "versions": versions}), 40902)
    after = await read()
    assert (after["copyright"], after["icp_number"]["value"]) == (before["copyright"], "theirs")
    fresh = {"icp_number": after["icp_number"]["version"]}
    changed = expect(await admin.patch(CONFIGS, {"values": {**values, "copyright": None}, "versions": fresh}))
    assert [one["value"] for one in changed] == [None, "mine"]
    expect(await admin.patch(CONFIGS, {"values": {"icp_number": before["icp_number"]["value"]}}))


@pytest.mark.parametrize(
    ("versions", "fields"),
    [
        ([], {"versions"}),
        ({"copyright": "1", "nothing": 1}, {"versions.copyright", "versions.nothing"}),
        ({"copyright": True}, {"versions.copyright"}),
        ({"icp_number": 1}, {"versions.icp_number"}),
    ],
)
async def test_versions_are_of_the_settings_that_are_changed(versions: Any, fields: set[str], admin: Client) -> None:
    reply = await admin.patch(CONFIGS, {"values": {"copyright": "c"}, "versions": versions})
    assert (reply.code, reply.fields) == (40001, fields)


async def test_one_setting_is_read_and_changed_by_its_key(admin: Client) -> None:
    at = f"{CONFIGS}/site_description"
    before = expect(await admin.get(at))
    assert (before["id"], before["key"]) == ("site_description", "site_description")
    changed = expect(await admin.patch(at, {"value": "a site", "version": before["version"]}))
    assert (changed["value"], changed["version"]) == ("a site", before["version"] + 1)
    expect(await admin.patch(at, {"value": "another", "version": before["version"]}), 40902)
    assert expect(await admin.get(at)) == changed


async def test_a_wrong_value_of_one_setting_is_named_as_the_body_has_it(admin: Client) -> None:
    at = f"{CONFIGS}/crm_claim_limit"
    version = expect(await admin.get(at))["version"]
    assert (await admin.patch(at, {"value": "many", "version": version})).fields == {"value"}
    number = f"{CONFIGS}/crm_contract_number"
    version = expect(await admin.get(number))["version"]
    assert (await admin.patch(number, {"value": {"gapless": 1}, "version": version})).fields == {
        "value.gapless",
        "value.format",
    }


async def test_a_setting_that_no_plugin_declares_is_not_there(admin: Client) -> None:
    expect(await admin.get(f"{CONFIGS}/nothing"), 40400)
    expect(await admin.patch(f"{CONFIGS}/nothing", {"value": 1, "version": 1}), 40400)
