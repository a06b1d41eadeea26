"""Draft, scheduled, published, archived: the transitions, and what the public sees in each state."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from handlers.schema.conversion import parse_time
from plugins.testing import Client, eventually, expect
from tests.api.cms.content import ARTICLES, PUBLIC, change, draft, from_now, publish, published

pytestmark = pytest.mark.gen_test(timeout=30)


async def make(client: Client, state: str) -> dict:
    article = await draft(client)
    if state == "scheduled":
        return await publish(client, article, publish_at=from_now(hours=1))
    if state in ("published", "archived"):
        article = await publish(client, article)
    if state == "archived":
        return expect(await client.post(f"{ARTICLES}/{article['id']}/unpublish"))
    return article


@pytest.mark.parametrize(
    ("state", "action", "body", "outcome"),
    [
        ("draft", "publish", {}, "published"),
        ("draft", "publish", {"publish_at": "later"}, "scheduled"),
        ("draft", "publish", {"publish_at": "earlier"}, "published"),
        ("draft", "unpublish", {}, 40901),
        ("scheduled", "publish", {"publish_at": None}, "published"),
        ("scheduled", "publish", {}, "scheduled"),
        ("scheduled", "publish", {"publish_at": "later"}, "scheduled"),
        ("scheduled", "unpublish", {}, "archived"),
        ("published", "publish", {}, 40901),
        ("published", "publish", {"publish_at": "later"}, 40901),
        ("published", "unpublish", {}, "archived"),
        ("archived", "publish", {}, "published"),
        ("archived", "publish", {"publish_at": "later"}, "scheduled"),
        ("archived", "unpublish", {}, 40901),
    ],
)
async def test_every_state_allows_what_the_state_machine_says(
    state: str, action: str, body: dict, outcome: str | int, admin: Client, anonymous: Client
) -> None:
    article = await make(admin, state)
    times = {"later": from_now(hours=2), "earlier": from_now(hours=-2)}
    sent = {name: times.get(value, value) for name, value in body.items()}
    reply = await admin.post(f"{ARTICLES}/{article['id']}/{action}", sent)
    expect(reply, outcome if isinstance(outcome, int) else 0)
    after = expect(await admin.get(f"{ARTICLES}/{article['id']}"))
    assert after["status"] == (state if isinstance(outcome, int) else outcome)
    assert (after["published_at"] is None) == (after["status"] in ("draft", "archived"))
    expect(await anonymous.get(f"{PUBLIC}/{article['id']}"), 0 if after["status"] == "published" else 40400)


async def test_of_many_concurrent_publications_one_succeeds(admin: Client) -> None:
    article = await draft(admin)
    sent = (admin.post(f"{ARTICLES}/{article['id']}/publish", {}) for _ in range(8))
    assert sorted(reply.code for reply in await asyncio.gather(*sent)) == [0, *[40901] * 7]


async def test_a_stale_version_publishes_nothing(admin: Client) -> None:
    article = await draft(admin)
    await change(admin, article, summary="changed")
    expect(await admin.post(f"{ARTICLES}/{article['id']}/publish", {"version": article["version"]}), 40902)


async def test_the_time_planned_in_a_draft_schedules_it(admin: Client) -> None:
    article = await draft(admin, publish_at=from_now(hours=1))
    assert (await publish(admin, article))["status"] == "scheduled"


async def test_changing_the_time_of_a_scheduled_article_reschedules_it(admin: Client, anonymous: Client) -> None:
    article = await make(admin, "scheduled")
    await change(admin, article, publish_at=from_now(seconds=-1))
    expect(await anonymous.get(f"{PUBLIC}/{article['id']}"))


async def test_a_scheduled_article_keeps_a_time_and_a_published_one_its_own(admin: Client) -> None:
    for state, publish_at in (("scheduled", None), ("published", from_now(hours=1))):
        article = await make(admin, state)
        body = {"version": article["version"], "publish_at": publish_at}
        expect(await admin.patch(f"{ARTICLES}/{article['id']}", body), 40901)


async def test_a_scheduled_article_appears_at_its_time(admin: Client, anonymous: Client) -> None:
    at = from_now(seconds=1)
    article = await publish(admin, await draft(admin), publish_at=at)
    expect(await anonymous.get(f"{PUBLIC}/{article['slug']}"), 40400)

    async def shown() -> bool:
        return (await anonymous.get(f"{PUBLIC}/{article['slug']}")).code == 0

    await eventually(shown, 10)
    assert parse_time(at) <= datetime.now(UTC) < parse_time(at) + timedelta(seconds=30)
    public = expect(await anonymous.get(f"{PUBLIC}/{article['slug']}"))
    assert parse_time(public["published_at"]) == parse_time(at)


async def test_a_deleted_article_is_gone_from_the_public(admin: Client, anonymous: Client) -> None:
    article = await published(admin)
    expect(await admin.delete(f"{ARTICLES}/{article['id']}"))
    for name in (article["id"], article["slug"]):
        expect(await anonymous.get(f"{PUBLIC}/{name}"), 40400)
