"""Revisions: every text that an article had."""

from pathlib import Path

import pytest

from plugins.testing import Client, People, expect, serving, unique
from tests.api.cms.content import ARTICLES, FEW, change, draft, publish, published

pytestmark = pytest.mark.gen_test(timeout=30)


async def test_every_changed_text_makes_a_revision(admin: Client) -> None:
    article = await draft(admin, content="<p>one</p>")
    await change(admin, article, content="<p>two</p>")
    page = expect(await admin.get(f"{ARTICLES}/{article['id']}/revisions"))
    assert [row["number"] for row in page["items"]] == [2, 1]
    assert page["items"][0]["editor"] == admin.user["realName"]
    assert not {"content", "source"} & set(page["items"][0])
    first = expect(await admin.get(f"{ARTICLES}/{article['id']}/revisions/1"))
    assert first["content"] == "<p>one</p>"


async def test_a_change_outside_the_text_makes_no_revision(admin: Client) -> None:
    article = await draft(admin, content="<p>one</p>")
    article = await change(admin, article, slug=unique("slug"), content="<p>one</p>")
    await publish(admin, article)
    assert expect(await admin.get(f"{ARTICLES}/{article['id']}/revisions"))["total"] == 1


async def test_a_restored_revision_is_the_text_again_and_a_new_revision(admin: Client, anonymous: Client) -> None:
    article = await published(admin, title="first title", content="<p>one</p>", tags=["a"])
    changed = await change(admin, article, title="second title", content="<p>two</p>", tags=["b"])
    restored = expect(await admin.post(f"{ARTICLES}/{article['id']}/revisions/1/restore", {}))
    assert [restored[name] for name in ("title", "content", "tags")] == ["first title", "<p>one</p>", ["a"]]
    assert (restored["revision"], restored["version"]) == (3, changed["version"] + 1)
    assert (restored["status"], restored["slug"]) == ("published", article["slug"])
    assert expect(await anonymous.get(f"/api/v1/cms/articles/{article['id']}"))["content"] == "<p>one</p>"


async def test_a_markdown_revision_is_restored_with_its_source(admin: Client) -> None:
    article = await draft(admin, format="markdown", source="*one*")
    await change(admin, article, format="html", content="<p>two</p>")
    restored = expect(await admin.post(f"{ARTICLES}/{article['id']}/revisions/1/restore", {}))
    assert (restored["format"], restored["source"]) == ("markdown", "*one*")
    assert restored["content"] == "<p><em>one</em></p>\n"


async def test_a_stale_version_restores_nothing(admin: Client) -> None:
    article = await draft(admin, content="<p>one</p>")
    await change(admin, article, content="<p>two</p>")
    body = {"version": article["version"]}
    expect(await admin.post(f"{ARTICLES}/{article['id']}/revisions/1/restore", body), 40902)
    assert expect(await admin.get(f"{ARTICLES}/{article['id']}"))["revision"] == 2


@pytest.mark.parametrize("number", ["0", "2", "-1", "x", "9" * 12, "1e0", "%E2%91%A0"])
async def test_a_revision_that_does_not_exist_is_40400(number: str, admin: Client) -> None:
    article = await draft(admin)
    expect(await admin.get(f"{ARTICLES}/{article['id']}/revisions/{number}"), 40400)


async def test_revisions_are_under_the_data_scope_of_their_article(admin: Client, people: People) -> None:
    article = await draft(admin)
    stranger = await people.person(["cms:article:read", "cms:article:restore"])
    expect(await stranger.get(f"{ARTICLES}/{article['id']}/revisions"), 40400)
    expect(await stranger.get(f"{ARTICLES}/{article['id']}/revisions/1"), 40400)
    expect(await stranger.post(f"{ARTICLES}/{article['id']}/revisions/1/restore", {}), 40400)


async def test_the_oldest_revisions_are_deleted(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, FEW, cms_revisions=2) as one:
        admin = await Client(one.url).log_in("admin")
        article = await draft(admin)
        for number in range(3):
            article = await change(admin, article, summary=str(number))
        page = expect(await admin.get(f"{ARTICLES}/{article['id']}/revisions"))
        assert [row["number"] for row in page["items"]] == [4, 3]


async def test_the_search_finds_revisions_by_their_titles(admin: Client) -> None:
    article = await draft(admin, title="Québec", content="<p>one</p>")
    await change(admin, article, title="Montréal")
    page = expect(await admin.get(f"{ARTICLES}/{article['id']}/revisions?q=quebec"))
    assert [row["number"] for row in page["items"]] == [1]
