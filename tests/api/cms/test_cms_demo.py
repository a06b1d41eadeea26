"""The demonstration articles."""

from collections import Counter

import pytest

from plugins.testing import Client, expect
from tests.api.cms.content import ARTICLES, CMS

pytestmark = pytest.mark.gen_test


async def test_there_are_four_published_articles_a_scheduled_one_and_a_draft(admin: Client) -> None:
    items = expect(await admin.get(f"{ARTICLES}?author=%E7%8E%8B%E7%BB%8F%E7%90%86"))["items"]
    assert Counter(item["status"] for item in items) == {"published": 4, "scheduled": 1, "draft": 1}


async def test_the_public_sees_the_three_demo_categories(anonymous: Client) -> None:
    nodes = {node["slug"]: node["article_count"] for node in expect(await anonymous.get(f"{CMS}/categories"))}
    assert {slug: nodes[slug] for slug in ("news", "products", "cases")} == {"news": 1, "products": 2, "cases": 1}
