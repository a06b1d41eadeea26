"""Articles and categories for tests of cms, made through the API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from plugins.boot.registry import load_plugins
from plugins.testing import Client, expect, unique

CMS = "/api/v1/cms"
ARTICLES = f"{CMS}/manage/articles"
CATEGORIES = f"{CMS}/manage/categories"
SITE = f"{CMS}/manage/site-config"
PUBLIC = f"{CMS}/articles"
Record = dict[str, Any]
# the plugins that cms needs: such a server starts in a fraction of the time
FEW = load_plugins(("auth", "system", "cms"))


def from_now(**ahead: float) -> str:
    """A time this far in the future, as the API writes it."""
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


async def draft(client: Client, **values: Any) -> Record:
    """A new article."""
    made: Record = expect(await client.post(ARTICLES, {"title": unique("article"), **values}))
    return made


async def published(client: Client, **values: Any) -> Record:
    """A new published article."""
    return await publish(client, await draft(client, **values))


async def publish(client: Client, article: Record, **body: Any) -> Record:
    """The article, published."""
    made: Record = expect(await client.post(f"{ARTICLES}/{article['id']}/publish", body))
    return made


async def change(client: Client, article: Record, **values: Any) -> Record:
    """The article with these values."""
    body = {"version": article["version"], **values}
    made: Record = expect(await client.patch(f"{ARTICLES}/{article['id']}", body))
    return made


async def category(client: Client, **values: Any) -> Record:
    """A new category."""
    made: Record = expect(await client.post(CATEGORIES, {"name": unique("category"), **values}))
    return made


async def change_category(client: Client, record: Record, **values: Any) -> Record:
    """The category with these values."""
    made: Record = expect(await client.patch(f"{CATEGORIES}/{record['id']}", {"version": record["version"], **values}))
    return made
