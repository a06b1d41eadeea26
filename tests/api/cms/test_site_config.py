"""The site configuration: one public record."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from plugins.testing import Client, People, empty_database, expect, serving
from tests.api.cms.content import CMS, FEW, SITE

pytestmark = pytest.mark.gen_test(timeout=30)
SETTINGS = {
    "name": "site_name",
    "logo": "site_logo",
    "description": "site_description",
    "icp": "icp_number",
    "copyright": "copyright",
}


async def test_what_is_changed_is_public_at_once_and_without_internal_fields(admin: Client, anonymous: Client) -> None:
    before = expect(await admin.get(SITE))
    values = {"icp": "沪ICP备00000001号", "contact": {"email": "a@example.com", "phone": None, "address": None}}
    after = expect(await admin.patch(SITE, {"version": before["version"], **values}))
    assert after["version"] == before["version"] + 1
    public = expect(await anonymous.get(f"{CMS}/site-config"))
    assert {name: public[name] for name in values} == values
    assert not {"version", "creator_id", "id"} & set(public)


async def test_a_stale_version_changes_nothing(admin: Client) -> None:
    version = expect(await admin.get(SITE))["version"]
    expect(await admin.patch(SITE, {"version": version, "copyright": "first"}))
    expect(await admin.patch(SITE, {"version": version, "copyright": "second"}), 40902)
    assert expect(await admin.get(SITE))["copyright"] == "first"


@pytest.mark.parametrize(
    "value",
    [{"url": "javascript:alert(1)"}, {"logo": "data:text/html,x"}, {"article_path": "/articles"}, {"url": None}],
)
async def test_addresses_are_of_the_web(value: dict, admin: Client) -> None:
    reply = await admin.patch(SITE, {"version": 1, **value})
    assert (reply.code, reply.fields) == (40001, set(value))


async def test_reading_and_changing_need_separate_permissions(people: People) -> None:
    reader = await people.person(["cms:site:read"])
    version = expect(await reader.get(SITE))["version"]
    expect(await reader.patch(SITE, {"version": version, "name": "mine"}), 40300)


async def test_there_is_one_name_of_the_site_and_one_of_everything_else(admin: Client, anonymous: Client) -> None:
    async def shown() -> list[dict[str, Any]]:
        public, settings = [expect(await anonymous.get(at)) for at in (f"{CMS}/site-config", "/api/configs/public")]
        managed = expect(await admin.get(SITE))
        contact = {part: settings[f"contact_{part}"] for part in ("email", "phone")}
        of_settings = {field: settings[key] for field, key in SETTINGS.items()} | contact
        of_site = [{field: one[field] for field in SETTINGS} | _contact(one) for one in (public, managed)]
        assert of_site == [of_settings, of_settings]
        return of_site

    before = expect(await admin.get(SITE))
    values = {"name": "晨光", "logo": "/l.png", "description": "d", "icp": "i", "copyright": "c"}
    contact = {"email": "a@example.com", "phone": "1", "address": "Nowhere 1"}
    expect(await admin.patch(SITE, {"version": before["version"], **values, "contact": contact}))
    assert await shown() == [{**values, "email": "a@example.com", "phone": "1"}] * 2
    changed = {"site_name": "夕照", "contact_phone": None, "icp_number": None}
    expect(await admin.patch("/api/v1/system/configs", {"values": changed}))
    assert await shown() == [{**values, "name": "夕照", "icp": None, "email": "a@example.com", "phone": None}] * 2
    feed = await anonymous.get(f"{CMS}/feed.xml")
    assert "夕照" in feed.body.decode()
    after = expect(await admin.get(SITE))
    assert after["contact"]["address"] == "Nowhere 1"
    undone = {name: before[name] for name in (*SETTINGS, "contact")}
    expect(await admin.patch(SITE, {"version": after["version"], **undone}))


def _contact(site: dict[str, Any]) -> dict[str, Any]:
    return {part: (site["contact"] or {}).get(part) for part in ("email", "phone")}


async def test_what_an_earlier_version_stored_of_the_site_moves_to_the_settings_once(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        name = await stack.enter_async_context(empty_database(mongodb_uri))
        async with serving(mongodb_uri, tmp_path, FEW, mongodb_database=name) as one:
            old = {"name": "旧站", "icp": "old", "contact": {"email": "old@example.com", "address": "There 2"}}
            change = {"$set": old, "$unset": {"moved": ""}}
            await one.service.database.driver.update_one("cms_site", {"_id": "site"}, change)
            admin = await Client(one.url).log_in("admin")
            expect(await admin.patch("/api/v1/system/configs", {"values": {"icp_number": "new"}}))
        for renamed in ("旧站", "新站"):
            async with serving(mongodb_uri, tmp_path, FEW, mongodb_database=name) as one:
                admin = await Client(one.url).log_in("admin")
                site = expect(await admin.get(SITE))
                assert (site["name"], site["icp"], _contact(site)["email"]) == (renamed, "new", "old@example.com")
                assert site["contact"]["address"] == "There 2"
                expect(await admin.patch("/api/v1/system/configs", {"values": {"site_name": "新站"}}))


async def test_after_a_data_reset_the_site_has_its_defaults_and_the_name_of_the_platform(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with serving(mongodb_uri, tmp_path, FEW, demo=True) as one:
        admin = await Client(one.url).log_in("admin")
        assert expect(await admin.get(f"{CMS}/site-config"))["name"] == "Tradewind 示例"
        version = expect(await admin.get(SITE))["version"]
        expect(await admin.patch(SITE, {"version": version, "keywords": "trade", "url": "https://shop.example"}))
        expect(await admin.post("/api/v1/system/data-reset", {"modules": ["cms"], "confirm": "RESET"}))
        assert expect(await admin.get(f"{CMS}/articles"))["total"] == 0
        site = expect(await admin.get(f"{CMS}/site-config"))
        assert (site["name"], site["keywords"], site["url"]) == ("Tradewind 示例", None, "http://localhost:3000")
        assert expect(await admin.get(SITE))["version"] == 1
