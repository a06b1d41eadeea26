"""Content: articles, their categories, and the configuration of the public site."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Dictionary, Job, Listener, Menu, Message, Plugin, View, dictionary, page, routes_of, tables
from plugins.api.events import DATA_RESET
from plugins.cms import articles, categories, demo, feeds, previews, public, publication, revisions, site
from plugins.cms.lifespan import prepare, restore_defaults, start
from plugins.cms.records import ARTICLES, CATEGORIES, REVISIONS, SITE
from plugins.cms.settings import CmsSettings
from plugins.cms.states import ARTICLE_STATES

_COLORS = {"draft": "gray", "scheduled": "orange", "published": "green", "archived": "red"}

DICTIONARIES = (
    Dictionary.of_states("cms_article_status", Message("文章状态", "Article status"), ARTICLE_STATES, _COLORS),
    dictionary(
        "cms_article_format",
        ("文章格式", "Article format"),
        html=("富文本", "Rich text"),
        markdown=("Markdown", "Markdown"),
    ),
)


MENUS = (
    Menu("cms", Message("内容管理", "Content"), path="/cms", icon="lucide:newspaper", order=200),
    page("cms:article", ("文章", "Articles"), "/cms/articles", "lucide:file-text", 1),
    page("cms:category", ("文章栏目", "Article categories"), "/cms/categories", "lucide:folder-tree", 2),
    page("cms:site", ("站点设置", "Site settings"), "/cms/site", "lucide:globe", 3),
)

PERMISSIONS: Mapping[str, Message] = {
    "cms:article:preview": Message("预览", "Preview"),
    "cms:article:restore": Message("恢复历史版本", "Restore a revision"),
}


VIEWS = (
    View(
        ARTICLES,
        widgets={
            "content": {"type": "rich-text", "visibleOn": "${format != 'markdown'}"},
            "source": {"visibleOn": "${format == 'markdown'}"},
        },
    ),
)


_PUBLISH = Message("按时发布定时文章", "Publish scheduled articles that are due")

plugin = Plugin(
    name="cms",
    title=Message("内容管理", "Content"),
    requires=("rbac", "system"),
    settings=CmsSettings,
    start=start,
    prepare=prepare,
    listens=(Listener(DATA_RESET, restore_defaults),),
    jobs=(Job("cms.publish", "cms_publish_seconds", publication.publish_due, _PUBLISH),),
    demo=demo.load,
    collections=(CATEGORIES, ARTICLES, REVISIONS, SITE),
    biz_types={"ARTICLE": ARTICLES},
    dictionaries=DICTIONARIES,
    routes=(
        *routes_of(public, feeds, articles, publication, previews, revisions, categories, site),
        # without their texts, which are longer than a cell
        *tables(ARTICLES, at="/api/v1/cms/manage/articles", resource="cms:article", only=("export",)),
        *tables(CATEGORIES, at="/api/v1/cms/manage/categories", resource="cms:category"),
    ),
    menus=MENUS,
    views=VIEWS,
    permissions=PERMISSIONS,
)
