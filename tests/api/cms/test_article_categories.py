"""Categories: a tree without cycles, of which the enabled part is public."""

import asyncio

import pytest

from plugins.testing import Client, expect, unique
from tests.api.cms.content import CATEGORIES, CMS, PUBLIC, category, change_category, draft, published

pytestmark = pytest.mark.gen_test(timeout=30)


async def test_the_public_tree_has_the_enabled_categories_and_their_articles_counted(
    admin: Client, anonymous: Client
) -> None:
    top = await category(admin, description="all")
    below = await category(admin, parent_id=top["id"], sort=2)
    first = await category(admin, parent_id=top["id"], sort=1)
    await category(admin, parent_id=top["id"], status="disabled")
    for id in (top["id"], below["id"], below["id"]):
        await published(admin, category_id=id)
    await draft(admin, category_id=below["id"])
    tree = expect(await anonymous.get(f"{CMS}/categories"))
    node = next(node for node in tree if node["id"] == top["id"])
    assert [child["id"] for child in node["children"]] == [first["id"], below["id"]]
    assert (node["article_count"], [child["article_count"] for child in node["children"]]) == (3, [0, 2])
    assert set(node) == {"id", "name", "slug", "description", "article_count", "children"}


async def test_a_disabled_category_hides_its_articles_and_those_below_until_it_is_enabled(
    admin: Client, anonymous: Client
) -> None:
    top = await category(admin)
    below = await category(admin, parent_id=top["id"])
    article = await published(admin, category_id=below["id"])
    top = await change_category(admin, top, status="disabled")
    expect(await anonymous.get(f"{PUBLIC}/{article['id']}"), 40400)
    await change_category(admin, top, status="enabled")
    expect(await anonymous.get(f"{PUBLIC}/{article['id']}"))


async def test_a_slug_is_made_from_the_name_and_differs_from_others(admin: Client) -> None:
    name = f"公司新闻 {unique('x')}"
    slugs = {(await category(admin, name=name))["slug"] for _ in range(2)}
    assert len(slugs) == 2
    assert all(slug.startswith("gong-si-xin-wen-x-") for slug in slugs)


async def test_a_category_is_not_moved_under_itself(admin: Client) -> None:
    top = await category(admin)
    below = await category(admin, parent_id=top["id"])
    for target in (top, below):
        body = {"version": top["version"], "parent_id": target["id"]}
        expect(await admin.patch(f"{CATEGORIES}/{top['id']}", body), 40901)
    assert expect(await admin.get(f"{CATEGORIES}/{top['id']}"))["parent_id"] is None


async def test_two_moves_at_once_make_no_cycle(admin: Client) -> None:
    one, other = await category(admin), await category(admin)
    replies = await asyncio.gather(
        *(
            admin.patch(f"{CATEGORIES}/{mover['id']}", {"version": mover["version"], "parent_id": target["id"]})
            for mover, target in ((one, other), (other, one))
        )
    )
    assert sorted(reply.code for reply in replies) == [0, 40901]


async def test_a_tree_is_at_most_32_levels_deep(admin: Client) -> None:
    above = await category(admin)
    for _ in range(31):
        above = await category(admin, parent_id=above["id"])
    reply = await admin.post(CATEGORIES, {"name": "too deep", "parent_id": above["id"]})
    assert (reply.code, reply.fields) == (40001, {"parent_id"})


async def test_a_category_with_children_or_articles_is_not_deleted(admin: Client) -> None:
    parent, filled = await category(admin), await category(admin)
    await category(admin, parent_id=parent["id"])
    await draft(admin, category_id=filled["id"])
    for record in (parent, filled):
        expect(await admin.delete(f"{CATEGORIES}/{record['id']}"), 40901)
    expect(await admin.delete(f"{CATEGORIES}/{(await category(admin))['id']}"))
