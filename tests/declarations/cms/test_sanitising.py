"""Stored HTML has only elements and attributes that cannot run anything."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings, strategies as st
from tornado.ioloop import IOLoop

from handlers.confined.pool import Confined
from plugins.cms.rendering import Renderer
from tests.api.cms.xss_vectors import HTML, MARKDOWN

_ELEMENT_NAMES = """
a abbr audio b blockquote br caption cite code col colgroup dd del details div dl dt em figcaption figure h1
h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p picture pre q s samp small span strong sub summary sup table
tbody td tfoot th thead tr u ul video
"""
ELEMENTS = set(_ELEMENT_NAMES.split())
_ATTRIBUTE_NAMES = """
alt class colspan controls height href loading open poster rel rowspan scope span src start style target title
width
"""
ATTRIBUTES = set(_ATTRIBUTE_NAMES.split())
ADDRESSES = {"href", "src", "poster"}


class Faults(HTMLParser):
    """Finds what must never reach a browser, with a parser that is not the one of the sanitiser."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.found.append(tag)
        for name, value in attrs:
            if name not in ATTRIBUTES or (name in ADDRESSES and not leads_to_the_web(value or "")):
                self.found.append(f"{tag} {name}={value}")
            if name == "style" and value and not value.startswith("text-align:"):  # an empty one says nothing
                self.found.append(f"{tag} {name}={value}")
        if tag == "a" and "href" in dict(attrs) and dict(attrs).get("rel") != "noopener noreferrer":
            self.found.append(f"{tag} without rel")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"instruction {data}")


def leads_to_the_web(address: str) -> bool:
    # browsers drop control characters and blanks before they read the scheme
    plain = "".join(letter for letter in address if letter > " ").lower()
    scheme, colon, _ = plain.partition(":")
    relative = not colon or any(letter in scheme for letter in "/?#")
    return relative or scheme in ("http", "https", "mailto", "tel")


@pytest.fixture(scope="module")
def renderer(io_loop: IOLoop) -> Iterator[Renderer]:
    confined = Confined(at_once=1, memory_bytes=512 << 20)
    yield Renderer(confined.lane("test"))
    io_loop.run_sync(confined.close)


@pytest.mark.gen_test(timeout=60)
async def test_nothing_that_could_run_is_left_of_an_attack(renderer: Renderer) -> None:
    cleaned = {vector: await renderer.from_html(vector) for vector in HTML}
    assert {vector: Faults(html).found for vector, html in cleaned.items() if Faults(html).found} == {}
    assert [html for html in cleaned.values() if await renderer.from_html(html) != html] == []


@pytest.mark.gen_test(timeout=60)
async def test_nothing_that_could_run_is_left_of_an_attack_in_markdown(renderer: Renderer) -> None:
    cleaned = {vector: await renderer.from_markdown(vector) for vector in (*MARKDOWN, *HTML)}
    assert {vector: Faults(html).found for vector, html in cleaned.items() if Faults(html).found} == {}


def test_nothing_that_could_run_is_left_of_attacks_cut_and_joined(renderer: Renderer, io_loop: IOLoop) -> None:
    piece = st.tuples(st.sampled_from(HTML), st.integers(0, 60), st.integers(0, 60)).map(
        lambda p: p[0][p[1] : p[1] + p[2]]
    )

    @settings(max_examples=200, deadline=None, database=None)
    @given(st.lists(st.one_of(piece, st.text(max_size=5)), max_size=6).map("".join))
    def check(html: str) -> None:
        clean = io_loop.run_sync(lambda: renderer.from_html(html))
        assert Faults(clean).found == []

    check()


def test_the_check_itself_finds_attacks() -> None:
    attacks = ["<script>x</script>", "<p onclick=x>", "<a href='javascript:x'>", "<a href='/x'>", "<!-- x -->"]
    assert [attack for attack in attacks if not Faults(attack).found] == []


def test_allowed_markup_is_kept(renderer: Renderer, io_loop: IOLoop) -> None:
    html = (
        '<h2>标题</h2><p style="text-align:center"><strong>bold</strong> &amp; <em>em</em><br></p>'
        '<ul><li>one</li></ul><blockquote>q</blockquote><pre><code class="language-python">x &lt; 1</code></pre>'
        '<figure><img src="/files/a.png" alt="a" width="10" loading="lazy"><figcaption>c</figcaption></figure>'
        '<table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td colspan="2">1</td></tr></tbody></table>'
        '<video src="https://example.com/v.mp4" controls=""></video>'
    )
    assert io_loop.run_sync(lambda: renderer.from_html(html)) == html


def test_links_open_without_access_to_the_opener(renderer: Renderer, io_loop: IOLoop) -> None:
    html = io_loop.run_sync(
        lambda: renderer.from_html('<a href="https://example.com" target="_blank" rel="opener">x</a>')
    )
    assert html == '<a href="https://example.com" target="_blank" rel="noopener noreferrer">x</a>'


def test_the_text_of_a_large_article_is_sanitised_too(renderer: Renderer, io_loop: IOLoop) -> None:
    html = io_loop.run_sync(lambda: renderer.from_html("<p>x</p>" * 10_000 + "<script>alert(1)</script>"))
    assert html == "<p>x</p>" * 10_000
