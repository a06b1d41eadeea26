"""The attacks of `xss_vectors`, stored as articles and shown by a real browser: no script runs.

The page writes down every dialogue, error of a script, and what a reader's clicks and moves set off. A page of the
same attacks as they were sent shows that it would notice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.cms.rendering import Renderer
from plugins.testing import Client, expect
from tests.api.cms.content import ARTICLES, draft
from tests.api.cms.xss_vectors import HTML, MARKDOWN
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=60)
WATCH = """
window.hits = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = what => { hits.push(name + " " + what); };
addEventListener("error", event => { if (event instanceof ErrorEvent) hits.push("error " + event.message); });
window.onunhandledrejection = event => { hits.push("rejection " + event.reason); };
"""
READ = """
const EVENTS = ["click", "mouseover", "mouseenter", "mousemove", "pointerover", "focus", "focusin", "toggle", "load",
                "error", "loadstart", "animationstart", "begin", "input", "submit", "keydown", "pageshow", "close"];
addEventListener("click", event => { if (/^(https?|mailto|tel|file):/.test(event.target.closest("a")?.protocol ?? "")) event.preventDefault(); });
addEventListener("load", () => {
  for (const element of document.querySelectorAll("article *")) {
    for (const name of EVENTS) element.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}));
    if (element.click) element.click();
  }
  // a javascript: address and a failed picture run later than what leads to them
  setTimeout(() => { document.title = "read"; }, 300);
});
"""


def hits(console: Console, folder: Path, contents: Sequence[str], way: str) -> list[str]:
    """What ran when these texts were shown, `written` into the page or `set` as a front end does it."""
    page = folder / "page.html"
    page.write_text(_page(contents, way), encoding="utf-8", errors="surrogatepass")
    console.browser.get(page.as_uri())
    console.until(lambda: console.browser.title == "read")
    found: list[str] = console.browser.execute_script("return window.hits")
    return found


def _page(contents: Sequence[str], way: str) -> str:
    if way == "written":
        body = "".join(f"<article>{content}</article>\n" for content in contents)
    else:
        texts = json.dumps(contents).replace("<", "\\u003c")
        body = f"""<script>for (const text of {texts}) {{
            const article = document.body.appendChild(document.createElement("article")); article.innerHTML = text;
        }}</script>"""
    return f"<!doctype html><meta charset=utf-8><script>{WATCH}{READ}</script><body>{body}"


@pytest.fixture(scope="module")
def stored_contents(io_loop: IOLoop, company: Running) -> list[str]:
    """The HTML that the service keeps for an article of each attack, as HTML and as Markdown."""
    renderer = company.service.part(Renderer)

    async def stored() -> list[str]:
        of_html = [await renderer.from_html(attack) for attack in HTML]
        return of_html + [await renderer.from_markdown(attack) for attack in (*MARKDOWN, *HTML)]

    found: list[str] = io_loop.run_sync(stored)
    return found


async def test_what_the_api_returns_is_what_is_tried_here(admin: Client, stored_contents: list[str]) -> None:
    for attack, stored in list(zip(HTML, stored_contents, strict=False))[::20]:
        article = await draft(admin, content=attack)
        link = expect(await admin.post(f"{ARTICLES}/{article['id']}/preview"))
        assert expect(await admin.get(link["url"]))["content"] == stored


@pytest.mark.parametrize("way", ["written", "set"])
async def test_no_stored_attack_runs(way: str, console: Console, tmp_path: Path, stored_contents: list[str]) -> None:
    assert len(stored_contents) == 2 * len(HTML) + len(MARKDOWN)
    assert await do(hits, console, tmp_path, stored_contents, way) == []
    # make sure that the articles are on the page
    assert await do(console.count, "article *") > 200


@pytest.mark.parametrize("way", ["written", "set"])
async def test_the_page_notices_attacks_that_were_not_sanitised(way: str, console: Console, tmp_path: Path) -> None:
    raw = (
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(2)'>X</a>",
        "<p onmouseover=alert(3)>x</p>",
        "<details open ontoggle=alert(4)>x</details>",
        "<form><button formaction='javascript:alert(5)'>X</button></form>",
        "<b onclick='undefined_name()'>x</b>",
    )
    found = set(await do(hits, console, tmp_path, raw, way))
    assert found == {
        *(f"alert {n}" for n in range(1, 6)),
        "error Uncaught ReferenceError: undefined_name is not defined",
    }
