"""Settings that administrators change while the service runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plugins.api import Message, Option, Plugin, array, choice, integer, money, text
from plugins.registry import load_plugins
from plugins.runtime import Running
from plugins.system.api import Configs
from plugins.testing import Client, People, eventually, expect, serving

pytestmark = pytest.mark.gen_test(timeout=30)
CONFIGS = "/api/v1/system/configs"
PUBLIC = "/api/configs/public"
ALL = f"{CONFIGS}?page_size=200"

ACME = Plugin(
    name="acme",
    title=Message("协议", "Agreements"),
    requires=("system",),
    options=(
        Option("acme_pool_days", integer(minimum=1, maximum=365, default=30), Message("公海天数", "Days in the pool")),
        Option("acme_limit", money(minimum="0", default="10.50"), Message("限额", "Limit")),
        Option("acme_colours", array(choice("red", "blue"), default=["red"]), Message("颜色", "Colours"), public=True),
        Option("acme_note", text(max_length=20), Message("备注", "Note")),
    ),
)


@asynccontextmanager
async def with_acme(uri: str, folder: Path, **settings: Any) -> AsyncIterator[tuple[Running, Client]]:
    """A server of one's own whose plugin acme declares options, and its administrator."""
    async with serving(uri, folder, [*load_plugins(()), ACME], **settings) as running:
        yield running, await Client(running.url).log_in("admin")


async def value_of(client: Client, key: str) -> Any:
    return next(row["value"] for row in expect(await client.get(ALL))["items"] if row["key"] == key)


async def test_every_setting_is_listed_with_its_value_and_what_it_is(admin: Client) -> None:
    rows = {row["key"]: row for row in expect(await admin.get(ALL, headers={"Accept-Language": "en"}))["items"]}
    assert rows["icp_number"] == {
        "key": "icp_number", "value": None, "public": True, "description": "ICP filing number", "version": 1,
        "schema": {"type": ["string", "null"], "maxLength": 100},
    }  # fmt: skip


async def test_a_changed_setting_is_public_at_once_and_its_version_grows(mongodb_uri: str, tmp_path: Path) -> None:
    async with with_acme(mongodb_uri, tmp_path) as (running, admin):
        (changed,) = expect(await admin.patch(CONFIGS, {"values": {"site_name": "晨光平台"}}))
        assert (changed["value"], changed["version"]) == ("晨光平台", 2)
        assert expect(await Client(running.url).get(PUBLIC))["site_name"] == "晨光平台"


async def test_anybody_reads_the_public_settings_and_no_other(mongodb_uri: str, tmp_path: Path) -> None:
    async with with_acme(mongodb_uri, tmp_path) as (running, _):
        public = expect(await Client(running.url).get(PUBLIC))
        assert public["acme_colours"] == ["red"]
        assert public["time_zone"] == "Asia/Shanghai"
        assert "acme_pool_days" not in public


async def test_public_settings_that_did_not_change_are_answered_304(anonymous: Client) -> None:
    first = await anonymous.get(PUBLIC)
    again = await anonymous.get(PUBLIC, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status == 304


async def test_a_plugin_reads_its_own_option_in_the_type_that_it_declared(mongodb_uri: str, tmp_path: Path) -> None:
    async with with_acme(mongodb_uri, tmp_path) as (running, admin):
        expect(await admin.patch(CONFIGS, {"values": {"acme_pool_days": 7, "acme_limit": "3"}}))
        configs = running.service.part(Configs)
        assert await configs.value("acme_pool_days") == 7
        assert str(await configs.value("acme_limit")) == "3.00"


async def test_a_default_is_in_force_until_somebody_sets_a_value(mongodb_uri: str, tmp_path: Path) -> None:
    async with with_acme(mongodb_uri, tmp_path) as (_, admin):
        assert await value_of(admin, "acme_limit") == "10.50"


async def test_every_wrong_value_is_named_and_nothing_is_changed(mongodb_uri: str, tmp_path: Path) -> None:
    async with with_acme(mongodb_uri, tmp_path) as (_, admin):
        values = {
            "site_name": "changed", "nonsense": 1, "acme_pool_days": "many", "acme_limit": "1.234",
            "acme_colours": ["red", "green"], "acme_note": "x" * 21,
        }  # fmt: skip
        reply = await admin.patch(CONFIGS, {"values": values})
        assert reply.code == 40001
        assert reply.fields == {
            "values.nonsense", "values.acme_pool_days", "values.acme_limit", "values.acme_colours[1]", "values.acme_note",
        }  # fmt: skip
        assert await value_of(admin, "site_name") == "Tradewind"


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


async def test_a_change_is_in_force_on_another_instance_within_two_seconds(mongodb_uri: str, tmp_path: Path) -> None:
    shared = {"mongodb_database": f"test_configs_{tmp_path.name[-20:]}"}
    async with (
        with_acme(mongodb_uri, tmp_path, **shared) as (_, admin),
        with_acme(mongodb_uri, tmp_path, **shared) as (other, _),
    ):
        elsewhere = Client(other.url)
        assert expect(await elsewhere.get(PUBLIC))["site_name"] == "Tradewind"
        expect(await admin.patch(CONFIGS, {"values": {"site_name": "both"}}))

        async def told() -> bool:
            return bool(expect(await elsewhere.get(PUBLIC))["site_name"] == "both")

        await eventually(told, seconds=2)


async def test_a_value_survives_a_restart_and_an_untouched_one_follows_the_code(
    mongodb_uri: str, tmp_path: Path
) -> None:
    shared = {"mongodb_database": f"test_restart_{tmp_path.name[-20:]}"}
    async with with_acme(mongodb_uri, tmp_path, **shared) as (_, admin):
        expect(await admin.patch(CONFIGS, {"values": {"acme_note": "kept"}}))
    newer = Plugin(
        name="acme",
        title=ACME.title,
        requires=("system",),
        options=(
            Option("acme_note", text(max_length=20), Message("备注", "Note")),
            Option("acme_pool_days", integer(default=60), Message("公海天数", "Days in the pool")),
        ),
    )
    async with serving(mongodb_uri, tmp_path, [*load_plugins(()), newer], **shared) as running:
        configs = running.service.part(Configs)
        assert (await configs.value("acme_note"), await configs.value("acme_pool_days")) == ("kept", 60)


async def test_an_answer_repeats_only_so_much_of_a_flood_of_unknown_keys(admin: Client) -> None:
    reply = await admin.patch(CONFIGS, {"values": {f"{i}{'x' * 100}": 1 for i in range(1000)}})
    assert reply.code == 40001
    assert len(reply.data["errors"]) <= 64
    assert all(len(field) < 100 for field in reply.fields)
