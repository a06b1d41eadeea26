"""Requests of cms that cannot be made from a declaration alone (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from handlers.route import Route
from plugins.testing import expect
from tests.api.cms.content import ARTICLES, CMS, PUBLIC, SITE, draft, published
from tests.support.valid_requests import Exercise, HandMade, Maker

_ONE = f"{ARTICLES}/{{id}}"
_REVISION = f"{_ONE}/revisions/{{number}}"


async def write_html(maker: Maker, route: Route) -> Exercise:
    """HTML comes as `content`; `source` is for Markdown."""
    derived = await maker.derived(route)
    return replace(derived, body={name: value for name, value in derived.body.items() if name != "source"})


async def read_published(maker: Maker, route: Route) -> Exercise:
    article = await published(maker.admin)
    return Exercise(maker.admin, route, f"{PUBLIC}/{article['id']}", record=article)


async def unpublish(maker: Maker, route: Route) -> Exercise:
    article = await published(maker.admin)
    body = {"version": article["version"]}
    return Exercise(maker.admin, route, f"{ARTICLES}/{article['id']}/unpublish", body, record=article)


async def read_revision(maker: Maker, route: Route) -> Exercise:
    article = await draft(maker.admin)
    return Exercise(maker.admin, route, f"{ARTICLES}/{article['id']}/revisions/1", record=article)


async def restore(maker: Maker, route: Route) -> Exercise:
    article = await draft(maker.admin)
    body = {"version": article["version"]}
    return Exercise(maker.admin, route, f"{ARTICLES}/{article['id']}/revisions/1/restore", body, record=article)


async def preview(maker: Maker, route: Route) -> Exercise:
    """Without its token the link opens nothing."""
    article = await draft(maker.admin)
    return Exercise(maker.admin, route, f"{CMS}/preview/{article['id']}", code=40400, record=article)


async def change_site(maker: Maker, route: Route) -> Exercise:
    derived = await maker.derived(route)
    version = expect(await maker.admin.get(SITE))["version"]
    return replace(derived, body={**derived.body, "version": version, "article_path": "/articles/{slug}"})


CMS_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {ARTICLES}": write_html,
    f"PATCH {_ONE}": write_html,
    f"GET {PUBLIC}/{{id}}": read_published,
    f"POST {_ONE}/unpublish": unpublish,
    f"GET {_REVISION}": read_revision,
    f"POST {_REVISION}/restore": restore,
    f"GET {CMS}/preview/{{id}}": preview,
    f"PATCH {SITE}": change_site,
}
