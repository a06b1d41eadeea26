"""Invoices, payments and opening items from tables, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.tables import as_csv, form, read_csv
from tests.api.finance.accounts_of_parties import statement
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import AT as INVENTORY, Goods

pytestmark = pytest.mark.gen_test(timeout=60)


async def load(client: Client, what: str, rows: Sequence[Sequence[Any]], **flags: str) -> dict[str, Any]:
    """The report of an import of these rows, of which the first has the headers."""
    raw, headers = form({**flags, "file": ("table.csv", as_csv(rows))})
    report: dict[str, Any] = expect(await client.post(f"{AT}/{what}/import", raw=raw, headers=headers))
    return report


def told(report: dict[str, Any]) -> list[tuple[int, str, str]]:
    """Row, column and rule of each fault."""
    return [(one["row"], one["column"], one["rule"]) for one in report["errors"]]


async def invoices_of(client: Client, reference: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = expect(await client.get(f"{AT}/invoices?reference={reference}&sort=created_at"))[
        "items"
    ]
    return found


INVOICE = ["direction", "number", "counterparty", "reference", "amount", "lines.product_id", "lines.quantity"]
INVOICE += ["lines.price", "lines.tax_rate"]


async def test_invoices_are_drafts_with_a_row_for_each_line_or_with_sums_alone(admin: Client) -> None:
    goods, reference, number = await Goods.fresh(admin), unique("R"), unique("IN")
    sku = expect(await admin.get(f"{INVENTORY}/products/{goods.product_id}"))["sku"]
    rows = [
        INVOICE,
        ["out", number, "a", reference, "", sku, "2", "1.25", "0.13"],
        ["", number, "", "", "", sku, "3", "2.50", ""],
        ["in", "77", "b", reference, "20.00", "", "", "", ""],
        ["in", "78", "c", reference, "", sku, "0", "1", ""],
        ["in", "77", "c", reference, "30.00", "", "", "", ""],
    ]
    dry = await load(admin, "invoices", rows, dry_run="true")
    assert (dry["created"], await invoices_of(admin, reference)) == (3, [])
    report = await load(admin, "invoices", rows)
    assert (report["total"], report["created"], told(report)) == (4, 3, [(5, "lines.quantity", "minimum")])
    sale, *purchases = await invoices_of(admin, reference)
    assert [(line["quantity"], line["net"], line["tax"]) for line in sale["lines"]] == [
        ("2", "2.50", "0.33"),
        ("3", "7.50", "0.00"),
    ]
    assert (sale["status"], sale["number"], sale["total"]) == ("draft", number, "10.33")
    assert [(one["number"], one["lines"], one["total"]) for one in purchases] == [
        ("77", None, "20.00"),
        ("77", None, "30.00"),
    ]


async def test_units_of_invoices_are_read_by_their_names_or_are_those_of_others(admin: Client) -> None:
    reference, numbers = unique("R"), [unique("IN"), unique("IN")]
    header = ["direction", "number", "counterparty", "reference", "lines.description", "lines.quantity", "lines.unit"]
    units = zip(numbers, ("千克", "平方米"), strict=True)
    rows = [["in", number, "a", reference, "cloth", "1", unit] for number, unit in units]
    assert told(await load(admin, "invoices", [[*header, "lines.price"], *([*row, "2.00"] for row in rows)])) == []
    assert [one["lines"][0]["unit"] for one in await invoices_of(admin, reference)] == ["kg", "平方米"]


async def test_all_rows_of_a_faulty_document_come_back_to_be_corrected(admin: Client) -> None:
    number, goods = unique("IN"), await Goods.fresh(admin)
    sku = expect(await admin.get(f"{INVENTORY}/products/{goods.product_id}"))["sku"]
    rows = [
        INVOICE[:8],
        ["out", number, "a", "", "", sku, "2", "1.25"],
        ["", "", "", "", "", sku, "0", "2.50"],
        ["in", "79", "b", "", "20.00", "", "", ""],
    ]
    report = await load(admin, "invoices", rows, dry_run="true")
    assert (report["created"], told(report)) == (1, [(3, "lines.quantity", "minimum")])
    table = await admin.get(f"{AT}/invoices/imports/{report['id']}/faulty-rows")
    assert read_csv(table.body) == rows[:3]


async def test_an_invoice_that_is_there_or_comes_twice_is_refused_by_a_dry_run_too(admin: Client) -> None:
    reference, number = unique("R"), unique("IN")
    first = ["in", number, "a", reference, "20.00"]
    rows = [INVOICE[:5], first, ["in", "1", "b", reference, "1.00"], first]
    for flags in ({"dry_run": "true"}, {}):
        report = await load(admin, "invoices", rows, **flags)
        assert (report["created"], told(report)) == (2, [(4, "number", "duplicate")])
    again = await load(admin, "invoices", rows[:2])
    assert (again["created"], told(again)) == (0, [(2, "number", "duplicate")])


async def test_a_payment_has_a_row_for_each_item_that_it_settles_or_is_an_advance(admin: Client) -> None:
    books = await Books.fresh(admin)
    code = expect(await admin.get(f"{AT}/accounts/{books.account_id}"))["code"]
    items = [await books.item(await books.invoice("out", "50.00", "0.00")) for _ in range(3)]
    headers = ["number", "direction", "account_id", "counterparty", "amount", "day", "reference"]
    headers += ["allocations.open_item_id", "allocations.amount"]
    rows = [
        headers,
        ["A", "in", code, "c", "90.00", "2026-11-20", "bank 1", items[0]["number"], "50.00"],
        ["A", "", "", "", "", "", "", items[1]["number"], "30.00"],
        ["B", "in", code, "c", "12.00", "2026-11-20", "bank 2", "", ""],
        ["C", "in", code, "c", "60.00", "2026-11-20", "bank 3", items[2]["number"], "60.00"],
        ["D", "in", code, "c", "10.00", "2026-11-20", "bank 4", items[2]["id"], "20.00"],
    ]
    dry = await load(admin, "payments", rows, dry_run="true")
    assert (dry["created"], await books.balance()) == (2, "0.00")
    report = await load(admin, "payments", rows)
    assert (report["total"], report["created"]) == (4, 2)
    assert [one[::2] for one in told(report)] == [(5, "conflict"), (6, "maximum")]
    assert await books.balance() == "102.00"
    found = expect(await admin.get(f"{AT}/payments?account_id={books.account_id}&sort=created_at"))["items"]
    assert [(one["reference"], one["unallocated"], len(one["allocations"])) for one in found] == [
        ("bank 1", "10.00", 2),
        ("bank 2", "12.00", 0),
    ]


async def test_opening_items_come_in_by_the_codes_of_their_parties(admin: Client) -> None:
    code = unique("C")
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": code, "code": code}))
    headers = ["往来方向", "单据编号", "客户", "到期日", "未结金额"]
    rows = [
        headers,
        ["应收", "1", code, "2026-11-30", "70.00"],
        ["应收", "2", code, "", "30.00"],
        ["应收", "1", code, "", "5"],
    ]
    for flags in ({"dry_run": "true"}, {}):
        report = await load(admin, "opening-items", rows, **flags)
        assert (report["created"], told(report)) == (2, [(4, "单据编号", "duplicate")])
    assert (await statement(admin, {"customer_id": customer["id"]}))["closing_balance"] == "100.00"
    exported = read_csv((await admin.get(f"{AT}/opening-items/export?customer_id={customer['id']}")).body)
    again = await load(admin, "opening-items", exported)
    assert (again["created"], {one[1:] for one in told(again)}) == (0, {("id", "duplicate")})
