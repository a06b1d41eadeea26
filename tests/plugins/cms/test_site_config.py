"""The site configuration: one public record."""

from pathlib import Path

import pytest

from plugins.testing import Client, People, expect, serving
from tests.plugins.cms.content import CMS, FEW, SITE

pytestmark = pytest.mark.gen_test(timeout=30)


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


async def test_after_a_data_reset_the_site_has_its_defaults(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, FEW, demo=True) as one:
        admin = await Client(one.url).log_in("admin")
        assert expect(await admin.get(f"{CMS}/site-config"))["name"] == "Tradewind 示例"
        expect(await admin.post("/api/v1/system/data-reset", {"modules": ["cms"], "confirm": "RESET"}))
        assert expect(await admin.get(f"{CMS}/articles"))["total"] == 0
        assert expect(await admin.get(f"{CMS}/site-config"))["name"] == "Tradewind"
        assert expect(await admin.get(SITE))["version"] == 1
