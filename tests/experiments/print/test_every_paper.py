"""Every paper over the demo data, in both languages; the limits of what is printed.

`TRADEWIND_PICTURES=<folder>` keeps the PDFs, to be looked at.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.records.printing import Printable
from plugins.testing import Client, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=300)
KEPT = os.environ.get("TRADEWIND_PICTURES")


async def addresses(admin: Client, printable: Printable) -> list[str]:
    """The addresses of a few papers of this kind."""
    if "{id}" in printable.at:
        listed = expect(await admin.get(f"{printable.at.removesuffix('/{id}')}?page_size=3"))["items"]
        return [printable.at.replace("{id}", one["id"]) + "/print?" for one in listed]
    overdue = expect(await admin.get("/api/v1/finance/dunning"))["items"]
    return [f"{printable.at}/print?customer_id={one['customer_id']}&" for one in overdue if one["customer_id"]][:2]


async def test_every_paper_of_the_demo_data_is_printed_in_both_languages_and_equals_its_record(
    admin: Client, anonymous: Client, tradewind: Running
) -> None:
    printed = set()
    for printable in tradewind.catalogue.of_kind(Printable):
        for place, address in enumerate(await addresses(admin, printable)):
            for language in ("zh", "en"):
                reply = await admin.get(f"{address}language={language}")
                assert reply.status == 200, f"{printable.name}: {reply.body.decode()}"
                verdict = expect(await anonymous.get(f"/api/v1/print/check/{reply.headers['X-Print-Token']}"))
                assert verdict == {"status": "equal"}, printable.name
                printed.add(printable.name)
                if KEPT:
                    page = await anonymous.get(f"/print/{reply.headers['X-Print-Token']}?number=1&total=1")
                    (Path(KEPT) / f"{printable.name}-{place}-{language}.html").write_bytes(page.body)
                    (Path(KEPT) / f"{printable.name}-{place}-{language}.pdf").write_bytes(reply.body)
    missing = {one.name for one in tradewind.catalogue.of_kind(Printable)} - printed
    assert missing <= {"credit-note", "goods-receipt"}, missing


async def test_an_order_of_a_thousand_lines_is_printed(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "3", "price": "1.25", "description": "不锈钢法兰，按图加工"}
    order: Any = expect(await admin.post(f"{AT}/sales-orders", {"customer_name": "a", "lines": [line] * 1000}))
    assert (await admin.get(f"{AT}/sales-orders/{order['id']}/print")).status == 200


async def test_a_template_that_needs_too_much_memory_or_time_is_refused_and_others_still_print(admin: Client) -> None:
    for source in (
        '#let a = "x" * 1000\n#for i in range(40) { a = a + a }\n#a.len()',
        "#for i in range(100000) { for j in range(100000) { let k = i + j } }",
    ):
        body = {"name": unique("template"), "paper": "voucher", "language": "zh", "source": source}
        assert (await admin.post("/api/v1/print/templates", body)).code == 41300
    simple = {"paper": "voucher", "language": "zh", "source": "x"}
    assert (await admin.post("/api/v1/print/templates/preview", simple)).status == 200
