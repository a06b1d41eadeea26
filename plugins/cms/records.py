"""The collections of cms, the bodies of its requests, and which fields editors and the public see."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    array,
    choice,
    integer,
    link,
    obj,
    object_id,
    record_name,
    shape,
    text,
    timestamp,
)
from plugins.api.fields import BLANK, tree_of
from plugins.api.records import VERSION
from plugins.cms.messages import HAS_ARTICLES, HAS_CHILDREN
from plugins.cms.record_types import Article, ArticleCategory, ArticleRevision, SiteConfig
from plugins.cms.states import ARTICLE_STATES

MAX_HTML = 500_000
MAX_MARKDOWN = 200_000
# a slug cannot have the form of an `id` (24 hexadecimal digits), because both are used in the same path
_SLUG = r"^(?![0-9a-f]{24}$)[a-z0-9]+(-[a-z0-9]+)*$"
_SITE = rf"""^https?://[^{BLANK}"'<>\\?#]+$"""
_IN_PATH = rf"""[^{BLANK}"'<>\\]*"""

SEO = obj(
    "ArticleSeo",
    {
        "title": text(label=("标题", "Title"), max_length=200),
        "description": text(label=("描述", "Description"), max_length=500),
        "keywords": text(label=("关键词", "Keywords"), max_length=300),
    },
)

CATEGORIES: Collection[ArticleCategory] = Collection(
    name="cms_categories",
    title="ArticleCategory",
    noun=Message("文章栏目", "article category"),
    watched=True,
    default_sort="sort",
    fields={
        "name": record_name(label=("栏目名称", "Category name"), max_length=100, example="公司新闻"),
        "slug": text(
            label=("网址标识", "Slug"),
            max_length=100,
            pattern=_SLUG,
            nullable=False,
            filter=True,
            example="gong-si-xin-wen",
            description="Generated from the name if omitted.",
        ),
        "parent_id": object_id(
            label=("上级栏目", "Parent category"),
            ref="cms_categories",
            held=HAS_CHILDREN,
            filter=True,
            description="Null for a top-level category.",
        ),
        "description": text(label=("描述", "Description"), max_length=500),
        "sort": integer(label=("排序", "Sort order"), minimum=0, maximum=1_000_000, default=0, sort=True),
        "status": choice(
            "enabled",
            "disabled",
            label=("状态", "Status"),
            default="enabled",
            filter=True,
            description="A disabled category hides its articles and its sub-categories from the public.",
        ),
    },
    indexes=(Index("slug", unique=True), Index("parent_id", "sort")),
)

ARTICLES: Collection[Article] = Collection(
    name="cms_articles",
    title="Article",
    noun=Message("文章", "article"),
    scoped=True,
    fields={
        "title": record_name(label=("标题", "Title"), example="新品发布"),
        "slug": text(
            label=("网址标识", "Slug"),
            max_length=100,
            pattern=_SLUG,
            nullable=False,
            filter=True,
            example="xin-pin-fa-bu",
            description="The article's name in URLs; generated from the title if omitted. Former slugs still lead "
            "here.",
        ),
        "summary": text(label=("摘要", "Summary"), max_length=500, search=True),
        "content": text(
            label=("正文", "Content"),
            max_length=MAX_HTML,
            nullable=False,
            default="",
            description="HTML, sanitised when saved. If `format` is `markdown`, it is generated from `source`.",
        ),
        "format": choice(
            "html",
            "markdown",
            label=("编辑格式", "Format"),
            default="html",
            description="The format that the author writes in.",
        ),
        "source": text(
            label=("原文", "Source"),
            max_length=MAX_MARKDOWN,
            description="The Markdown, as the author wrote it; null for HTML.",
        ),
        "cover": link(label=("封面", "Cover"), key=True, example="/files/cover.png"),
        "category_id": object_id(label=("栏目", "Category"), ref=CATEGORIES.name, held=HAS_ARTICLES, filter=True),
        "tags": array(
            text(max_length=50, min_length=1),
            label=("标签", "Tags"),
            unique=True,
            max_items=20,
            default=[],
            filter=True,
            search=True,
        ),
        "author": text(
            label=("作者", "Author"),
            max_length=100,
            filter=True,
            description="The name that readers see. Defaults to the creator's.",
        ),
        "seo": SEO.but(label=("SEO 设置", "SEO")),
        "status": ARTICLE_STATES.choice(label=("文章状态", "Status"), filter=True),
        "publish_at": timestamp(
            label=("定时发布时间", "Publish at"),
            description="When the article is to be published; a change reschedules a scheduled article.",
        ),
        "published_at": timestamp(
            label=("发布时间", "Published at"),
            read_only=True,
            sort=True,
            filter=True,
            description="When the article became public or, if scheduled, will become public.",
        ),
        "view_count": integer(
            label=("阅读量", "Views"), minimum=0, default=0, read_only=True, sort=True, history=False
        ),
        "revision": integer(
            label=("修订号", "Revision"),
            minimum=0,
            default=0,
            read_only=True,
            description="The number of its newest revision.",
        ),
    },
    indexes=(
        Index("slug", unique=True),
        Index("old_slugs"),
        Index("-published_at"),
        Index("-view_count"),
        Index("category_id", "-published_at"),
        Index("tags", "-published_at"),
        Index("status", "-created_at"),
        Index("status", "published_at"),
        Index("author", "-created_at"),
        Index("-updated_at"),
    ),
    internal=("old_slugs",),
    states=ARTICLE_STATES,
)

# what a revision contains: the text, but neither category nor status
REVISED = ("title", "summary", "content", "format", "source", "cover", "tags", "author", "seo")

REVISIONS: Collection[ArticleRevision] = Collection(
    name="cms_revisions",
    title="ArticleRevision",
    noun=Message("文章修订", "article revision"),
    plain=True,
    ids="text",
    default_sort="-number",
    fields={
        "article_id": object_id(label=("文章", "Article"), nullable=False, ref=ARTICLES.name, on_delete="keep"),
        "number": integer(label=("修订号", "Revision"), minimum=1, nullable=False, sort=True),
        **{name: ARTICLES.fields[name] for name in REVISED},
        "editor_id": integer(
            label=("编辑人", "Editor"),
            minimum=0,
            nullable=False,
            description="Who saved it.",
            ref="users",
            on_delete="keep",
        ),
        "editor": text(label=("编辑人姓名", "Editor's name"), max_length=100),
        "created_at": timestamp(label=("修订时间", "Revised at"), nullable=False),
    },
    indexes=(Index("article_id", "-number", "-id"),),
)

SITE: Collection[SiteConfig] = Collection(
    name="cms_site",
    title="SiteConfig",
    noun=Message("站点设置", "site settings"),
    ids="text",
    watched=True,
    fields={
        "name": text(label=("站点名称", "Site name"), max_length=100, nullable=False, default="Tradewind"),
        "url": text(
            label=("站点地址", "Site address"),
            max_length=300,
            pattern=_SITE,
            nullable=False,
            default="http://localhost:3000",
            description="Address of the public site, which the sitemap and the feed point to.",
        ),
        "article_path": text(
            label=("文章路径", "Article path"),
            max_length=200,
            pattern=rf"^/{_IN_PATH}\{{slug\}}{_IN_PATH}$",
            nullable=False,
            default="/articles/{slug}",
            description="Where the public site shows an article.",
        ),
        "logo": link(label=("站点图标", "Logo"), key=True),
        "description": text(label=("描述", "Description"), max_length=500),
        "keywords": text(label=("关键词", "Keywords"), max_length=300),
        "icp": text(label=("ICP 备案号", "ICP filing number"), max_length=100, description="ICP filing number."),
        "copyright": text(label=("版权信息", "Copyright"), max_length=200),
        "contact": obj(
            "SiteContact",
            {
                "email": text(label=("邮箱", "Email"), max_length=200, format="idn-email"),
                "phone": text(label=("电话", "Phone"), max_length=50),
                "address": text(label=("地址", "Address"), max_length=300),
            },
            label=("联系方式", "Contact"),
        ),
    },
    # whether values that an earlier version stored here are in the settings now
    internal=("moved",),
)

PUBLISH_BODY = shape(
    "ArticlePublishBody",
    publish_at=timestamp(
        description="A future time schedules the article; null publishes it now. Defaults to the article's own."
    ),
)
VERSION_BODY = shape("ArticleVersionBody", version=VERSION)


def _pick(collection: Collection, *names: str) -> dict[str, Field]:
    return {name: collection.all_fields[name] for name in names}


def _omit(collection: Collection, *names: str) -> dict[str, Field]:
    return {name: child for name, child in collection.all_fields.items() if name not in names}


ARTICLE_SUMMARY = shape("ArticleSummary", **_omit(ARTICLES, "content", "source"))
REVISION_SUMMARY = shape(
    "ArticleRevisionSummary",
    **_pick(REVISIONS, "id", "article_id", "number", "title", "editor_id", "editor", "created_at"),
)

# the articles as the public lists them; `sort` and `filter` mark the fields by which the public may sort and filter
_SORTS = ("published_at", "view_count")
PUBLISHED = Collection(
    name=ARTICLES.name,
    title="PublishedArticle",
    plain=True,
    default_sort="-published_at",
    fields={
        name: child.but(sort=name in _SORTS, filter=name == "published_at") for name, child in ARTICLES.fields.items()
    },
)
_CATEGORY = obj("ArticleCategoryLabel", _pick(CATEGORIES, "id", "name", "slug"))
_SUMMARY: dict[str, Field] = {
    **_pick(ARTICLES, "id", "title", "slug", "summary", "cover", "category_id"),
    "category": _CATEGORY,
    **_pick(ARTICLES, "tags", "author"),
    "status": choice("published", nullable=False),
    **_pick(ARTICLES, "published_at", "updated_at", "view_count"),
}
PUBLIC_SUMMARY = shape("PublicArticleSummary", **_SUMMARY)
PUBLIC_ARTICLE = shape("PublicArticle", **_SUMMARY, **_pick(ARTICLES, "content", "seo"))
PREVIEW = shape("ArticlePreview", **{**_SUMMARY, **_pick(ARTICLES, "content", "seo", "status")})
PUBLIC_CATEGORY = tree_of(
    "PublicArticleCategory",
    {
        **_pick(CATEGORIES, "id", "name", "slug", "description"),
        "article_count": integer(
            minimum=0,
            nullable=False,
            description="Number of published articles in the category and its sub-categories.",
        ),
    },
)
PUBLIC_SITE = shape("PublicSiteConfig", **dict(SITE.fields))
PREVIEW_LINK = shape(
    "ArticlePreviewLink",
    url=text(max_length=500, nullable=False),
    expiresIn=integer(label=("有效秒数", "Expires in"), nullable=False, description="In seconds."),
)

ORDERS = ("-published_at", "published_at", "-view_count")
PUBLIC_QUERY = {
    **{name: child for name, child in PUBLISHED.list_query.items() if name != "sort"},
    "sort": choice(*ORDERS, nullable=False, default="-published_at", example="-published_at"),
    "q": text(max_length=100, nullable=False, example="a", description="Search in title, tags and summary."),
    "category_id": object_id(nullable=False, description="Articles of this category and its sub-categories."),
    "tag": text(max_length=50, nullable=False, example="news"),
}
