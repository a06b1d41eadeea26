"""Articles as editors see them: text, slugs, sources, data scope."""

import asyncio

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.cms.content import ARTICLES, PUBLIC, change, draft, published

pytestmark = pytest.mark.gen_test(timeout=30)


async def test_an_article_is_created_as_a_draft_and_read_back(admin: Client) -> None:
    created = await draft(admin, content="<p>text</p>", tags=["a", "b"], seo={"title": "seo"})
    assert (created["status"], created["published_at"], created["view_count"]) == ("draft", None, 0)
    assert expect(await admin.get(f"{ARTICLES}/{created['id']}")) == created


async def test_the_author_is_the_creator_unless_another_is_named(admin: Client) -> None:
    assert (await draft(admin))["author"] == admin.user["realName"]
    assert (await draft(admin, author="Lu Xun"))["author"] == "Lu Xun"


async def test_a_list_has_no_texts(admin: Client) -> None:
    author = unique("author")
    await draft(admin, author=author, content="<p>text</p>")
    items = expect(await admin.get(f"{ARTICLES}?author={author}"))["items"]
    assert len(items) == 1
    assert not {"content", "source"} & set(items[0])


@pytest.mark.parametrize("field", ["status", "view_count", "published_at", "revision"])
async def test_read_only_fields_cannot_be_written(field: str, admin: Client) -> None:
    reply = await admin.post(ARTICLES, {"title": "x", field: 1})
    assert (reply.code, reply.fields) == (40001, {field})


@pytest.mark.parametrize("cover", ["javascript:alert(1)", "data:image/svg+xml,<svg/>", "//x y", "a:cover.png"])
async def test_a_cover_is_an_address_or_a_file(cover: str, admin: Client) -> None:
    reply = await admin.post(ARTICLES, {"title": "x", "cover": cover})
    assert (reply.code, reply.fields) == (40001, {"cover"})


async def test_markdown_is_rendered_and_kept_as_it_was_written(admin: Client) -> None:
    source = "# Title\n\n**bold** ~~gone~~ <b onclick=x>html</b>\n\n| a |\n|--:|\n| 1 |\n"
    article = await draft(admin, format="markdown", source=source)
    assert article["source"] == source
    assert "<h1>Title</h1>" in article["content"]
    assert "<strong>bold</strong> <s>gone</s> <b>html</b>" in article["content"]
    assert '<td style="text-align:right">1</td>' in article["content"]


async def test_markdown_is_given_as_source_and_html_as_content(admin: Client) -> None:
    for body, field in (
        ({"format": "markdown"}, "source"),
        ({"format": "markdown", "source": "x", "content": "y"}, "content"),
        ({"source": "x"}, "source"),
    ):
        reply = await admin.post(ARTICLES, {"title": "x", **body})
        assert (reply.code, reply.fields) == (40001, {field})


async def test_an_article_changes_from_markdown_to_html_and_keeps_its_text(admin: Client) -> None:
    article = await draft(admin, format="markdown", source="*text*")
    changed = await change(admin, article, format="html")
    assert (changed["content"], changed["source"]) == (article["content"], None)


async def test_a_text_of_half_a_megabyte_is_accepted_and_a_longer_one_is_refused(admin: Client) -> None:
    assert len((await draft(admin, content="x" * 500_000))["content"]) == 500_000
    reply = await admin.post(ARTICLES, {"title": "x", "content": "x" * 500_001})
    assert (reply.code, reply.fields) == (40001, {"content"})


# -- slugs


@pytest.mark.parametrize(
    ("title", "slug"),
    [("新品 Launch 2026!", "xin-pin-launch-2026"), ("Café à la carte", "cafe-a-la-carte"), ("！？", "article")],
)
async def test_a_slug_is_made_from_the_title(title: str, slug: str, admin: Client) -> None:
    made = (await draft(admin, title=title))["slug"]
    assert made.startswith(slug)


async def test_a_slug_is_never_like_an_id(admin: Client) -> None:
    assert (await draft(admin, title="f" * 24))["slug"].startswith("article-f")
    reply = await admin.post(ARTICLES, {"title": "x", "slug": "f" * 24})
    assert reply.fields == {"slug"}


async def test_articles_of_one_title_get_different_slugs_also_at_once(admin: Client) -> None:
    title = unique("same")
    made = await asyncio.gather(*(draft(admin, title=title) for _ in range(8)))
    assert len({article["slug"] for article in made}) == 8


async def test_articles_of_one_title_get_different_slugs_also_under_idempotency_keys(admin: Client) -> None:
    title = unique("same")
    sent = (admin.post(ARTICLES, {"title": title}, headers={"Idempotency-Key": unique("key")}) for _ in range(8))
    assert len({expect(reply)["slug"] for reply in await asyncio.gather(*sent)}) == 8


async def test_a_taken_slug_is_40900_and_free_again_after_a_delete(admin: Client) -> None:
    slug = unique("slug")
    first = await draft(admin, slug=slug)
    assert expect(await admin.post(ARTICLES, {"title": "x", "slug": slug}), 40900) == {"field": "slug"}
    expect(await admin.delete(f"{ARTICLES}/{first['id']}"))
    assert (await draft(admin, slug=slug))["slug"] == slug


async def test_an_old_slug_leads_to_the_article_and_its_current_address(admin: Client, anonymous: Client) -> None:
    old, new = unique("old"), unique("new")
    article = await published(admin, slug=old)
    await change(admin, article, slug=new)
    reply = await anonymous.get(f"{PUBLIC}/{old}")
    assert (expect(reply)["id"], reply.data["slug"]) == (article["id"], new)
    assert reply.headers["Content-Location"] == f"{PUBLIC}/{new}"
    assert "Content-Location" not in (await anonymous.get(f"{PUBLIC}/{new}")).headers


async def test_the_current_owner_of_a_slug_precedes_a_former_one(admin: Client, anonymous: Client) -> None:
    slug = unique("slug")
    once = await published(admin, slug=slug)
    await change(admin, once, slug=unique("slug"))
    now = await published(admin, slug=slug)
    assert expect(await anonymous.get(f"{PUBLIC}/{slug}"))["id"] == now["id"]


# -- who may


async def test_articles_are_under_data_scope(people: People) -> None:
    rights = ["cms:article:list", "cms:article:read", "cms:article:create"]
    mine, other = await people.person(rights), await people.person(rights)
    article = await draft(mine)
    assert expect(await mine.get(ARTICLES))["total"] == 1
    assert expect(await other.get(ARTICLES))["total"] == 0
    expect(await other.get(f"{ARTICLES}/{article['id']}"), 40400)


async def test_an_unknown_category_is_40001(admin: Client) -> None:
    reply = await admin.post(ARTICLES, {"title": "x", "category_id": "f" * 24})
    assert (reply.code, reply.fields) == (40001, {"category_id"})


def test_files_can_be_attached_to_articles(tradewind: Running) -> None:
    assert tradewind.catalogue.biz_types["ARTICLE"].name == "cms_articles"
