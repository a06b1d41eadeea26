"""Requests of finance that need a state first: a claim that was submitted, an invoice that is open."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from handlers.route import Route
from plugins.testing import expect
from tests.api.files.samples import upload
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import Goods
from tests.support.e_invoice_files import digitalised, fresh_number
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

CLAIMS, INVOICES, PAYMENTS = f"{AT}/expense-claims", f"{AT}/invoices", f"{AT}/payments"
_months = itertools.count()
_days = itertools.count()


async def book(maker: Maker, route: Route) -> Exercise:
    # a transfer has another account, and nothing else has
    books = await Books.fresh(maker.admin)
    body = {"kind": "income", "account_id": books.account_id, "amount": "12.00", "day": "2026-11-20"}
    return Exercise(maker.admin, route, route.path, body)


async def close_month(maker: Maker, route: Route) -> Exercise:
    # months of long ago, each of which can be closed once
    year, month = divmod(next(_months), 12)
    return Exercise(maker.admin, route, path_with(route, f"{1970 + year}-{month + 1:02}"))


async def exchange_rate(maker: Maker, route: Route) -> Exercise:
    # one rate for a currency and a day; its code is one of a list, which no other test uses
    body = {"currency": "THB", "day": f"{date(1990, 1, 1) + timedelta(days=next(_days))}", "rate": "7.1234"}
    if not route.parameters:
        return Exercise(maker.admin, route, route.path, body)
    made = expect(await maker.admin.post(f"{AT}/exchange-rates", body))
    changed = {"rate": "7.10", "version": made["version"]}
    return Exercise(maker.admin, route, path_with(route, made["id"]), changed, record=made)


async def own_invoice(maker: Maker, route: Route) -> Exercise:
    # what it bills comes from another plugin, so it bills nothing here
    derived = await maker.derived(route, only_required=True)
    return replace(derived, body={**derived.body, "remark": "季度服务费"})


async def amounts_of_invoice(maker: Maker, route: Route) -> Exercise:
    body = {"direction": "out", "lines": [{"description": "季度服务费", "quantity": "1", "price": "10.00"}]}
    return Exercise(maker.admin, route, route.path, body)


async def of_e_invoice(maker: Maker, route: Route) -> Exercise:
    stored = await upload(maker.admin, digitalised(fresh_number()), "invoice.xml")
    return Exercise(maker.admin, route, route.path, {"object_key": stored["objectKey"]})


async def claim_of_e_invoices(maker: Maker, route: Route) -> Exercise:
    keys = [(await upload(maker.admin, digitalised(fresh_number()), "a.xml"))["objectKey"] for _ in range(2)]
    return Exercise(maker.admin, route, route.path, {"object_keys": keys, "title": "出差", "category": "travel"})


def claim_after(*actions: str) -> HandMade:
    async def made(maker: Maker, route: Route) -> Exercise:
        claim = await (await Books.fresh(maker.admin)).claim(*actions)
        return Exercise(maker.admin, route, path_with(route, claim["id"]), _body(route, {}), record=claim)

    return made


async def pay_claim(maker: Maker, route: Route) -> Exercise:
    books = await Books.fresh(maker.admin)
    claim = await books.claim("submit", "approve")
    body = {"account_id": books.account_id, "version": claim["version"]}
    return Exercise(maker.admin, route, path_with(route, claim["id"]), body, record=claim)


async def pay_invoice(maker: Maker, route: Route) -> Exercise:
    books = await Books.fresh(maker.admin)
    invoice = await books.invoice()
    body = {"account_id": books.account_id, "amount": "13.00", "version": invoice["version"]}
    return Exercise(maker.admin, route, path_with(route, invoice["id"]), body, record=invoice)


async def credit_invoice(maker: Maker, route: Route) -> Exercise:
    invoice = await (await Books.fresh(maker.admin)).invoice()
    body = {"amount": "20.00", "tax": "2.60", "reason": "数量开错"}
    return Exercise(maker.admin, route, path_with(route, invoice["id"]), body, record=invoice)


async def read_credit_note(maker: Maker, route: Route) -> Exercise:
    crediting = next(one for one in maker.catalogue.routes if one.path == f"{INVOICES}/{{id}}/credit-notes")
    made = expect(await (await credit_invoice(maker, crediting)).send())
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def reverse_credit_note(maker: Maker, route: Route) -> Exercise:
    return replace(await read_credit_note(maker, route), body={"reason": "红冲错误"})


async def opening_item(maker: Maker, route: Route) -> Exercise:
    derived = await maker.derived(route)
    return replace(derived, body={**derived.body, "supplier_id": None})  # a customer owes it


async def adjust_item(maker: Maker, route: Route) -> Exercise:
    books = await Books.fresh(maker.admin)
    item = await books.item(await books.invoice())
    body = {"kind": "rebate", "amount": "5.00", "reason": "质量折让"}
    return Exercise(maker.admin, route, path_with(route, item["id"]), body, record=item)


async def read_adjustment(maker: Maker, route: Route) -> Exercise:
    adjusting = next(one for one in maker.catalogue.routes if one.path == f"{AT}/open-items/{{id}}/adjustments")
    made = expect(await (await adjust_item(maker, adjusting)).send())
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def reverse_adjustment(maker: Maker, route: Route) -> Exercise:
    return replace(await read_adjustment(maker, route), body={"reason": "录入错误"})


async def pay_payable(maker: Maker, route: Route) -> Exercise:
    books, goods = await Books.fresh(maker.admin), await Goods.fresh(maker.admin)
    order = expect(await goods.receive(await goods.purchase(3)))
    item = expect(await maker.admin.get(f"{AT}/payables?resource_id={order['id']}"))["items"][0]
    body = {"account_id": books.account_id, "amount": "2.00", "version": item["version"]}
    return Exercise(maker.admin, route, path_with(route, item["id"]), body, record=item)


async def enter_payment(maker: Maker, route: Route) -> Exercise:
    # at most one of customer and supplier; an open item has a party of its own
    body = {
        "direction": "in",
        "account_id": (await Books.fresh(maker.admin)).account_id,
        "amount": "12.00",
        "day": "2026-11-20",
        "method": "transfer",
        "reference": "8812",
        "counterparty": "c",
        "remark": "预付款",
    }
    return Exercise(maker.admin, route, route.path, body)


async def allocate(maker: Maker, route: Route) -> Exercise:
    books = await Books.fresh(maker.admin)
    payment = expect(await books.enter("in", "50.00", counterparty="c"))
    item = await books.item(await books.invoice())
    body = {"allocations": [{"open_item_id": item["id"], "amount": "20.00"}], "version": payment["version"]}
    return Exercise(maker.admin, route, path_with(route, payment["id"]), body, record=payment)


async def take_back(maker: Maker, route: Route) -> Exercise:
    books = await Books.fresh(maker.admin)
    item = await books.item(await books.invoice())
    payment = expect(await books.enter("in", "50.00", (item, "20.00"), counterparty="c"))
    body = {"open_item_id": item["id"], "amount": "5.00", "reason": "核销到了错误的单据", "version": payment["version"]}
    return Exercise(maker.admin, route, path_with(route, payment["id"]), body, record=payment)


def credit(direction: str) -> HandMade:
    async def made(maker: Maker, route: Route) -> Exercise:
        books = await Books.fresh(maker.admin)
        credited, other = [await books.invoice(direction, "100.00", "0.00") for _ in range(2)]
        items = [await books.item(one) for one in (credited, other)]
        expect(await books.enter({"in": "out", "out": "in"}[direction], "100.00", (items[0], "100.00")))
        expect(await maker.admin.post(f"{INVOICES}/{credited['id']}/credit-notes", {"amount": "60.00"}))
        body = {"allocations": [{"open_item_id": items[1]["id"], "amount": "20.00"}], "reason": "客户同意抵扣"}
        item = await books.item(credited)
        return Exercise(maker.admin, route, path_with(route, item["id"]), body, record=item)

    return made


async def reverse_payment(maker: Maker, route: Route) -> Exercise:
    payment = expect(await (await Books.fresh(maker.admin)).enter("in", "50.00"))
    body = {"reason": "entered twice", "version": payment["version"]}
    return Exercise(maker.admin, route, path_with(route, payment["id"]), body, record=payment)


def _body(route: Route, body: dict[str, Any]) -> dict[str, Any] | None:
    return body if route.body else None


async def of_customer(maker: Maker, route: Route) -> Exercise:
    # a statement is of a customer or of a supplier
    return Exercise(maker.admin, route, f"{route.path}?customer_id={await maker.refer('crm_customers')}")


FINANCE_HAND_MADE: Mapping[str, HandMade] = {
    f"GET {AT}/statements": of_customer,
    f"GET {AT}/statements/export": of_customer,
    f"GET {AT}/statements/print": of_customer,
    f"POST {AT}/vouchers": book,
    f"POST {AT}/exchange-rates": exchange_rate,
    f"PATCH {AT}/exchange-rates/{{id}}": exchange_rate,
    f"POST {AT}/opening-items": opening_item,
    f"POST {AT}/open-items/{{id}}/adjustments": adjust_item,
    f"GET {AT}/adjustments/{{id}}": read_adjustment,
    f"POST {AT}/adjustments/{{id}}/reverse": reverse_adjustment,
    **{f"{method} {AT}/periods/{{month}}/close": close_month for method in ("GET", "POST")},
    f"POST {CLAIMS}/{{id}}/withdraw": claim_after("submit"),
    f"POST {CLAIMS}/{{id}}/approve": claim_after("submit"),
    f"POST {CLAIMS}/{{id}}/reject": claim_after("submit"),
    f"POST {CLAIMS}/{{id}}/reverse": claim_after("submit", "approve"),
    f"POST {CLAIMS}/{{id}}/pay": pay_claim,
    f"POST {INVOICES}/{{id}}/pay": pay_invoice,
    f"POST {AT}/payables/{{id}}/pay": pay_payable,
    f"POST {INVOICES}/{{id}}/credit-notes": credit_invoice,
    f"GET {AT}/credit-notes/{{id}}": read_credit_note,
    f"GET {AT}/credit-notes/{{id}}/print": read_credit_note,
    f"POST {AT}/credit-notes/{{id}}/reverse": reverse_credit_note,
    f"POST {PAYMENTS}": enter_payment,
    f"POST {PAYMENTS}/{{id}}/allocations": allocate,
    f"POST {PAYMENTS}/{{id}}/take-back": take_back,
    f"POST {AT}/receivables/{{id}}/credits": credit("out"),
    f"POST {AT}/payables/{{id}}/credits": credit("in"),
    f"POST {PAYMENTS}/{{id}}/reverse": reverse_payment,
    f"POST {INVOICES}/read-document": of_e_invoice,
    f"POST {CLAIMS}/read-document": of_e_invoice,
    f"POST {INVOICES}/from-document": of_e_invoice,
    f"POST {CLAIMS}/from-documents": claim_of_e_invoices,
    f"POST {INVOICES}": own_invoice,
    f"POST {INVOICES}/amounts": amounts_of_invoice,
    f"PATCH {INVOICES}/{{id}}": own_invoice,
}
