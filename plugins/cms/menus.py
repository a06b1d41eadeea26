"""The menus of cms, and the titles of its permissions."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Menu, Message, page

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
