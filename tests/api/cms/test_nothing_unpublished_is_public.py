"""No combination of public parameters shows an article that is not published.

Every text of an article that must stay hidden contains one marker; no public response may contain it. Lists are
also compared with a model of five lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.testing import Client, expect, unique
from tests.api.cms.content import (
    ARTICLES,
    CATEGORIES,
    CMS,
    PUBLIC,
    Record,
    category,
    change,
    change_category,
    draft,
    from_now,
    publish,
    published,
)

MARK = unique("hidden").replace("-", "")
TAG = unique("shared")


@dataclass
class World:
    """Articles in every state and kind of category, and what the public may see of them."""

    client: Client
    categories: dict[str, Record] = field(default_factory=dict)
    visible: dict[str, Record] = field(default_factory=dict)
    hidden: list[Record] = field(default_factory=list)
    number: int = 0

    def texts(self, marked: bool) -> dict[str, Any]:
        self.number += 1
        word = f"{MARK if marked else 'open'}-{self.number}-{TAG}"
        return {
            "title": word,
            "slug": word,
            "summary": word,
            "content": f"<p>{word}</p>",
            "author": word,
            "tags": [TAG, *([MARK] if marked else [])],
            "cover": f"/{word}.png",
            "seo": {"title": word},
        }

    def names(self) -> list[str]:
        """Every way to name an article or category in a path."""
        articles = [*self.visible.values(), *self.hidden]
        return [one[key] for one in (*articles, *self.categories.values()) for key in ("id", "slug")]


async def make_world(admin: Client, anonymous: Client) -> World:
    world = World(anonymous)
    open_, closed = await category(admin), await category(admin)
    below = await category(admin, parent_id=open_["id"])
    below_closed = await category(admin, parent_id=closed["id"])
    world.categories = {"open": open_, "closed": closed, "below": below, "below_closed": below_closed}
    for place in (None, open_, below):
        id = place and place["id"]
        shown = await published(admin, category_id=id, **world.texts(False))
        world.visible[shown["id"]] = shown
        for state in ("draft", "scheduled", "unpublished", "deleted", "renamed draft"):
            world.hidden.append(await make_hidden(admin, state, {"category_id": id, **world.texts(True)}))
    for place in (closed, below_closed):
        world.hidden.append(await published(admin, category_id=place["id"], **world.texts(True)))
    world.categories["closed"] = await change_category(admin, closed, status="disabled")
    return world


async def make_hidden(admin: Client, state: str, values: dict[str, Any]) -> Record:
    article = await draft(admin, **values)
    if state == "scheduled":
        return await publish(admin, article, publish_at=from_now(hours=1))
    if state == "renamed draft":
        await change(admin, article, slug=f"{article['slug']}-new")
    if state in ("unpublished", "deleted"):
        await publish(admin, article)
    if state == "unpublished":
        expect(await admin.post(f"{ARTICLES}/{article['id']}/unpublish"))
    if state == "deleted":
        expect(await admin.delete(f"{ARTICLES}/{article['id']}"))
    return article


@pytest.fixture(scope="module")
def world(io_loop: IOLoop, admin: Client, anonymous: Client) -> Iterator[World]:
    created: World = io_loop.run_sync(lambda: make_world(admin, anonymous))
    yield created
    io_loop.run_sync(lambda: delete_articles(admin, created))


async def delete_articles(admin: Client, world: World) -> None:
    # the marker would be found by other tests of public responses otherwise
    for article in (*world.visible.values(), *world.hidden):
        await admin.delete(f"{ARTICLES}/{article['id']}")
    for record in reversed(world.categories.values()):
        await admin.delete(f"{CATEGORIES}/{record['id']}")


def parameters(world: World) -> st.SearchStrategy[dict[str, Any]]:
    words = st.sampled_from([TAG, MARK, "open", "", ".*", "$where", "'", "\\", "hidden"])
    moments = st.sampled_from(["1970-01-01T00:00:00Z", "2199-12-31T00:00:00Z", from_now()])
    return st.fixed_dictionaries(
        {},
        optional={
            "category_id": st.sampled_from([*(one["id"] for one in world.categories.values()), "f" * 24]),
            "tag": words,
            "q": words,
            "sort": st.sampled_from(["-published_at", "published_at", "-view_count"]),
            "page": st.integers(1, 3),
            "page_size": st.sampled_from([1, 2, 5, 200]),
            "with_total": st.sampled_from(["true", "false"]),
            "published_at_from": moments,
            "published_at_to": moments,
        },
    )


REFUSED = (
    "status=draft",
    "deleted=true",
    "published_at=2999-01-01",
    "category_id[$ne]=x",
    "tag[$gt]=",
    "fields=content",
    "sort=status",
    "sort=-deleted",
    "q=a&q=b",
    "include=drafts",
    "preview=1",
    "token=1.a",
)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def test_no_combination_of_list_parameters_shows_a_hidden_article(io_loop: IOLoop, world: World) -> None:
    @QUIET
    @given(parameters(world), st.booleans())
    def check(query: dict[str, Any], follow: bool) -> None:
        io_loop.run_sync(lambda: listed(world, query, follow))

    check()


async def listed(world: World, query: dict[str, Any], follow: bool) -> None:
    """One list, and with `follow` the pages behind it by cursor."""
    given = dict(query)
    for _ in range(4):
        reply = await world.client.get(f"{PUBLIC}?{urlencode(given)}")
        assert MARK.encode() not in reply.body
        if reply.code or not follow or reply.data["next_cursor"] is None:
            break
        given = {**query, "cursor": reply.data["next_cursor"]}
    if query.get("tag") == TAG and query.get("page", 1) == 1 and not {"q", "published_at_from"} & set(query):
        total = expect(await world.client.get(f"{PUBLIC}?{urlencode({**query, 'with_total': 'true'})}"))["total"]
        assert total == sum(matches(world, article, query) for article in world.visible.values())


def matches(world: World, article: Record, query: dict[str, Any]) -> bool:
    """The model: whether a visible article is on the list."""
    below = {world.categories["open"]["id"]: [world.categories["below"]["id"]]}
    wanted = query.get("category_id")
    in_category = wanted is None or article["category_id"] in (wanted, *below.get(wanted, ()))
    return in_category and query.get("published_at_to", "3") > "1970-01-02"


def test_no_name_and_no_further_parameter_shows_a_hidden_article(io_loop: IOLoop, world: World) -> None:
    @QUIET
    @given(
        st.sampled_from(world.names()), st.sampled_from(["", *REFUSED]), st.sampled_from(["", ".", "/", "%00", "-new"])
    )
    def check(name: str, query: str, suffix: str) -> None:
        io_loop.run_sync(lambda: read(world, name, query, suffix))

    check()


async def read(world: World, name: str, query: str, suffix: str) -> None:
    for path in (f"articles/{quote(name)}{suffix}", f"preview/{quote(name)}", "articles", "categories"):
        reply = await world.client.get(f"{CMS}/{path}{'?' if query else ''}{query}")
        assert MARK.encode() not in reply.body
        assert not query or reply.status in (400, 404)
    shown = (await world.client.get(f"{PUBLIC}/{quote(name)}")).code == 0
    assert shown == any(name in (one["id"], one["slug"]) for one in world.visible.values())


def test_neither_feeds_nor_categories_contain_a_hidden_article(io_loop: IOLoop, world: World) -> None:
    async def check() -> None:
        for path in ("feed.xml", "sitemap.xml", "categories", "site-config"):
            assert MARK.encode() not in (await world.client.get(f"{CMS}/{path}")).body
        nodes = {node["id"]: node for node in expect(await world.client.get(f"{CMS}/categories"))}
        assert nodes[world.categories["open"]["id"]]["article_count"] == 2
        assert not {world.categories[name]["id"] for name in ("closed", "below_closed")} & set(nodes)

    io_loop.run_sync(check)
