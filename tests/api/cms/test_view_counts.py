"""View counts: counted in memory and written in batches."""

import asyncio
from pathlib import Path

import pytest

from plugins.boot.runtime import Running
from plugins.cms.views import ViewCounts
from plugins.testing import Client, eventually, expect, serving, unique
from tests.api.cms.content import ARTICLES, FEW, PUBLIC, draft, published

pytestmark = pytest.mark.gen_test(timeout=30)


async def views(admin: Client, article: dict) -> int:
    return int(expect(await admin.get(f"{ARTICLES}/{article['id']}"))["view_count"])


async def test_views_of_many_articles_are_counted_without_a_new_version(
    admin: Client, anonymous: Client, tradewind: Running
) -> None:
    articles = [await published(admin) for _ in range(3)]
    for times, article in enumerate(articles, start=1):
        for name in (article["id"], article["slug"])[:times]:
            expect(await anonymous.get(f"{PUBLIC}/{name}"))
    await anonymous.call("HEAD", f"{PUBLIC}/{articles[0]['id']}")
    await tradewind.service.part(ViewCounts).flush()
    assert [await views(admin, article) for article in articles] == [1, 2, 2]
    after = expect(await admin.get(f"{ARTICLES}/{articles[0]['id']}"))
    assert (after["version"], after["updated_at"]) == (articles[0]["version"], articles[0]["updated_at"])


async def test_an_article_that_is_not_shown_is_not_counted(
    admin: Client, anonymous: Client, tradewind: Running
) -> None:
    article = await draft(admin)
    expect(await anonymous.get(f"{PUBLIC}/{article['id']}"), 40400)
    await tradewind.service.part(ViewCounts).flush()
    assert await views(admin, article) == 0


async def test_writing_at_once_on_two_instances_loses_no_view(mongodb_uri: str, tmp_path: Path) -> None:
    shared = {"mongodb_database": unique("views").replace("-", "_"), "cms_views_seconds": 0.05}
    async with (
        serving(mongodb_uri, tmp_path, FEW, **shared) as one,
        serving(mongodb_uri, tmp_path, FEW, **shared) as other,
    ):
        admin = await Client(one.url).log_in("admin")
        article = await published(admin)
        readers = [Client(running.url) for running in (one, other)]
        await asyncio.gather(*(reader.get(f"{PUBLIC}/{article['id']}") for reader in readers for _ in range(50)))

        async def all_written() -> bool:
            return await views(admin, article) == 100

        await eventually(all_written, 10)


async def test_pending_views_are_written_when_the_process_stops(mongodb_uri: str, tmp_path: Path) -> None:
    shared = {"mongodb_database": unique("stop").replace("-", "_")}
    async with serving(mongodb_uri, tmp_path, FEW, **shared) as one:
        article = await published(await Client(one.url).log_in("admin"))
        expect(await Client(one.url).get(f"{PUBLIC}/{article['id']}"))
    async with serving(mongodb_uri, tmp_path, FEW, **shared) as next_one:
        assert await views(await Client(next_one.url).log_in("admin"), article) == 1


async def test_popular_articles_come_first_when_asked_so(admin: Client, anonymous: Client, tradewind: Running) -> None:
    tag = unique("popular")
    ids = [(await published(admin, tags=[tag]))["id"] for _ in range(2)]
    expect(await anonymous.get(f"{PUBLIC}/{ids[0]}"))
    await tradewind.service.part(ViewCounts).flush()
    page = expect(await anonymous.get(f"{PUBLIC}?tag={tag}&sort=-view_count"))
    assert [row["id"] for row in page["items"]] == ids
