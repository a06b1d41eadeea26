"""Tables of cms. Articles are exported without their texts, which are longer than a cell."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.cms.records import ARTICLES, CATEGORIES

ROUTES: tuple[Route, ...] = (
    *tables(ARTICLES, at="/api/v1/cms/manage/articles", resource="cms:article", only=("export",)),
    *tables(CATEGORIES, at="/api/v1/cms/manage/categories", resource="cms:category"),
)
