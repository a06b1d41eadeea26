"""Work in the console: with keys alone, at the desk of approvals, with news that arrive, and with hostile texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tornado.ioloop import IOLoop

from plugins.console.site import Site, Subject
from plugins.runtime import Running
from plugins.testing import Client, People, expect, serving, unique
from tests.api.approval.flows import EVERYTHING, ask, define, node
from tests.api.cms.xss_vectors import HTML, MARKDOWN
from tests.browser.browser import Console, do, opened
from tests.support.catalogue import CATALOGUE
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=180)
CUSTOMERS = [f"crm:customer:{action}" for action in ("list", "read", "create", "update", "delete")]
CONTRACTS = [f"crm:contract:{action}" for action in ("list", "read", "create", "update", "submit", "approve")]
SHORT, MARKED, PAGE = 100, 20, 20  # characters of a short name, and of the mark before the vectors; rows of a page
MOST_OF_A_PAGE = 200
OPEN = "one.textContent.trim() === 'Open' && one.closest('tr').textContent.includes({})"


@pytest.fixture(scope="module")
def tradewind(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with what these tests make, and no more: what others leave behind may be what a person sees first."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("working"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def admin(io_loop: IOLoop, tradewind: Running) -> Client:
    return io_loop.run_sync(lambda: Client(tradewind.url).log_in("admin"))


@pytest.fixture(scope="module")
def people(admin: Client) -> People:
    return People(admin)


@pytest.fixture(scope="module")
def maker(admin: Client, tradewind: Running) -> Maker:
    return Maker(admin, HAND_MADE, tradewind.catalogue)


@pytest.fixture(scope="module")
def console(io_loop: IOLoop, tradewind: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with opened(io_loop, tradewind.url, tmp_path_factory.mktemp("chromium")) as console:
        yield console


def shown(console: Console) -> str:
    return console.browser.find_element(By.TAG_NAME, "body").text


def create_with_keys(console: Console, username: str, name: str) -> None:
    """Log in and create a customer, without a mouse."""
    console.log_in_with_keys(username)
    console.enter("one.dataset.menu === 'crm.customer'")
    console.until(lambda: console.count("main .antd-Crud button"))
    console.enter("one.matches('main button.antd-Button--primary')")
    console.until(lambda: console.count(".antd-Drawer input[name=name]"))
    console.reach("one.matches('.antd-Drawer input[name=name]')")
    console.keys(name)
    console.enter("one.matches('.antd-Drawer .antd-Button--primary')")
    console.until(lambda: not console.count(".antd-Drawer") and name in shown(console))


def approve_with_keys(console: Console, username: str, title: str) -> None:
    """Log in, find a contract and approve it, without a mouse."""
    console.log_in_with_keys(username)
    console.enter("one.dataset.menu === 'crm.contract'")
    console.until(lambda: title in shown(console))
    console.enter(OPEN.format(repr(title)))
    console.until(lambda: console.count("main .antd-Property"))
    console.enter("one.textContent.trim() === 'Approve' && !one.disabled")
    console.until(lambda: console.count(".antd-Modal .antd-Button--danger"))
    console.enter("one.matches('.antd-Modal .antd-Button--danger')")


async def test_a_customer_is_created_and_a_contract_approved_with_keys_alone(console: Console, people: People) -> None:
    staff, manager = await people.person([*CUSTOMERS, *CONTRACTS]), await people.person(CONTRACTS, "all")
    name, title = unique("customer"), unique("contract")
    await do(console.speak, "en")
    await do(create_with_keys, console, staff.user["username"], name)
    (customer,) = expect(await staff.get(f"/api/v1/crm/customers?q={name}"))["items"]
    body = {"customer_id": customer["id"], "name": title, "amount": "5.00"}
    contract = expect(await staff.post("/api/v1/crm/contracts", body))
    expect(await staff.post(f"/api/v1/crm/contracts/{contract['id']}/submit", {}))
    await do(console.speak, "en")
    await do(approve_with_keys, console, manager.user["username"], title)

    async def state() -> str:
        return str(expect(await manager.get(f"/api/v1/crm/contracts/{contract['id']}"))["status"])

    await do(console.until, lambda: "In force" in shown(console))
    assert await state() == "in_force"


async def test_what_waits_for_somebody_is_told_and_decided_on_at_the_desk(
    console: Console, admin: Client, people: People
) -> None:
    staff, manager = await people.person(EVERYTHING), await people.person([*EVERYTHING, *CUSTOMERS])
    flow = await define(admin, node("first", manager))
    await do(console.speak, "en")
    await do(console.log_in, manager.user["username"], "main .drawn")
    await do(console.open, "#/approval.task", "main .antd-Tabs")
    title = unique("request")
    instance = await ask(staff, flow, title=title)
    await do(console.until, lambda: console.count("#notices a"))
    await do(console.until, lambda: console.browser.find_element(By.CSS_SELECTOR, "header .inbox b").text == "1")
    await do(console.open, "#/crm.customer", "main .antd-Crud")
    await do(console.open, "#/approval.task", "main tbody tr td button, main tbody tr td a")
    await do(console.press, "main tbody tr td button, main tbody tr td a")
    await do(console.until, lambda: console.count(".antd-Drawer .antd-Property"))
    await do(console.click, "Agree")
    await do(console.until, lambda: console.count(".antd-Drawer [name=comment]"))
    console.browser.find_element(By.CSS_SELECTOR, ".antd-Drawer [name=comment]").send_keys("well done")
    await do(console.press, ".antd-Drawer .antd-Drawer-footer .antd-Button--primary")
    await do(console.until, lambda: "Approved" in shown(console))
    decided = expect(await admin.get(f"/api/v1/approvals/instances/{instance['id']}"))
    assert (decided["status"], decided["tasks"][0]["comment"]) == ("approved", "well done")
    assert await do(console.complaints) == []


def hostile_places() -> dict[str, Subject]:
    """For each part of the API the list with the longest names, whose records people make, change, read and search."""
    found: dict[str, Subject] = {}
    for subject in Site(CATALOGUE).subjects.values():
        writes = subject.route("POST") and subject.route("PATCH", "/{id}") and subject.read
        part = subject.name.partition(".")[0]
        if writes and "q" in subject.list.query and "box" not in subject.list.query and longest(subject):
            found[part] = max((subject, found.get(part, subject)), key=longest)
    return found


def longest(subject: Subject) -> int:
    """How many characters the name of a record may have; 0 if it is not any text."""
    label = subject.collection.label_field if subject.collection is not None else ""
    field = (subject.collection.create.fields or {}).get(label) if subject.collection is not None else None
    is_any = field is not None and field.kind == "text" and not {"format", "enum"} & field.rules.keys()
    return int(field.rules["maxLength"]) if is_any and field is not None else 0


def spaced(text: str) -> str:
    """The text as pages show it, where all blank characters are one space."""
    return re.sub(r"\s+", " ", text).strip()


def dealt(vectors: Sequence[str], places: Mapping[str, Subject]) -> dict[str, list[str]]:
    """The vectors of each place in turn, where they fit: lists with longer names get more."""
    turns = [name for name, subject in sorted(places.items()) for _ in range(longest(subject) // SHORT)]
    hands: dict[str, list[str]] = {name: [] for name in places}
    for at, vector in enumerate(vectors):
        order = (turns[(at + later) % len(turns)] for later in range(len(turns)))
        fits = next((name for name in order if len(spaced(vector)) < longest(places[name]) - MARKED), None)
        if fits is not None:
            hands[fits].append(vector)
    return hands


def packed(vectors: Sequence[str], most: int) -> list[str]:
    """The texts of at most so many characters that hold as many vectors as fit, one after the other."""
    texts = [""]
    for one in map(spaced, vectors):
        if len(texts[-1]) + len(one) + 1 > most:
            texts.append("")
        texts[-1] = f"{texts[-1]} {one}".strip()
    return texts


def see_hostile(console: Console, subject: Subject, label: str, mark: str, record: str, texts: Sequence[str]) -> None:
    """See the texts in the list, and the last of them in the record and in its form."""
    console.open(f"#/{Site(CATALOGUE).menu_of(subject)}", "main .antd-SearchBox input")
    console.rest()
    box = console.browser.find_element(By.CSS_SELECTOR, "main .antd-SearchBox input")
    box.send_keys(mark, Keys.ENTER)
    console.until(lambda: spaced(shown(console)).count(mark) >= len(texts))
    listed = spaced(shown(console))
    assert [text for text in texts if text not in listed] == []
    console.open(f"#/records/{subject.name}/{record}", "main .antd-Property")
    console.until(lambda: texts[-1] in spaced(shown(console)))
    console.press("main .antd-Flex button")
    field = f".antd-Drawer [name={label}]"
    console.until(
        lambda: console.count(field) and console.browser.find_element(By.CSS_SELECTOR, field).get_property("value")
    )
    assert texts[-1] in spaced(str(console.browser.find_element(By.CSS_SELECTOR, field).get_property("value")))


async def test_every_attack_of_the_suite_is_shown_as_text(console: Console, admin: Client, maker: Maker) -> None:
    places = hostile_places()
    assert {"crm", "cms", "finance", "hrm", "inventory", "system", "approvals"} <= places.keys()
    await do(console.speak, "en")
    await do(console.log_in, "admin", "main .drawn")
    await do(console.watch)
    hands = dealt(HTML + MARKDOWN, places)
    for name, subject in sorted(places.items()):
        create, mark = subject.route("POST"), unique("hostile")
        assert create is not None
        assert subject.collection is not None
        label = subject.collection.label_field
        texts = [f"{mark} {text}" for text in packed(hands[name], longest(subject) - MARKED)]
        assert len(texts) <= PAGE
        made = {}
        for text in texts:
            exercise = await maker.exercise(create, only_required=True)
            made = expect(await admin.post(exercise.path, {**exercise.body, label: text}))
        await do(see_hostile, console, subject, label, mark, str(made["id"]), texts)
        assert await do(console.complaints) == [], name


async def test_attacks_that_are_too_long_for_a_name_are_shown_as_text(console: Console, admin: Client) -> None:
    hands = dealt(HTML + MARKDOWN, hostile_places())
    held = [vector for hand in hands.values() for vector in hand]
    rest = [vector for vector in HTML + MARKDOWN if vector not in held]
    assert len(held) + len(rest) == len(HTML + MARKDOWN)
    assert 0 < len(rest) < PAGE
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    notes = Site(CATALOGUE).subjects["crm.follow-ups"]
    await do(console.speak, "en")
    await do(console.log_in, "admin", "main .drawn")
    await do(console.watch)
    for vector in rest:
        mark = unique("hostile")
        body = {"customer_id": customer, "content": f"{mark} {vector}"}
        made = expect(await admin.post("/api/v1/crm/follow-ups", body))
        await do(see_hostile, console, notes, "content", mark, str(made["id"]), [spaced(body["content"])])
    assert await do(console.complaints) == []


async def test_a_view_of_a_list_is_kept_and_its_second_page_begins_at_a_cursor(
    console: Console, people: People, admin: Client
) -> None:
    mark = unique("kept")
    for at in range(PAGE + 1):
        expect(await admin.post("/api/v1/crm/leads", {"name": f"{mark} {at}", "company": "x"}))
    other = expect(await admin.post("/api/v1/crm/leads", {"name": unique("other"), "company": "x"}))["name"]
    person = await people.person(["crm:lead:list", "crm:lead:read"], "all")
    await do(console.speak, "en")
    await do(console.log_in, person.user["username"], "main .drawn")
    await do(console.open, "#/crm.lead", "main .antd-SearchBox input")
    await do(console.until, lambda: other in shown(console))
    console.browser.find_element(By.CSS_SELECTOR, "main .antd-SearchBox input").send_keys(mark, Keys.ENTER)
    await do(console.until, lambda: other not in shown(console) and mark in shown(console))
    await do(console.click, "Views")
    await do(console.until, lambda: console.count("dialog.asked input"))
    await do(console.keys, "Just these", Keys.ENTER)
    await do(console.browser.refresh)
    await do(console.until, lambda: other in shown(console))
    await do(console.click, "Views")
    await do(console.click, "Just these")
    await do(console.until, lambda: other not in shown(console) and f"{mark} {PAGE}" in shown(console))
    await do(console.press, "main .antd-Pagination-next")
    await do(console.until, lambda: f"{mark} 0" in shown(console))
    asked = "return performance.getEntriesByType('resource').map((one) => one.name).filter((one) => /page=2/.test(one))"
    assert ["cursor=" in one for one in await do(console.browser.execute_script, asked)] == [True]


async def test_all_rows_of_a_list_are_one_sheet_that_draws_what_is_in_sight(console: Console, admin: Client) -> None:
    mark, count, attack = unique("sheet"), MOST_OF_A_PAGE + 10, min(HTML, key=len)
    for at in range(count):
        expect(await admin.post("/api/v1/crm/leads", {"name": f"{mark} {attack}", "company": f"row {at}"}))
    await do(console.speak, "en")
    await do(console.log_in, "admin", "main .drawn")
    await do(console.open, "#/crm.lead", "main .antd-SearchBox input")
    console.browser.find_element(By.CSS_SELECTOR, "main .antd-SearchBox input").send_keys(mark, Keys.ENTER)
    await do(console.until, lambda: shown(console).count(mark) == PAGE)
    await do(console.click, "All rows")
    await do(console.until, lambda: f"row {count - 1}" in shown(console))
    sheet = console.browser.find_element(By.CSS_SELECTOR, ".sheet")
    assert f"All rows ({count})" in shown(console)
    assert spaced(f"{mark} {attack}") in spaced(sheet.text)
    await do(console.browser.execute_script, "arguments[0].scrollTop = 1e6", sheet)
    await do(console.until, lambda: "row 0" in sheet.text.splitlines())
    assert console.count(".sheet [role=row]") < count / 2
    await do(console.press, ".sheet [role=row] a")
    await do(console.until, lambda: console.count("main .antd-Property"))
    assert await do(console.complaints) == []


async def test_a_refusal_can_be_asked_for_its_reasons(console: Console, people: People, admin: Client) -> None:
    person = await people.person([*CUSTOMERS, "crm:customer:export"], "all")
    await do(console.speak, "en")
    await do(console.log_in, person.user["username"], "main .drawn")
    await do(console.open, "#/crm.customer", "main .antd-Crud")
    fewer = await people.role(CUSTOMERS, "all")
    user = expect(await admin.get(f"/api/v1/system/users/{person.user['userId']}"))
    body = {"role_ids": [fewer], "version": user["version"]}
    expect(await admin.patch(f"/api/v1/system/users/{user['id']}", body))
    await do(console.click, "Export")
    await do(console.click, "Why?")
    await do(console.until, lambda: console.count("dialog.asked li"))
