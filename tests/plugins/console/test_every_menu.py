"""Every menu of the console opens in a browser, for people of several kinds: nothing is refused, nothing fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.registry import load_plugins
from plugins.runtime import Running
from plugins.testing import PASSWORD, Client, People, expect, serving, unique
from tests.plugins.console.browser import Console, do, opened
from tests.plugins.console.work import Work, work_of
from tests.scripts.test_new_plugin import written

pytestmark = pytest.mark.gen_test(timeout=180)
# who works at which parts of the API, or at which lists, so that every list has somebody
WORK = {
    "admin": ("system", "finance", "hrm"),
    "manager": ("approvals", "cms", "inventory"),
    "sales": ("crm",),
    "staff": ("finance.expense-claims", "approvals.instances"),
}
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
        console.robot("open", address=f"#/{code}")
        assert console.count(f"nav a[data-menu='{code}'][aria-current=page]")
        if console.count("main .dashboard"):  # charts that it leaves behind would be drawn nowhere
            console.draw_all("main .dashboard", "canvas, .figure")
        said |= set(console.browser.execute_script(SAID))
    return codes, said


def faults(console: Console) -> list[str]:
    """The requests that were refused, and what the browser complained of."""
    return [*console.browser.execute_script("return window.refused.splice(0)"), *console.complaints()]


def english(said: set[str]) -> list[str]:
    return sorted(text for text in said if _ENGLISH.search(_KNOWN.sub("", text)))


def password_of(company: Running, username: str) -> str:
    return PASSWORD if username == "admin" else company.service.demo_password(username)


@pytest.mark.parametrize("username", WORK)
async def test_every_menu_opens_in_chinese(console: Console, company: Running, username: str) -> None:
    await do(console.speak, "zh")
    await do(console.log_in, username, "main .drawn", password_of(company, username))
    codes, said = await do(walk, console)
    assert len(codes) > 10
    assert "\n".join(await do(faults, console)) == ""
    assert english(said) == []


def labour(console: Console, work: Work) -> None:
    """Make a record, change it, and take an action with it or delete it."""
    console.robot("open", address=f"#/{work.menu}", tab=work.tab)
    console.robot("fill", button=work.create, values=dict(work.typed))
    made = console.browser.execute_script("return window.made")
    console.robot("open", address=f"#/records/{work.subject.name}/{made}")
    if work.changed:
        console.robot("change", button="Change", name=work.changed, value=unique("other"))
    if work.action:
        console.robot("confirm", button=work.action)
    elif work.deletes:
        console.robot("confirm", button="Delete")


@pytest.mark.parametrize("username", WORK)
async def test_records_are_made_changed_and_deleted_at_their_pages(
    console: Console, company: Running, username: str
) -> None:
    person = await Client(company.url).log_in(username, password_of(company, username))
    works = [*work_of(set(person.session["permissions"]), WORK[username])]
    assert len(works) >= (2 if username == "staff" else 5)
    await do(console.speak, "en")
    await do(console.log_in, username, "main .drawn", password_of(company, username))
    await do(console.watch)
    for work in works:
        await do(labour, console, work)
        assert "\n".join(await do(faults, console)) == "", work.subject.name


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
