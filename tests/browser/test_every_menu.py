"""Every menu of the console opens in a browser, for people of several kinds: nothing is refused, nothing fails."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.console.site import Site, Subject
from plugins.plugin import Plugin
from plugins.registry import load_plugins
from plugins.runtime import Running
from plugins.testing import PASSWORD, Client, People, expect, serving, unique
from tests.browser.browser import Console, do, opened
from tests.browser.work import PEOPLE, SITE, TAKEN, Work, made_by_hand, taken_at, work_of
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker
from tests.system.scripts.test_new_plugin import written
from tests.system.test_readme import plugin_of_the_readme

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


@pytest.mark.parametrize("username", PEOPLE)
async def test_every_menu_opens_in_chinese(console: Console, company: Running, username: str) -> None:
    await do(console.speak, "zh")
    await do(console.log_in, username, "main .drawn", password_of(company, username))
    codes, said = await do(walk, console)
    assert len(codes) > 10
    assert "\n".join(await do(faults, console)) == ""
    assert english(said) == []


def make(console: Console, work: Work, typed: Mapping[str, str]) -> str:
    """Make a record and show it; returns by what its row is found where it has no page."""
    console.robot("open", address=f"#/{work.menu}", tab=work.tab)
    console.robot("fill", button=work.create, values={**work.typed, **typed})
    if not work.shown_as:
        made = console.browser.execute_script("return window.made")
        console.robot("open", address=f"#/records/{work.subject.name}/{made}")
    return work.shown_as


def labour(console: Console, work: Work, typed: Mapping[str, str]) -> None:
    """Make a record, change it, take an action with it, and delete it, or another one that no action was taken with."""
    row = make(console, work, typed)
    if work.changed:
        console.robot("change", button="Change", name=work.changed, value=unique("other"), row=row)
    if work.action and work.typed_in is None:
        console.robot("confirm", button=work.action, row=row)
    elif work.action:
        console.robot("fill", button=work.action, values=dict(work.typed_in or {}), row=row)
    if work.deletes:
        row = make(console, work.again(), typed) if work.action and not row else row
        console.robot("confirm", button="Delete", row=row)


async def prepared(work: Work, person: Client, admin: Client) -> dict[str, str]:
    """What is to be chosen in the form, after what it is about was made: a contract that something can be paid of."""
    if work.subject.name not in ("crm.payment-plans", "crm.payments"):
        return {}
    customer = expect(await person.post("/api/v1/crm/customers", {"name": unique("customer")}))
    body = {"customer_id": customer["id"], "name": unique("contract"), "amount": "1000000.00"}
    contract = expect(await person.post("/api/v1/crm/contracts", body))
    expect(await person.post(f"/api/v1/crm/contracts/{contract['id']}/submit", {}))
    expect(await admin.post(f"/api/v1/crm/contracts/{contract['id']}/approve", {}))
    return {"contract_id": body["name"]}


@pytest.mark.gen_test(timeout=480)
@pytest.mark.parametrize("username", PEOPLE)
async def test_records_are_made_changed_acted_on_and_deleted_at_their_pages(
    console: Console, company: Running, username: str
) -> None:
    admin = await Client(company.url).log_in("admin")
    person = await Client(company.url).log_in(username, password_of(company, username))
    works = [*work_of(set(person.session["permissions"]), PEOPLE[username])]
    assert len(works) >= (2 if username == "staff" else 5)
    await do(console.speak, "en")
    await do(console.log_in, username, "main .drawn", password_of(company, username))
    await do(console.watch)
    for work in works:
        await do(labour, console, work, await prepared(work, person, admin))
        assert "\n".join(await do(faults, console)) == "", work.subject.name


async def test_every_list_with_a_form_is_worked_at_by_somebody(company: Running) -> None:
    worked = set()
    for username, modules in PEOPLE.items():
        person = await Client(company.url).log_in(username, password_of(company, username))
        worked |= {work.subject.name for work in work_of(set(person.session["permissions"]), modules)}
    assert worked == {subject.name for subject in made_by_hand()}


async def row_to_act_on(name: str, admin: Client, maker: Maker) -> tuple[str, str]:
    """A record that nobody makes by a form: its id where it has a page, or what its row shows."""
    if name == "system.sessions":
        return "", (await maker.person()).user["username"]
    if name == "finance.payables":  # the demo has some
        return "", ""
    if name == "finance.periods":
        months = expect(await admin.get("/api/v1/finance/periods?closed=false&page_size=200"))["items"]
        return "", min(month["id"] for month in months)
    collection = SITE.subjects[name].collection
    assert collection is not None
    return str((await maker.record(collection.name))["id"]), ""


def act(console: Console, subject: Subject, record: str, row: str) -> None:
    """Take the action of a list at the page of a record, or in its row."""
    button, asks = taken_at(subject)
    tab = SITE.title_of(subject).en if len(SITE.of_menu(SITE.menus[SITE.menu_of(subject)])) > 1 else ""
    at = f"#/records/{subject.name}/{record}" if record else f"#/{SITE.menu_of(subject)}"
    console.robot("open", address=at, tab="" if record else tab)
    if asks:
        console.robot("fill", button=button, values={}, row=row)
    else:
        console.robot("confirm", button=button, row=row)


@pytest.mark.parametrize("name", TAKEN)
async def test_records_that_nobody_makes_by_a_form_are_acted_on(console: Console, company: Running, name: str) -> None:
    admin = await Client(company.url).log_in("admin")
    record, row = await row_to_act_on(name, admin, Maker(admin, HAND_MADE, company.catalogue))
    await do(console.browser.get, f"{company.url}/console")
    await do(console.speak, "en")
    await do(console.log_in, "admin", "main .drawn")
    await do(console.watch)
    await do(act, console, SITE.subjects[name], record, row)
    assert "\n".join(await do(faults, console)) == ""


async def worked_at(console: Console, running: Running, plugin: Plugin) -> tuple[Client, set[str]]:
    """Let somebody with no rights but those of a plugin do all that its pages offer; return them, and what is said in Chinese."""
    people = People(await Client(running.url).log_in("admin"))
    person = await people.person([route.access for route in plugin.routes], "all")
    await do(console.browser.get, f"{running.url}/console")
    await do(console.speak, "zh")
    await do(console.log_in, person.user["username"], "main .drawn")
    codes, said = await do(walk, console)
    assert plugin.name in codes
    await do(console.speak, "en")
    await do(console.log_in, person.user["username"], "main .drawn")
    await do(console.watch)
    works = [*work_of(set(person.session["permissions"]), (plugin.name,), Site(running.catalogue))]
    assert [work.subject.collection for work in works] == [*plugin.collections]
    for work in works:
        assert work.changed
        assert work.deletes
        await do(labour, console, work, {})
    assert "\n".join(await do(faults, console)) == ""
    return person, said


async def test_records_of_a_new_plugin_are_made_changed_and_deleted_by_its_user(
    console: Console, mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = written(tmp_path, monkeypatch, "dock", "berth", "--dashboard")
    plugins = [*load_plugins(("auth", "rbac", "dashboard", "console")), plugin]
    async with serving(mongodb_uri, tmp_path, plugins=plugins) as running:
        person, said = await worked_at(console, running, plugin)
        (deleted,) = expect(await person.get("/api/v1/dock/berths?deleted=true"))["items"]
        assert deleted["name"].startswith("other")
        assert expect(await person.get("/api/v1/dock/berths"))["items"] == []
    # its own names, which were given in English
    assert [text for text in english(said) if not {"Dock", "Berth"} & set(re.findall("[A-Za-z]+", text))] == []


async def test_records_of_the_plugin_of_the_readme_go_through_their_states(
    console: Console, mongodb_uri: str, tmp_path: Path
) -> None:
    plugin = plugin_of_the_readme()
    async with serving(mongodb_uri, tmp_path, plugins=[*load_plugins(()), plugin]) as running:
        person, said = await worked_at(console, running, plugin)
        (asked,) = expect(await person.get("/api/v1/harbour/berths"))["items"]
        assert (asked["name"][:5], asked["status"]) == ("other", "asked")
        assert len(expect(await person.get("/api/v1/harbour/berths?deleted=true"))["items"]) == 1
    assert english(said) == []
