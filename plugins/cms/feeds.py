"""The sitemap (sitemaps.org 0.9) and the news feed (RSS 2.0) of the public site."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, tostring

from plugins.api import PUBLIC, Request, Route, route
from plugins.api.values import ReadOnlyRecord
from plugins.cms.categories import Categories
from plugins.cms.public import allow_caching, filter_public
from plugins.cms.records import PUBLISHED
from plugins.cms.site import Site

MAX_LOCATIONS = 5_000  # sitemaps.org allows 50,000; crawlers need the newest
MAX_NEWS = 20
_IN_ADDRESSES = "/:?#[]@!$&'()*+,;=%"  # characters that RFC 3986 allows unescaped; % keeps what is escaped already
# characters that XML 1.0 does not allow (section 2.2)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


async def read_sitemap(req: Request) -> bytes:
    """Return the addresses of the newest published articles."""
    return await _write_xml(req, MAX_LOCATIONS, ("slug", "published_at", "updated_at"), _build_sitemap)


async def read_feed(req: Request) -> bytes:
    """Return the newest published articles as RSS."""
    return await _write_xml(req, MAX_NEWS, ("slug", "title", "summary", "author", "tags", "published_at"), _build_feed)


async def _write_xml(
    req: Request,
    limit: int,
    fields: Sequence[str],
    build: Callable[[ReadOnlyRecord, Sequence[Mapping[str, Any]]], Element[str]],
) -> bytes:
    public = filter_public(await req.part(Categories).get_tree(), req.now)
    rows = await req.system_store(PUBLISHED).find(public, sort="-published_at", limit=limit, fields=fields)
    site = await req.part(Site).current()
    written: bytes = await asyncio.to_thread(
        lambda: tostring(build(site, rows), encoding="utf-8", xml_declaration=True)
    )
    allow_caching(req)
    return written


def _build_sitemap(site: ReadOnlyRecord, rows: Sequence[ReadOnlyRecord]) -> Element:
    root = Element("urlset", {"xmlns": "http://www.sitemaps.org/schemas/sitemap/0.9"})
    for row in rows:
        url = SubElement(root, "url")
        _add_text(url, "loc", _build_address(site, row))
        _add_text(url, "lastmod", max(row["published_at"], row["updated_at"]).strftime("%Y-%m-%dT%H:%M:%SZ"))
    return root


def _build_feed(site: ReadOnlyRecord, rows: Sequence[ReadOnlyRecord]) -> Element:
    root = Element("rss", {"version": "2.0", "xmlns:dc": "http://purl.org/dc/elements/1.1/"})
    channel = SubElement(root, "channel")
    _add_text(channel, "title", site["name"])
    _add_text(channel, "link", site["url"])
    _add_text(channel, "description", site["description"] or site["name"])
    for row in rows:
        item = SubElement(channel, "item")
        _add_text(item, "title", row["title"])
        _add_text(item, "link", _build_address(site, row))
        # the id stays the same when the slug changes
        _add_text(item, "guid", str(row["id"])).set("isPermaLink", "false")
        _add_text(item, "pubDate", format_datetime(row["published_at"].astimezone(UTC), usegmt=True))
        if row["summary"]:
            _add_text(item, "description", row["summary"])
        if row["author"]:
            _add_text(item, "dc:creator", row["author"])
        for tag in row["tags"]:
            _add_text(item, "category", tag)
    return root


def _add_text(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    child.text = _NOT_XML.sub("", text)
    return child


def _build_address(site: ReadOnlyRecord, row: ReadOnlyRecord) -> str:
    address = f"{site['url'].rstrip('/')}{site['article_path'].replace('{slug}', row['slug'])}"
    return quote(address, safe=_IN_ADDRESSES)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/cms/sitemap.xml",
        read_sitemap,
        summary="Read the sitemap",
        access=PUBLIC,
        bare="application/xml",
        etag=True,
    ),
    route(
        "GET /api/v1/cms/feed.xml",
        read_feed,
        summary="Read the news feed (RSS 2.0)",
        access=PUBLIC,
        bare="application/rss+xml",
        etag=True,
    ),
)
