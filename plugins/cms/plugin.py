"""Content: articles, their categories, and the public site's configuration (SPEC 2.8, 4.3; CONTRACT 6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from plugins.api import (
    DUPLICATE,
    INVALID,
    NOT_FOUND,
    PUBLIC,
    STALE,
    Confined,
    Dictionary,
    Item,
    Jobs,
    Menu,
    Message,
    Plugin,
    Refusal,
    Service,
    array,
    conflicts,
    crud,
    route,
    text,
)
from plugins.cms import articles, categories, demo, feeds, previews, public, publication, revisions, site
from plugins.cms.category_tree import Categories
from plugins.cms.messages import (
    ALREADY_PUBLISHED,
    ARCHIVED,
    BAD_LINK,
    DRAFT,
    HAS_ARTICLES,
    HAS_CHILDREN,
    NEEDS_ITS_TIME,
    NO_REVISION,
    NOT_PUBLIC,
    NOT_PUBLISHED,
    PUBLISHED,
    PUBLISHED_SINCE,
    SCHEDULED,
    UNDER_ITSELF,
)
from plugins.cms.records import (
    ARTICLE_SUMMARY,
    ARTICLES,
    CATEGORIES,
    PREVIEW,
    PREVIEW_LINK,
    PUBLIC_ARTICLE,
    PUBLIC_CATEGORY,
    PUBLIC_QUERY,
    PUBLIC_SITE,
    PUBLIC_SUMMARY,
    PUBLISH_BODY,
    REVISION_SUMMARY,
    REVISIONS,
    SITE,
    VERSION_BODY,
)
from plugins.cms.rendering import Renderer
from plugins.cms.settings import CmsSettings
from plugins.cms.site import Site
from plugins.cms.states import ARTICLE_STATES
from plugins.cms.views import ViewCounts

AT = "/api/v1/cms"
MANAGED = f"{AT}/manage/articles"
ONE = f"{MANAGED}/{{id}}"
_TOKEN = {"token": text(max_length=200, nullable=False, example="1795248000.0", description="From the link.")}
_public: dict[str, Any] = {"access": PUBLIC, "tag": "cms", "etag": True}
_article: dict[str, Any] = {"tag": "cms", "collection": ARTICLES.name}
_moves: dict[str, Any] = {**_article, "returns": ARTICLES.read, "errors": (STALE,)}


def _missing(when: Message) -> tuple[Refusal, ...]:
    return (Refusal(NOT_FOUND, when=when),)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Offer the categories, the site and the renderer; publish what is due; count views."""
    settings = service.settings_of(CmsSettings)
    views, configured = ViewCounts(service.database), Site(service.database)
    service.provide(Renderer, Renderer(service.part(Confined).lane("cms.article", cpu_seconds=5, seconds=15)))
    service.provide(ViewCounts, views)
    service.provide(Site, configured)
    service.provide(Categories, Categories(service.database))
    service.events.listen("system.data_reset", configured.after_reset)

    async def publish_due() -> None:
        await publication.publish_due(service)

    service.part(Jobs).every(settings.cms_publish_seconds, "cms.publish", publish_due)
    async with views.counting(settings.cms_views_seconds):
        yield


async def prepare(service: Service) -> None:
    """Make the site's configuration."""
    await service.part(Site).prepare()


plugin = Plugin(
    name="cms",
    title=Message("内容管理", "Content"),
    requires=("rbac",),
    settings=CmsSettings,
    start=start,
    prepare=prepare,
    demo=demo.load,
    collections=(CATEGORIES, ARTICLES, REVISIONS, SITE),
    biz_types={"ARTICLE": ARTICLES},
    state_machines=(ARTICLE_STATES,),
    routes=(
        # -- for everybody
        route(
            f"GET {AT}/articles",
            public.list_articles,
            summary="List published articles",
            paged=True,
            query=PUBLIC_QUERY,
            returns=PUBLIC_SUMMARY,
            **_public,
        ),
        route(
            f"GET {AT}/articles/{{id}}",
            public.read_article,
            summary="Read a published article by id or slug",
            returns=PUBLIC_ARTICLE,
            refusals=_missing(NOT_PUBLISHED),
            **_public,
        ),
        route(
            f"GET {AT}/categories",
            public.list_categories,
            summary="The categories as a tree",
            returns=array(PUBLIC_CATEGORY, max_items=10_000, nullable=False),
            **_public,
        ),
        route(
            f"GET {AT}/site-config",
            public.read_site,
            summary="The site's configuration",
            returns=PUBLIC_SITE,
            **_public,
        ),
        route(f"GET {AT}/sitemap.xml", feeds.sitemap, summary="Sitemap", bare="application/xml", **_public),
        route(f"GET {AT}/feed.xml", feeds.feed, summary="News feed (RSS 2.0)", bare="application/rss+xml", **_public),
        route(
            f"GET {AT}/preview/{{id}}",
            previews.show,
            summary="Read an article by its preview link",
            access=PUBLIC,
            query=_TOKEN,
            returns=PREVIEW,
            refusals=_missing(BAD_LINK),
            tag="cms",
        ),
        # -- for those who write
        route(
            f"GET {MANAGED}",
            articles.list_articles,
            summary="List articles",
            access="cms:article:list",
            paged=True,
            query=ARTICLES.list_query,
            returns=ARTICLE_SUMMARY,
            **_article,
        ),
        *crud(
            ARTICLES,
            at=MANAGED,
            resource="cms:article",
            noun="article",
            only=("read", "create", "delete"),
            create=articles.create,
        ),
        route(
            f"PATCH {ONE}",
            articles.update,
            summary="Change an article",
            access="cms:article:update",
            body=ARTICLES.update,
            returns=ARTICLES.read,
            errors=(DUPLICATE, STALE),
            refusals=conflicts(PUBLISHED_SINCE, NEEDS_ITS_TIME),
            **_article,
        ),
        route(
            f"POST {ONE}/publish",
            publication.publish,
            summary="Publish an article, or schedule it",
            access="cms:article:publish",
            body=PUBLISH_BODY,
            refusals=conflicts(ALREADY_PUBLISHED),
            **_moves,
        ),
        route(
            f"POST {ONE}/unpublish",
            publication.unpublish,
            summary="Take an article from the public",
            access="cms:article:unpublish",
            body=VERSION_BODY,
            refusals=conflicts(NOT_PUBLIC),
            **_moves,
        ),
        route(
            f"POST {ONE}/preview",
            previews.make_link,
            summary="Make a link that shows an unpublished article",
            access="cms:article:preview",
            returns=PREVIEW_LINK,
            **_article,
        ),
        route(
            f"GET {ONE}/revisions",
            revisions.list_revisions,
            summary="List the revisions of an article",
            paged=True,
            access="cms:article:read",
            query=REVISIONS.list_query,
            returns=REVISION_SUMMARY,
            **_article,
        ),
        route(
            f"GET {ONE}/revisions/{{number}}",
            revisions.read,
            summary="Read a revision of an article",
            access="cms:article:read",
            returns=REVISIONS.read,
            refusals=_missing(NO_REVISION),
            **_article,
        ),
        route(
            f"POST {ONE}/revisions/{{number}}/restore",
            revisions.restore,
            summary="Give an article an earlier text again",
            access="cms:article:restore",
            body=VERSION_BODY,
            returns=ARTICLES.read,
            errors=(STALE,),
            refusals=_missing(NO_REVISION),
            **_article,
        ),
        *crud(
            CATEGORIES,
            at=f"{AT}/manage/categories",
            resource="cms:category",
            noun="article category",
            plural="article categories",
            only=("list", "read", "create", "delete"),
            create=categories.create,
            delete=categories.delete,
            refusals_of={"delete": conflicts(HAS_CHILDREN, HAS_ARTICLES)},
        ),
        route(
            f"PATCH {AT}/manage/categories/{{id}}",
            categories.update,
            summary="Change an article category",
            access="cms:category:update",
            body=CATEGORIES.update,
            returns=CATEGORIES.read,
            errors=(DUPLICATE, STALE),
            refusals=conflicts(UNDER_ITSELF),
            tag="cms",
            collection=CATEGORIES.name,
        ),
        route(
            f"GET {AT}/manage/site-config",
            site.read,
            summary="Read the site's configuration",
            access="cms:site:read",
            returns=SITE.read,
            tag="cms",
        ),
        route(
            f"PATCH {AT}/manage/site-config",
            site.update,
            summary="Change the site's configuration",
            access="cms:site:update",
            body=SITE.update,
            returns=SITE.read,
            errors=(STALE, INVALID),
            tag="cms",
        ),
    ),
    menus=(
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
    ),
    permissions={
        "cms:article:publish": Message("发布", "Publish"),
        "cms:article:unpublish": Message("下线", "Unpublish"),
        "cms:article:preview": Message("预览", "Preview"),
        "cms:article:restore": Message("恢复历史版本", "Restore a revision"),
    },
    dictionaries=(
        Dictionary(
            "cms_article_status",
            Message("文章状态", "Article status"),
            (
                Item("draft", DRAFT, "gray"),
                Item("scheduled", SCHEDULED, "orange"),
                Item("published", PUBLISHED, "green"),
                Item("archived", ARCHIVED, "red"),
            ),
        ),
        Dictionary(
            "cms_article_format",
            Message("文章格式", "Article format"),
            (
                Item("html", Message("富文本", "Rich text")),
                Item("markdown", Message("Markdown", "Markdown")),
            ),
        ),
    ),
)
