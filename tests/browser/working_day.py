"""A day of work at the pages: records are made, changed, acted on and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plugins.boot.runtime import Running
from plugins.console.site import Subject
from plugins.testing import PASSWORD, Client, expect, unique
from tests.api.inventory.goods import Goods
from tests.browser.browser import Console, do
from tests.browser.work import PEOPLE, SITE, Work, taken_at, work_of
from tests.support.valid_requests import Maker


async def person_of(company: Running, username: str) -> Client:
    """Somebody of the demo company, logged in."""
    password = PASSWORD if username == "admin" else company.service.demo_password(username)
    return await Client(company.url).log_in(username, password)


async def works_of(company: Running) -> dict[tuple[str, str], Work]:
    """What the people of the company do, by the person and the list."""
    found = {}
    for username, modules in PEOPLE.items():
        permissions = set((await person_of(company, username)).session["permissions"])
        found |= {(username, work.subject.name): work for work in work_of(permissions, modules)}
    return found


async def work_through(console: Console, company: Running, username: str, works: Iterable[Work]) -> None:
    """Let a person of the company do all of this in the browser; AssertionError names the first list with a fault."""
    person, admin = await person_of(company, username), await person_of(company, "admin")
    await do(console.visit, company.url, person)
    for work in works:
        try:
            await do(labour, console, work, await _prepared(work, person, admin))
        except AssertionError as error:
            raise AssertionError(f"{work.subject.name}: {error}") from error
        await do(console.check, work.subject.name)


def labour(console: Console, work: Work, typed: Mapping[str, str]) -> None:
    """Make a record, change it, take an action with it, and delete it, or another one that no action was taken with."""
    row = _make(console, work, typed)
    if work.changed:
        console.robot("change", button="Edit", name=work.changed, value=unique("other"), row=row)
    if work.action and work.typed_in is None:
        console.robot("confirm", button=work.action, row=row)
    elif work.action:
        console.robot("fill", button=work.action, values=dict(work.typed_in or {}), row=row)
    if work.deletes:
        row = _make(console, work.again(), typed) if work.action and not row else row
        console.robot("confirm", button="Delete", row=row)


def _make(console: Console, work: Work, typed: Mapping[str, str]) -> str:
    """Make a record and show it; returns by what its row is found where it has no page."""
    console.robot("open", address=f"#/{work.menu}", tab=work.tab)
    made = console.robot("fill", button=work.create, values={**work.typed, **typed})
    if not work.shown_as:
        console.robot("open", address=f"#/records/{work.subject.name}/{made}")
    return work.shown_as


async def _prepared(work: Work, person: Client, admin: Client) -> dict[str, str]:
    """What is to be chosen in the form, after it was made: a list for prices, a contract in force."""
    if work.subject.name == "inventory.prices":
        made = {"code": unique("list"), "name": unique("list")}
        expect(await person.post("/api/v1/inventory/price-lists", made))
        return {"price_list_id": made["name"]}
    if work.subject.name not in ("crm.contract-amendments", "crm.payment-plans", "crm.payments"):
        return {}
    customer = expect(await person.post("/api/v1/crm/customers", {"name": unique("customer")}))
    body = {"customer_id": customer["id"], "name": unique("contract"), "amount": "1000000.00"}
    contract = expect(await person.post("/api/v1/crm/contracts", body))
    expect(await person.post(f"/api/v1/crm/contracts/{contract['id']}/submit", {}))
    expect(await admin.post(f"/api/v1/crm/contracts/{contract['id']}/approve", {}))
    return {"contract_id": body["name"]}


async def take(console: Console, name: str, admin: Client, maker: Maker) -> None:
    """Take the action of a list in which nobody makes records by a form, as the administrator who is logged in."""
    await do(_act, console, SITE.subjects[name], *await _row_to_act_on(name, admin, maker))
    await do(console.check, name)


async def _row_to_act_on(name: str, admin: Client, maker: Maker) -> tuple[str, str]:
    """A record that nobody makes by a form: its id where it has a page, or what its row shows."""
    if name == "system.sessions":
        return "", (await maker.person()).user["username"]
    if name == "inventory.reorder-proposals":
        return "", await _make_proposal(admin)
    if name == "finance.payables":  # the demo has some
        return "", ""
    if name == "finance.periods":
        months = expect(await admin.get("/api/v1/finance/periods?closed=false&page_size=200"))["items"]
        return "", min(month["id"] for month in months)
    collection = SITE.subjects[name].collection
    assert collection is not None
    return str((await maker.record(collection.name))["id"]), ""


async def _make_proposal(admin: Client) -> str:
    """The name of a product that was bought before, and is to be bought again."""
    goods = await Goods.fresh(admin, name=unique("product"))
    await goods.purchase(1)
    level = {"product_id": goods.product_id, "warehouse_id": goods.warehouse_id, "level": "5"}
    return str(expect(await admin.post("/api/v1/inventory/reorder-levels", level))["product_name"])


def _act(console: Console, subject: Subject, record: str, row: str) -> None:
    """Take the action of a list at the page of a record, or in its row."""
    button, asks = taken_at(subject)
    tab = SITE.title_of(subject).en if len(SITE.of_menu(SITE.menus[SITE.menu_of(subject)])) > 1 else ""
    at = f"#/records/{subject.name}/{record}" if record else f"#/{SITE.menu_of(subject)}"
    console.robot("open", address=at, tab="" if record else tab)
    if asks:
        console.robot("fill", button=button, values={}, row=row)
    else:
        console.robot("confirm", button=button, row=row)
