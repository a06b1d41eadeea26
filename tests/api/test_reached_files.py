"""How many files of its own plugin a request runs through: who changes what it does has to read no more than these."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from handlers.lifecycle import handle
from handlers.route import Route
from plugins.testing import Client, People, expect
from tests.api.crm.sales import in_force
from tests.api.finance.books import Books
from tests.api.hrm.staff import Staff
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_returns import shipments

pytestmark = pytest.mark.gen_test(timeout=60)
MOST_FILES = 10
PLUGINS = f"{Path(__file__).resolve().parents[2]}/plugins/"
Reached = dict[str, set[str]]  # by route, the files of the plugin of its handler


@contextmanager
def reaching() -> Iterator[Reached]:
    """Note the files in which functions run during requests of the block; what runs at import or in jobs does not count."""
    reached: Reached = defaultdict(set)

    def note(frame: FrameType, event: str, arg: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PLUGINS):
            return
        caller: FrameType | None = frame
        while caller is not None and caller.f_code is not handle.__code__:
            caller = caller.f_back
        if caller is not None:
            route: Route = caller.f_locals["route"]
            plugin, _, file = frame.f_code.co_filename.removeprefix(PLUGINS).partition("/")
            if plugin == route.path.split("/")[3]:
                reached[f"{route.method} {route.path}"].add(file)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield reached
    finally:
        sys.setprofile(before)


def assert_few(reached: Reached, *deepest: str) -> None:
    """Every request of the block was understood, these among them, and none ran through more than ten files."""
    assert set(deepest) <= set(reached)
    assert {route: sorted(files) for route, files in reached.items() if len(files) > MOST_FILES} == {}


async def test_what_pays_an_invoice_is_in_ten_files_of_finance(admin: Client) -> None:
    books = await Books.fresh(admin)
    item = await books.item(await books.invoice())
    with reaching() as reached:
        advance = expect(await books.enter("in", "50.00", counterparty="c"))
        expect(await books.allocate(advance, item, "20.00"))
        expect(await books.pay_invoice(await books.invoice()))
        expect(await books.reverse_payment(advance))
    at = "/api/v1/finance/payments"
    assert_few(reached, f"POST {at}", f"POST {at}/{{id}}/allocations", f"POST {at}/{{id}}/reverse")


async def test_what_delivers_and_takes_back_goods_is_in_ten_files_of_inventory(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    with reaching() as reached:
        order = expect(await goods.deliver(await goods.sale(5)))
        (delivery,) = await shipments(admin, order)
        expect(await admin.post(f"{AT}/deliveries/{delivery['id']}/reverse", {}))
    assert_few(reached, f"POST {AT}/sales-orders/{{id}}/deliver", f"POST {AT}/deliveries/{{id}}/reverse")


async def test_what_puts_a_contract_in_force_is_in_ten_files_of_crm(admin: Client) -> None:
    with reaching() as reached:
        await in_force(admin)
    assert_few(reached, "POST /api/v1/crm/contracts", "POST /api/v1/crm/contracts/{id}/approve")


async def test_what_grants_leave_is_in_ten_files_of_hrm(admin: Client) -> None:
    staff = await Staff.hire(admin)
    day = date.today() + timedelta(days=7)
    with reaching() as reached:
        await staff.leave(f"{day}T09:00:00+08:00", f"{day}T18:00:00+08:00", "submit", "approve")
    assert_few(reached, "POST /api/v1/hrm/leaves", "POST /api/v1/hrm/leaves/{id}/approve")


async def test_what_logs_somebody_in_is_in_ten_files_of_auth(admin: Client, people: People) -> None:
    account = await people.account()
    with reaching() as reached:
        await Client(admin.url).log_in(account["username"])
    assert_few(reached, "POST /api/v1/auth/login")
