"""The public API: lists, details, caching, search."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, expect, unique
from tests.api.cms.content import CMS, PUBLIC, category, change, draft, published

pytestmark = pytest.mark.gen_test(timeout=30)
INTERNAL = {
    "creator_id",
    "creator_department_id",
    "updater_id",
    "version",
    "deleted",
    "source",
    "old_slugs",
    "publish_at",
}


async def test_a_published_article_is_read_by_id_and_by_slug(admin: Client, anonymous: Client) -> None:
    article = await published(admin, content="<p>text</p>", author="Lu Xun", seo={"title": "seo"})
    by_id = expect(await anonymous.get(f"{PUBLIC}/{article['id']}"))
    assert by_id == expect(await anonymous.get(f"{PUBLIC}/{article['slug']}"))
    assert (by_id["content"], by_id["author"], by_id["seo"]["title"]) == ("<p>text</p>", "Lu Xun", "seo")
    assert not INTERNAL & set(by_id)


async def test_a_list_has_the_category_and_no_texts(admin: Client, anonymous: Client) -> None:
    tag, made = unique("tag"), await category(admin)
    await published(admin, tags=[tag], category_id=made["id"])
    page = expect(await anonymous.get(f"{PUBLIC}?tag={tag}"))
    assert page["total"] == 1
    assert page["items"][0]["status"] == "published"
    assert page["items"][0]["category"] == {name: made[name] for name in ("id", "name", "slug")}
    assert not (INTERNAL | {"content"}) & set(page["items"][0])


async def test_a_category_filter_includes_its_descendants(admin: Client, anonymous: Client) -> None:
    top = await category(admin)
    below = await category(admin, parent_id=top["id"])
    article = await published(admin, category_id=below["id"])
    for id in (top["id"], below["id"]):
        assert [row["id"] for row in expect(await anonymous.get(f"{PUBLIC}?category_id={id}"))["items"]] == [
            article["id"]
        ]


@pytest.mark.parametrize("query", ["年会", "nianhui", "nh", "Annual"])
async def test_the_search_finds_titles_tags_and_summaries(query: str, admin: Client, anonymous: Client) -> None:
    tag = unique("search")
    article = await published(admin, title="公司年会", tags=[tag], summary="The Annual party")
    found = expect(await anonymous.get(f"{PUBLIC}?tag={tag}&q={quote(query)}"))["items"]
    assert [row["id"] for row in found] == [article["id"]]


async def test_the_order_is_newest_first_unless_asked_otherwise(admin: Client, anonymous: Client) -> None:
    tag = unique("order")
    ids = [(await published(admin, tags=[tag]))["id"] for _ in range(3)]

    async def listed(sort: str) -> list[str]:
        return [row["id"] for row in expect(await anonymous.get(f"{PUBLIC}?tag={tag}{sort}"))["items"]]

    assert await listed("") == ids[::-1]
    assert await listed("&sort=published_at") == ids
    assert (await anonymous.get(f"{PUBLIC}?sort=created_at")).fields == {"sort"}


async def test_a_walk_by_cursor_sees_every_article_once(admin: Client, anonymous: Client) -> None:
    tag = unique("walk")
    ids = [(await published(admin, tags=[tag]))["id"] for _ in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        page = expect(await anonymous.get(f"{PUBLIC}?tag={tag}&page_size=2{f'&cursor={cursor}' if cursor else ''}"))
        seen += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert seen == ids[::-1]


# -- caching


@pytest.mark.parametrize(
    "path", ["articles", "articles/{slug}", "categories", "site-config", "sitemap.xml", "feed.xml"]
)
async def test_public_responses_are_cacheable_and_unchanged_ones_are_304(
    path: str, admin: Client, anonymous: Client
) -> None:
    article = await published(admin)
    at = f"{CMS}/{path.format(slug=article['slug'])}"
    first = await anonymous.get(at)
    assert first.status == 200
    assert first.headers["Cache-Control"] == "public, max-age=15"
    # `msg` is in the reader's language
    assert "Accept-Language" in first.headers["Vary"]
    again = await anonymous.get(at, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["Cache-Control"] == "public, max-age=15"


async def test_a_changed_article_has_another_etag(admin: Client, anonymous: Client) -> None:
    article = await published(admin)
    tag = (await anonymous.get(f"{PUBLIC}/{article['id']}")).headers["ETag"]
    await change(admin, article, summary="changed")
    after = await anonymous.get(f"{PUBLIC}/{article['id']}", headers={"If-None-Match": tag})
    assert (after.status, expect(after)["summary"]) == (200, "changed")


async def test_the_response_for_a_missing_article_is_not_cached(admin: Client, anonymous: Client) -> None:
    reply = await anonymous.get(f"{PUBLIC}/{(await draft(admin))['id']}")
    assert (reply.code, reply.headers["Cache-Control"]) == (40400, "no-store")


@pytest.mark.parametrize(
    ("path", "collections"),
    [
        ("articles/{slug}", ["cms_articles"]),
        ("articles?with_total=false", ["cms_articles"]),
        ("categories", ["cms_articles"]),
        ("sitemap.xml", ["cms_articles"]),
        ("feed.xml", ["cms_articles"]),
        ("site-config", []),
    ],
)
async def test_a_public_request_is_one_query_at_most(
    path: str,
    collections: list[str],
    admin: Client,
    anonymous: Client,
    tradewind: Running,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await category(admin)
    article = await published(admin, category_id=made["id"])
    at = f"{CMS}/{path.format(slug=article['slug'])}"
    asked: list[str] = []
    driver = tradewind.service.database.driver
    for name in ("find", "find_one", "count", "aggregate"):
        monkeypatch.setattr(driver, name, noting(asked, getattr(driver, name)))

    async def costs_what_it_may() -> bool:
        asked.clear()
        assert (await anonymous.get(at)).status == 200
        return [collection for collection in asked if collection.startswith("cms_")] == collections

    # the caches forget once more when the change stream reports what was just published
    await eventually(costs_what_it_may)


def noting(asked: list[str], work: Any) -> Any:
    def noted(collection: str, *arguments: Any, **options: Mapping[str, Any]) -> Any:
        asked.append(collection)
        return work(collection, *arguments, **options)

    return noted
