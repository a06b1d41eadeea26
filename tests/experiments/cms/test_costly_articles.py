"""Articles that are expensive to parse: refused or confined, and without a delay for other requests."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from plugins.cms.complexity import TooComplex, estimate_elements
from plugins.testing import Client, People, expect, serving, unique
from tests.api.cms.content import ARTICLES, FEW
from tests.support.raw_http import connected, request
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=40)
# nine characters make as many elements as there is formatting before them
FORMATTED = "<p>" + "".join(f"<b a{number}>" for number in range(800)) + "<p>x" * 1000
COSTLY = {
    "formatting": FORMATTED,
    "much formatting": FORMATTED * 20,
    "attributes": "<a " + " ".join(f"a{number}" for number in range(20_000)) + ">x</a>",
    "nesting": "<div>" * 20_000,
    "hidden ends": "".join(f"<b a{number}><!--</b>-->" for number in range(800)) + "<p>x" * 1000,
}
# seconds of work, by a pattern that a parser of Markdown looks at again and again
LONG = "![[" * 60_000


@pytest.mark.parametrize("content", COSTLY.values(), ids=COSTLY)
async def test_an_article_that_costs_far_more_than_its_length_is_refused(content: str, admin: Client) -> None:
    reply = await admin.post(ARTICLES, {"title": unique("article"), "content": content})
    expect(reply, 40001)
    assert [(error["field"], error["rule"]) for error in reply.data["errors"]] == [("content", "cost")]


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("content", {"content": "& " * 200_000}),
        ("source", {"format": "markdown", "source": "**a** " * 33_000}),
    ],
)
async def test_html_that_is_longer_than_a_response_may_hold_is_refused(
    field: str, body: dict[str, str], admin: Client
) -> None:
    reply = await admin.post(ARTICLES, {"title": unique("article"), **body})
    expect(reply, 40001)
    assert [(error["field"], error["rule"]) for error in reply.data["errors"]] == [(field, "maxLength")]


@pytest.mark.parametrize("address", [" " * 50_000 + ":", "\t" * 50_000 + "javascript:x"])
async def test_a_long_url_is_scanned_once(address: str, admin: Client) -> None:
    began = time.process_time()
    made = expect(await admin.post(ARTICLES, {"title": unique("a"), "content": f'<a href="{address}">x</a>'}))
    assert time.process_time() - began < 2
    assert "href" not in made["content"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>" + "<b>x</b><i>y</i>" * 2000 + "</p>",
        "".join(f"<p><b class='c{number % 20}'>x</b></p>" for number in range(2000)),
        "<ul>" + "<li>x" * 2000 + "</ul>",
        "<p>x" * 2000,
        "<table>" + "<tr><td>a<td>b" * 2000 + "</table>",
        "<a name=x>" * 2000,
        "<svg>" + "<path d='M0 0'/>" * 2000 + "</svg>",
        "<img src='/a.png'/>" * 2000 + "<br/>" * 2000,
        "<!-- <div> -->" * 2000,
    ],
)
def test_long_ordinary_articles_are_not_refused_as_costly(html: str) -> None:
    estimate_elements(html)


def test_a_drawing_hides_no_nesting() -> None:
    with pytest.raises(TooComplex):
        estimate_elements("<svg>" + "<div><section/>" * 2000)


def long_article(client: Client, title: str) -> bytes:
    body = f'{{"title": "{title}", "format": "markdown", "source": "{LONG}"}}'.encode()
    return request(
        f"POST {ARTICLES}", "Content-Type: application/json", f"Authorization: Bearer {client.token}", body=body
    )


async def test_long_work_does_not_delay_other_requests(admin: Client, people: People) -> None:
    other = await people.person(["cms:article:create"])  # one person never has the last place
    async with connected(admin.url) as wire:
        await wire.send(long_article(admin, "long"))
        await asyncio.sleep(0.5)
        async with asyncio.timeout(2):
            expect(await other.post(ARTICLES, {"title": unique("a"), "format": "markdown", "source": "*short*"}))


@pytest.mark.parametrize("http", ["fast", "tornado"])
async def test_the_work_ends_when_its_client_disconnects(http: str, mongodb_uri: str, tmp_path: Path) -> None:
    title = unique("unwanted")
    async with serving(mongodb_uri, tmp_path, FEW, http=http, confined_processes=1) as server:
        admin = await Client(server.url).log_in("admin")
        async with connected(server.url) as wire:
            await wire.send(long_article(admin, title))
            await asyncio.sleep(0.5)
        async with asyncio.timeout(2.5):
            expect(await admin.post(ARTICLES, {"title": "next", "format": "markdown", "source": "*next*"}))
        assert [row["title"] for row in expect(await admin.get(ARTICLES))["items"]] == ["next"]


async def test_a_stop_does_not_wait_for_the_work(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PLUGINS="auth,rbac,system,cms")
    async with server_process(env, tmp_path) as server:
        admin = await Client(await server.url()).log_in("admin")
        works = [
            asyncio.create_task(admin.post(ARTICLES, {"title": f"{n}", "format": "markdown", "source": LONG}))
            for n in range(4)
        ]
        await asyncio.sleep(0.5)
        began = time.perf_counter()
        assert await server.stop() == 0
        assert time.perf_counter() - began < 4
        for reply in await asyncio.gather(*works):
            expect(reply, 50300)
