"""Previews: a signed link opens one article until it expires."""

import time

import pytest

from handlers.access.signatures import Signatures
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.cms.content import ARTICLES, CMS, draft, publish

pytestmark = pytest.mark.gen_test(timeout=30)


async def link(client: Client, article: dict) -> str:
    return str(expect(await client.post(f"{ARTICLES}/{article['id']}/preview"))["url"])


async def test_a_link_shows_a_draft_to_whoever_has_it_and_is_not_cached(admin: Client, anonymous: Client) -> None:
    article = await draft(admin, content="<p>text</p>")
    made = expect(await admin.post(f"{ARTICLES}/{article['id']}/preview"))
    until = int(made["url"].partition("token=")[2].partition(".")[0])
    assert made["expiresIn"] == 1800
    assert abs(until - time.time() - 1800) < 30
    reply = await anonymous.get(made["url"])
    assert (expect(reply)["content"], reply.data["status"]) == ("<p>text</p>", "draft")
    assert not {"creator_id", "version", "source"} & set(reply.data)
    told = [reply.headers[name] for name in ("Cache-Control", "X-Robots-Tag", "Referrer-Policy")]
    assert told == ["no-store", "noindex", "no-referrer"]


async def test_a_link_does_not_open_another_article(admin: Client, anonymous: Client) -> None:
    one, other = await draft(admin), await draft(admin)
    token = (await link(admin, one)).partition("?")[2]
    expect(await anonymous.get(f"{CMS}/preview/{other['id']}?{token}"), 40400)


async def test_a_token_that_was_tampered_with_opens_nothing(admin: Client, anonymous: Client) -> None:
    article = await draft(admin)
    url = await link(admin, article)
    at, _, token = url.partition("?token=")
    until, _, signature = token.partition(".")
    forged = (
        f"{int(until) + 1}.{signature}",
        f"{until}.{'0' * 64}",
        f"{until}.",
        until,
        signature,
        "",
        ".",
        "%C2%B2.x",
        f"{until}.{signature[:-1]}",
        f"-{token}",
        f"{until}.%C3%A4",
    )
    for wrong in forged:
        expect(await anonymous.get(f"{at}?token={wrong}"), 40400)
    expect(await anonymous.get(at), 40400)
    expect(await anonymous.get(url))


async def test_a_token_of_another_secret_or_of_the_past_opens_nothing(
    admin: Client, anonymous: Client, tradewind: Running
) -> None:
    article = await draft(admin)
    secret = tradewind.service.signing_secrets[0]
    ahead, past = int(time.time()) + 60, int(time.time()) - 1
    for key, until, code in ((secret, ahead, 0), ("x" * 32, ahead, 40400), (secret, past, 40400)):
        signature = Signatures([key]).sign("cms.preview", {"id": article["id"]}, until)
        expect(await anonymous.get(f"{CMS}/preview/{article['id']}?token={until}.{signature}"), code)


async def test_a_link_opens_no_deleted_article(admin: Client, anonymous: Client) -> None:
    article = await publish(admin, await draft(admin))
    url = await link(admin, article)
    expect(await admin.delete(f"{ARTICLES}/{article['id']}"))
    expect(await anonymous.get(url), 40400)


async def test_a_link_is_made_with_the_permission_and_within_the_data_scope_only(admin: Client, people: People) -> None:
    article = await draft(admin)
    reader = await people.person(["cms:article:read"], scope="all")
    expect(await reader.post(f"{ARTICLES}/{article['id']}/preview"), 40300)
    stranger = await people.person(["cms:article:preview"])
    expect(await stranger.post(f"{ARTICLES}/{article['id']}/preview"), 40400)
