"""The types of the records of Content. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class ArticleCategory(TypedDict):
    """A record of `cms_categories`."""

    id: StoredId
    name: str
    slug: str
    parent_id: StoredId | None
    description: str | None
    sort: int
    status: Literal["enabled", "disabled"]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ArticleSeo(TypedDict):
    """An object within `Article`."""

    title: NotRequired[str | None]
    description: NotRequired[str | None]
    keywords: NotRequired[str | None]


class Article(TypedDict):
    """A record of `cms_articles`."""

    id: StoredId
    title: str
    slug: str
    summary: str | None
    content: str
    format: Literal["html", "markdown"]
    source: str | None
    cover: str | None
    category_id: StoredId | None
    tags: list[str]
    author: str | None
    seo: ArticleSeo | None
    status: Literal["draft", "scheduled", "published", "archived"]
    publish_at: datetime | None
    published_at: datetime | None
    view_count: int
    revision: int
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    old_slugs: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ArticleRevision(TypedDict):
    """A record of `cms_revisions`."""

    id: str
    article_id: StoredId
    number: int
    title: str
    summary: str | None
    content: str
    format: Literal["html", "markdown"]
    source: str | None
    cover: str | None
    tags: list[str]
    author: str | None
    seo: ArticleSeo | None
    editor_id: int
    editor: str | None
    created_at: datetime


class SiteContact(TypedDict):
    """An object within `SiteConfig`."""

    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    address: NotRequired[str | None]


class SiteConfig(TypedDict):
    """A record of `cms_site`."""

    id: str
    name: str
    url: str
    article_path: str
    logo: str | None
    description: str | None
    keywords: str | None
    icp: str | None
    copyright: str | None
    contact: SiteContact | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    moved: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
