"""Orders from tables with a row for each line, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.tables import as_csv, form, read_csv
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
SALES, PURCHASES = f"{AT}/sales-orders", f"{AT}/purchase-orders"
HEADERS = ["number", "customer_name", "reference", "lines.product_id", "lines.quantity", "lines.price"]


async def load(client: Client, rows: Sequence[Sequence[Any]], at: str = SALES, **flags: str) -> dict[str, Any]:
    """The report of an import of these rows, of which the first has the headers."""
    raw, headers = form({**flags, "file": ("orders.csv", as_csv(rows))})
    report: dict[str, Any] = expect(await client.post(f"{at}/import", raw=raw, headers=headers))
    return report


async def sku_of(goods: Goods) -> str:
    return str(expect(await goods.client.get(f"{AT}/products/{goods.product_id}"))["sku"])


async def orders_of(client: Client, reference: str, at: str = SALES) -> list[dict[str, Any]]:
    """The orders with a reference, the oldest first."""
    rows: list[dict[str, Any]] = expect(await client.get(f"{at}?reference={reference}&sort=created_at"))["items"]
    return rows


async def test_rows_that_name_the_same_document_are_one_order(admin: Client) -> None:
    sku, reference = await sku_of(await Goods.fresh(admin)), unique("R")
    report = await load(
        admin,
        [
            HEADERS,
            ["A", "first", reference, sku, "2", "1.25"],
            ["A", "first", "", sku, "3", "2.50"],
            ["", "", "", sku, "1", ""],
            ["B", "second", reference, sku, "4", "1.00"],
        ],
    )
    assert (report["total"], report["created"], report["failed"]) == (2, 2, 0)
    first, second = await orders_of(admin, reference)
    assert [(line["quantity"], line["amount"]) for line in first["lines"]] == [
        ("2", "2.50"),
        ("3", "7.50"),
        ("1", "9.90"),
    ]
    assert (first["status"], second["customer_name"], second["amount"]) == ("draft", "second", "4.00")
    assert first["number"] != "A"


async def test_rows_that_no_column_joins_are_told_to_be_orders_of_their_own(admin: Client) -> None:
    sku, reference = await sku_of(await Goods.fresh(admin)), unique("R")
    rows = [[name, reference, sku, "2", "1.25"] for name in ("first", "first", "second")]
    told = await load(admin, [HEADERS[1:], *rows], dry_run="true")
    assert (told["created"], [(one["row"], one["rule"]) for one in told["warnings"]]) == (3, [(3, "possible_line")])
    assert "“单据编号”" in told["warnings"][0]["message"]
    joined = await load(admin, [HEADERS, *[["A", *rows[0]]] * 2], dry_run="true")
    assert (joined["created"], joined["warnings"]) == (1, [])


async def test_purchase_orders_come_in_by_the_labels_of_a_language(admin: Client) -> None:
    goods, reference = await Goods.fresh(admin), unique("R")
    supplier = expect(await admin.get(f"{AT}/suppliers/{await goods.supplier()}"))["code"]
    template = read_csv((await admin.get(f"{PURCHASES}/template?format=csv&headers=labels")).body)[0]
    assert {"单据编号", "供应商", "商品明细（商品）", "商品明细（数量）"} <= set(template)
    assert "商品明细（金额）" not in template
    sku, headers = await sku_of(goods), ["供应商", "对方单号", "商品明细（商品）", "商品明细（数量）"]
    rows = [headers, *([supplier, reference, sku, quantity] for quantity in ("2", "3"))]
    assert (await load(admin, rows, PURCHASES))["created"] == 2  # without numbers each row is an order
    assert [one["amount"] for one in await orders_of(admin, reference, PURCHASES)] == ["8.00", "12.00"]


async def test_a_dry_run_counts_and_writes_nothing(admin: Client) -> None:
    sku, reference = await sku_of(await Goods.fresh(admin)), unique("R")
    report = await load(admin, [HEADERS, ["A", "first", reference, sku, "2", "1"]], dry_run="true")
    assert (report["created"], report["failed"]) == (1, 0)
    assert await orders_of(admin, reference) == []


async def test_faults_are_told_by_row_and_column_and_the_other_documents_are_written(admin: Client) -> None:
    sku, reference = await sku_of(await Goods.fresh(admin)), unique("R")
    report = await load(
        admin,
        [
            HEADERS,
            ["A", "first", reference, sku, "2", "1"],
            ["A", "another", "", "no such product", "2", "1"],
            ["A", "", "", sku, "-1", "1"],
            ["B", "second", reference, sku, "2", "1"],
            ["C", "third", reference, sku, "0", "1"],
            ["A", "again", reference, sku, "2", "1"],
        ],
    )
    assert (report["total"], report["created"], report["failed"]) == (4, 1, 3)
    assert [(one["row"], one["column"], one["rule"]) for one in report["errors"]] == [
        (3, "lines.product_id", "reference"),
        (3, "customer_name", "invalid"),
        (4, "lines.quantity", "minimum"),
        (6, "lines.quantity", "minimum"),
        (7, "number", "duplicate"),
    ]
    assert [one["customer_name"] for one in await orders_of(admin, reference)] == ["second"]


async def test_an_exported_order_is_not_written_a_second_time(admin: Client) -> None:
    goods, reference = await Goods.fresh(admin), unique("R")
    order = await goods.sale(2)
    notes = {"reference": reference, "version": order["version"]}
    expect(await admin.patch(f"{SALES}/{order['id']}/notes", notes))
    table = read_csv((await admin.get(f"{SALES}/export?format=csv&reference={reference}")).body)
    report = await load(admin, table)
    assert [(one["row"], one["column"], one["rule"]) for one in report["errors"]] == [(2, "number", "duplicate")]


async def test_all_documents_or_none(admin: Client) -> None:
    sku, reference = await sku_of(await Goods.fresh(admin)), unique("R")
    rows = [
        HEADERS,
        ["A", "first", reference, sku, "2", "1"],
        *(["B", "second", reference, sku, "0" if number == 40 else "1", "1"] for number in range(60)),
    ]
    report = await load(admin, rows, atomic="true")
    assert [(one["row"], one["column"]) for one in report["errors"]] == [(43, "lines.quantity")]
    assert await orders_of(admin, reference) == []
    rows[42][4] = "1"
    assert (await load(admin, rows, atomic="true"))["created"] == 2
    assert [len(one["lines"]) for one in await orders_of(admin, reference)] == [1, 60]
