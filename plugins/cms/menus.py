"""The menus of cms, and the titles of its permissions."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message

MENUS = (
    Menu("cms", Message("内容管理", "Content"), path="/cms", icon="lucide:newspaper", order=200),
    Menu(
        "cms.article",
        Message("文章", "Articles"),
        path="/cms/articles",
        parent="cms",
        resource="cms:article",
        icon="lucide:file-text",
        order=1,
    ),
    Menu(
        "cms.category",
        Message("文章分类", "Article categories"),
        path="/cms/categories",
        parent="cms",
        resource="cms:category",
        icon="lucide:folder-tree",
        order=2,
    ),
    Menu(
        "cms.site",
        Message("站点设置", "Site"),
        path="/cms/site",
        parent="cms",
        resource="cms:site",
        icon="lucide:globe",
        order=3,
    ),
)

PERMISSIONS: Mapping[str, Message] = {
    "cms:article:preview": Message("预览", "Preview"),
    "cms:article:restore": Message("恢复历史版本", "Restore a revision"),
}
