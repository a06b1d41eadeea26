"""Scheduled publication with two instances on one database."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from plugins.cms.publication import PUBLISHED_EVENT, publish_due
from plugins.testing import Client, eventually, expect, serving, unique
from tests.api.cms.content import ARTICLES, FEW, draft, from_now, publish

pytestmark = pytest.mark.gen_test(timeout=40)


async def test_an_article_is_published_at_its_time_by_exactly_one_of_two_instances(
    mongodb_uri: str, tmp_path: Path
) -> None:
    shared = {"mongodb_database": unique("two").replace("-", "_"), "cms_publish_seconds": 0.2}
    published: Counter[str] = Counter()

    async def count_event(payload: dict) -> None:
        published[str(payload["article"]["id"])] += 1

    async with AsyncExitStack() as stack:
        running = [await stack.enter_async_context(serving(mongodb_uri, tmp_path, FEW, **shared)) for _ in range(2)]
        for one in running:
            one.service.events.listen(PUBLISHED_EVENT, count_event)
        admin = await Client(running[0].url).log_in("admin")
        articles = [await publish(admin, await draft(admin), publish_at=from_now(seconds=1)) for _ in range(3)]

        async def pressed() -> bool:
            # both at once and again and again, besides their jobs
            await asyncio.gather(*(publish_due(one.service) for one in running for _ in range(3)))
            return len(published) == 3

        await eventually(pressed, 20)
        await asyncio.gather(*(publish_due(one.service) for one in running))
        assert published == {article["id"]: 1 for article in articles}
        for article in articles:
            after = expect(await admin.get(f"{ARTICLES}/{article['id']}"))
            assert (after["status"], after["version"]) == ("published", article["version"] + 1)


async def test_the_job_alone_publishes_what_is_due(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, FEW, cms_publish_seconds=0.2) as one:
        admin = await Client(one.url).log_in("admin")
        article = await publish(admin, await draft(admin), publish_at=from_now(milliseconds=300))

        async def marked() -> bool:
            return bool(expect(await admin.get(f"{ARTICLES}/{article['id']}"))["status"] == "published")

        await eventually(marked, 10)
