"""Every menu of the console opens in a browser, for people of several kinds: nothing is refused, nothing fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.registry import load_plugins
from plugins.runtime import Running
from plugins.testing import PASSWORD, Client, People, expect, serving
from tests.plugins.console.browser import Console, do, opened
from tests.scripts.test_new_plugin import written

pytestmark = pytest.mark.gen_test(timeout=180)
CODES = "return [...document.querySelectorAll('nav a[data-menu]')].map((link) => link.dataset.menu)"
# what people read that is not data of records: heads of columns, buttons, tabs, labels of forms, what the page says
SAID = """
const parts = "th, button, [role=tab], label, .antd-Page-title, .antd-Alert, .antd-Panel-title, .notice";
const said = [...document.querySelectorAll(`main :is(${parts}), nav a, nav summary`)].map((part) => part.innerText);
const asked = [...document.querySelectorAll("main [placeholder]")].map((part) => part.placeholder);
return [...new Set([...said, ...asked])];
"""
# names and abbreviations that Chinese readers know as they are
_KNOWN = re.compile(r"\b(ID|IP|SKU|URL|API|SEO|ICP|GPS|JSON|CSV|XLSX|Excel|HTTP|WebSocket|WiFi|Tradewind)\b")
_ENGLISH = re.compile(r"[A-Za-z]{2,}")


@pytest.fixture(scope="module")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A company with demo data that no other test has changed."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("company"), demo=True)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def console(io_loop: IOLoop, company: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with opened(io_loop, company.url, tmp_path_factory.mktemp("chromium")) as console:
        yield console


def walk(console: Console) -> tuple[list[str], set[str]]:
    """Open every menu of the person; returns their codes, and what the pages say."""
    console.watch()
    codes = console.browser.execute_script(CODES)
    said: set[str] = set()
    for code in codes:
        link = f"nav a[data-menu='{code}']"
        console.press(link)
        console.until(lambda link=link: console.count(f"{link}[aria-current]") and console.count("main .drawn"))
        console.rest()
        if console.count("main .dashboard"):  # charts that it leaves behind would be drawn nowhere
            console.draw_all("main .dashboard", "canvas, .figure")
        said |= set(console.browser.execute_script(SAID))
    return codes, said


def faults(console: Console) -> list[str]:
    """The requests that were refused, and what the browser complained of."""
    return [*console.browser.execute_script("return window.refused.splice(0)"), *console.complaints()]


def english(said: set[str]) -> list[str]:
    return sorted(text for text in said if _ENGLISH.search(_KNOWN.sub("", text)))


@pytest.mark.parametrize("username", ["admin", "sales"])
async def test_every_menu_opens_in_chinese(console: Console, company: Running, username: str) -> None:
    password = PASSWORD if username == "admin" else company.service.demo_password(username)
    await do(console.speak, "zh")
    await do(console.log_in, username, "main .drawn", password)
    codes, said = await do(walk, console)
    assert len(codes) > 10
    assert "\n".join(await do(faults, console)) == ""
    assert english(said) == []


async def test_records_of_a_new_plugin_are_made_and_changed_by_its_user(
    console: Console, mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = written(tmp_path, monkeypatch, "dock", "berth", "--dashboard")
    plugins = [*load_plugins(("auth", "rbac", "dashboard", "console")), plugin]
    async with serving(mongodb_uri, tmp_path, plugins=plugins) as running:
        people = People(await Client(running.url).log_in("admin"))
        rights = [route.access for route in plugin.routes]
        person = await people.person(rights, "all")
        await do(console.browser.get, f"{running.url}/console")
        await do(console.log_in, person.user["username"], "main .drawn")
        codes, _ = await do(walk, console)
        assert set(codes) == {"dashboard", "dock"}
        await do(console.open, "#/dock", "main table")
        await do(console.create, "north quay")
        berth = expect(await person.get("/api/v1/dock/berths"))["items"][0]
        assert berth["name"] == "north quay"
        await do(console.open, f"#/records/dock.berths/{berth['id']}", "main .antd-Tabs")
        await do(lambda: console.edit(name="south quay"))
        await do(console.press, ".antd-Drawer .antd-Button--primary")
        await do(console.until, lambda: not console.count(".antd-Drawer"))
        assert expect(await person.get(f"/api/v1/dock/berths/{berth['id']}"))["name"] == "south quay"
        assert "\n".join(await do(faults, console)) == ""
