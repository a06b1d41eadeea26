"""The sitemap and the news feed."""

from xml.etree import ElementTree

import pytest

from plugins.testing import Client, expect, unique
from tests.api.cms.content import ARTICLES, CMS, SITE, draft, published

pytestmark = pytest.mark.gen_test(timeout=30)
NAMES = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "dc": "http://purl.org/dc/elements/1.1/"}


async def xml(anonymous: Client, name: str, media: str) -> ElementTree.Element:
    reply = await anonymous.get(f"{CMS}/{name}")
    assert (reply.status, reply.headers["Content-Type"]) == (200, media)
    return ElementTree.fromstring(reply.body)


async def test_the_sitemap_has_the_addresses_of_published_articles(admin: Client, anonymous: Client) -> None:
    site = expect(await admin.get(SITE))
    expect(
        await admin.patch(
            SITE, {"version": site["version"], "url": "https://example.com/", "article_path": "/文/{slug}.html"}
        )
    )
    shown, hidden = await published(admin), await draft(admin)
    root = await xml(anonymous, "sitemap.xml", "application/xml")
    found = {
        url.findtext("s:loc", "", NAMES): url.findtext("s:lastmod", "", NAMES) for url in root.findall("s:url", NAMES)
    }
    assert found[f"https://example.com/%E6%96%87/{shown['slug']}.html"] == shown["updated_at"][:19] + "Z"
    assert not any(hidden["slug"] in address for address in found)


async def test_the_feed_has_the_newest_articles_escaped(admin: Client, anonymous: Client) -> None:
    title = f'a < b & "c" ]]> <script>\x07\ufffe{unique("title")}'
    article = await published(admin, title=title, summary="<b>&amp;", author="鲁迅", tags=["x&y"])
    await draft(admin, title="hidden")
    root = await xml(anonymous, "feed.xml", "application/rss+xml")
    items = root.findall("channel/item")
    item = items[0]
    # control characters and non-characters have no place in XML
    assert item.findtext("title") == title.replace("\x07", "").replace("\ufffe", "")
    assert (item.findtext("description"), item.findtext("category")) == ("<b>&amp;", "x&y")
    assert item.findtext("dc:creator", "", NAMES) == "鲁迅"
    assert item.findtext("guid") == article["id"]
    assert item.findtext("pubDate", "").endswith("GMT")
    assert len(items) <= 20


async def test_an_unpublished_article_leaves_both_at_once(admin: Client, anonymous: Client) -> None:
    article = await published(admin)
    for name in ("sitemap.xml", "feed.xml"):
        assert article["slug"].encode() in (await anonymous.get(f"{CMS}/{name}")).body
    expect(await admin.post(f"{ARTICLES}/{article['id']}/unpublish"))
    for name in ("sitemap.xml", "feed.xml"):
        assert article["slug"].encode() not in (await anonymous.get(f"{CMS}/{name}")).body
