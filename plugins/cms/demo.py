"""Demonstration articles: four that are published, one scheduled, one draft."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from plugins.api import Actor, Service, utc_now
from plugins.cms.records import ARTICLES, CATEGORIES
from plugins.cms.rendering import Renderer
from plugins.cms.revisions import store_revision
from plugins.cms.slugs import make_slug
from plugins.rbac.api import Directory
from plugins.system.api import Configs

_CATEGORIES = (("公司新闻", "news"), ("产品动态", "products"), ("客户案例", "cases"))
# title, category, tags, summary, days since publication (None: a draft; negative: scheduled), Markdown
_ARTICLES = (
    (
        "晨光科技与我们达成战略合作",
        "news",
        ["合作"],
        "双方将在智能制造领域展开合作。",
        12,
        "双方于本周签署**战略合作协议**。\n\n> 这是一个新的起点。\n\n- 联合研发\n- 市场拓展\n",
    ),
    (
        "2026 年秋季新品发布",
        "products",
        ["新品", "发布会"],
        "三款新品同时亮相。",
        7,
        "## 三款新品\n\n| 型号 | 用途 |\n|---|---|\n| T1 | 入门 |\n| T2 | 专业 |\n| T3 | 旗舰 |\n",
    ),
    (
        "远航物流如何把对账时间缩短一半",
        "cases",
        ["案例", "物流"],
        "从三天到一天半。",
        5,
        "远航物流在*六周*内完成了上线。\n\n1. 梳理流程\n2. 导入数据\n3. 培训人员\n",
    ),
    (
        "Tradewind opens its public API",
        "products",
        ["API"],
        "Every resource, described in OpenAPI 3.1.",
        2,
        "Read the [documentation](https://example.com/docs), then try:\n\n"
        "```sh\ncurl https://example.com/api/health\n```\n",
    ),
    ("年末客户答谢会预告", "news", ["活动"], "敬请期待。", -14, "时间与地点将另行通知。\n"),
    ("青禾农业案例（草稿）", "cases", ["案例"], None, None, "待补充：访谈记录与数据。\n"),
)


async def load(service: Service) -> None:
    """Create three categories, six articles by the demonstration manager, and the site configuration."""
    author = await service.part(Directory).by_username("manager")
    if author is None:
        return
    actor = Actor(author["id"], author["username"], author["real_name"], author["department_id"])
    store = service.database.store(CATEGORIES, actor)
    created = [
        await store.create({"name": name, "slug": slug, "sort": n}) for n, (name, slug) in enumerate(_CATEGORIES)
    ]
    categories = {category["slug"]: category["id"] for category in created}
    for title, category, tags, summary, days, source in _ARTICLES:
        values = {
            "title": title,
            "category_id": categories[category],
            "tags": tags,
            "summary": summary,
            **_make_state(days),
        }
        await _create_article(service, actor, {**values, "source": source})
    await service.part(Configs).put(
        {"site_name": "Tradewind 示例", "contact_email": "office@example.com", "contact_phone": "021-5555 0100"}
    )


async def _create_article(service: Service, actor: Actor, values: dict[str, Any]) -> None:
    content = await service.part(Renderer).from_markdown(values["source"])
    article = await service.database.store(ARTICLES, actor).create(
        {
            **values,
            "slug": make_slug(values["title"], "article"),
            "format": "markdown",
            "content": content,
            "author": actor.name,
            "revision": 1,
        }
    )
    await store_revision(service, actor, article)


def _make_state(days: int | None) -> dict[str, Any]:
    if days is None:
        return {}
    at = utc_now() - timedelta(days=days)
    return {"status": "published" if days > 0 else "scheduled", "publish_at": at, "published_at": at}
