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

from plugins.api import Request
from plugins.cms.category_tree import Categories
from plugins.cms.public import cacheable, visible
from plugins.cms.records import PUBLISHED
from plugins.cms.site import Site

MAX_LOCATIONS = 5_000  # sitemaps.org allows 50,000; the newest are what crawlers come for
MAX_NEWS = 20
_IN_ADDRESSES = "/:?#[]@!$&'()*+,;=%"  # RFC 3986 leaves these as they are, and what is escaped already
# what XML 1.0 cannot write (section 2.2)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
Record = Mapping[str, Any]


async def sitemap(req: Request) -> bytes:
    """The addresses of the newest published articles."""
    return await _made(req, MAX_LOCATIONS, ("slug", "published_at", "updated_at"), _sitemap)


async def feed(req: Request) -> bytes:
    """The newest published articles as RSS."""
    return await _made(req, MAX_NEWS, ("slug", "title", "summary", "author", "tags", "published_at"), _feed)


async def _made(
    req: Request, limit: int, fields: Sequence[str], make: Callable[[Record, Sequence[Record]], Element]
) -> bytes:
    public = visible(await req.part(Categories).tree(), req.now)
    rows = await req.system_store(PUBLISHED).find(public, sort="-published_at", limit=limit, fields=fields)
    site = await req.part(Site).current()
    written: bytes = await asyncio.to_thread(lambda: tostring(make(site, rows), encoding="utf-8", xml_declaration=True))
    cacheable(req)
    return written


def _sitemap(site: Record, rows: Sequence[Record]) -> Element:
    root = Element("urlset", {"xmlns": "http://www.sitemaps.org/schemas/sitemap/0.9"})
    for row in rows:
        url = SubElement(root, "url")
        _text(url, "loc", _address(site, row))
        _text(url, "lastmod", max(row["published_at"], row["updated_at"]).strftime("%Y-%m-%dT%H:%M:%SZ"))
    return root


def _feed(site: Record, rows: Sequence[Record]) -> Element:
    root = Element("rss", {"version": "2.0", "xmlns:dc": "http://purl.org/dc/elements/1.1/"})
    channel = SubElement(root, "channel")
    _text(channel, "title", site["name"])
    _text(channel, "link", site["url"])
    _text(channel, "description", site["description"] or site["name"])
    for row in rows:
        item = SubElement(channel, "item")
        _text(item, "title", row["title"])
        _text(item, "link", _address(site, row))
        # stays the same when the address changes
        _text(item, "guid", str(row["id"])).set("isPermaLink", "false")
        _text(item, "pubDate", format_datetime(row["published_at"].astimezone(UTC), usegmt=True))
        if row["summary"]:
            _text(item, "description", row["summary"])
        if row["author"]:
            _text(item, "dc:creator", row["author"])
        for tag in row["tags"]:
            _text(item, "category", tag)
    return root


def _text(parent: Element, name: str, text: str) -> Element:
    child = SubElement(parent, name)
    # XML has no way to write most control characters
    child.text = _NOT_XML.sub("", text)
    return child


def _address(site: Record, row: Record) -> str:
    address = f"{site['url'].rstrip('/')}{site['article_path'].replace('{slug}', row['slug'])}"
    return quote(address, safe=_IN_ADDRESSES)
