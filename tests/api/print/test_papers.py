"""Papers: what a record prints, in which template, and what the code on a paper says later."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
TEMPLATES, CHECK = "/api/v1/print/templates", "/api/v1/print/check"


async def draft(client: Client) -> tuple[Goods, dict[str, Any]]:
    goods = await Goods.fresh(client)
    line = {"product_id": goods.product_id, "quantity": "12", "price": "86.50", "tax_rate": "0.13"}
    order = await client.post(f"{AT}/sales-orders", {"customer_name": "华东机械", "lines": [line]})
    return goods, expect(order)


def printed(order: dict[str, Any], **query: str) -> str:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{AT}/sales-orders/{order['id']}/print?{asked}"


async def token_of(client: Client, order: dict[str, Any]) -> str:
    return str((await client.get(printed(order, language="zh"))).headers["X-Print-Token"])


async def template(client: Client, source: str, **further: Any) -> Any:
    body = {"name": unique("template"), "paper": "sales-order", "language": "zh", "source": source, **further}
    return await client.post(TEMPLATES, body)


async def test_the_same_record_prints_the_same_bytes_and_each_language_its_own(admin: Client) -> None:
    _, order = await draft(admin)
    first, second, english = [await admin.get(printed(order, language=one)) for one in ("zh", "zh", "en")]
    assert (first.status, first.headers["Content-Type"], first.body[:5]) == (200, "application/pdf", b"%PDF-")
    assert first.body == second.body != english.body


async def test_a_paper_has_labels_names_and_amounts_as_people_read_them(admin: Client) -> None:
    _, order = await draft(admin)
    name = unique("says")
    saying = (
        "#let paper = json(bytes(sys.inputs.paper))\n"
        '#if paper.number.starts-with("SO-") {\n'  # not in the example by which the template is tried
        f'  assert.eq((paper.title, paper.number), ("销售订单", "{order["number"]}"))\n'
        "  let row = paper.rows.first()\n"
        '  assert.eq((row.product_id, row.quantity, row.tax_rate, row.amount), ("goods", "12", "13%", "1,172.94"))\n'
        '  assert.eq(paper.totals.last(), (name: "amount", label: "金额", value: "1,172.94"))\n'
        "}\nx"
    )
    expect(await template(admin, saying, name=name))
    reply = await admin.get(printed(order, language="zh", template=name))
    assert reply.status == 200, reply.body.decode()


async def test_the_paper_of_an_invoice_says_its_instalments_and_until_when_there_is_a_discount(admin: Client) -> None:
    parts = [{"percent": "30", "days": 0}, {"percent": "70", "days": 30}]
    body = {
        "direction": "out",
        "counterparty": "华东机械",
        "amount": "100.00",
        "day": "2026-01-10",
        "instalments": parts,
    }
    offer = {"discount_percent": "2", "discount_days": 10}
    invoice = expect(await admin.post("/api/v1/finance/invoices", {**body, **offer}))
    name = unique("terms")
    saying = (
        "#let paper = json(bytes(sys.inputs.paper))\n"
        '#if paper.values.due_on == "2026-02-09" {\n'  # not in the example by which the template is tried
        "  let said(name) = paper.facts.find(one => one.name == name).value\n"
        '  assert.eq(said("instalments"), "Percent 30, Days 0; Percent 70, Days 30")\n'
        '  assert.eq((said("discount_until"), said("discount_amount")), ("2026-01-20", "2.00"))\n'
        "}\nx"
    )
    expect(await template(admin, saying, name=name, paper="invoice", language="en"))
    reply = await admin.get(f"/api/v1/finance/invoices/{invoice['id']}/print?language=en&template={name}")
    assert reply.status == 200, reply.body.decode()


async def test_the_paper_of_an_invoice_without_its_number_says_that_it_is_a_draft(admin: Client) -> None:
    party, name = unique("party"), unique("title")
    body = {"direction": "out", "counterparty": party, "amount": "100.00"}
    invoice = expect(await admin.post("/api/v1/finance/invoices", body))
    saying = '#let paper = json(bytes(sys.inputs.paper))\n#if paper.values.counterparty == "{0}" {{\n{1}\n}}\nx'
    for title in ("Invoice (draft)", "Invoice"):
        source = saying.format(party, f'assert.eq(paper.title, "{title}")')
        made = expect(await template(admin, source, name=unique(name), paper="invoice", language="en"))
        at = f"/api/v1/finance/invoices/{invoice['id']}"
        reply = await admin.get(f"{at}/print?language=en&template={made['name']}")
        assert reply.status == 200, reply.body.decode()
        await admin.post(f"{at}/confirm")


async def test_the_lines_on_a_paper_say_in_which_units_they_count_and_for_how_many_a_price_is(admin: Client) -> None:
    goods, name = await Goods.fresh(admin), unique("per")
    product = f"{AT}/products/{goods.product_id}"
    boxes = {"version": expect(await admin.get(product))["version"], "units": [{"unit": "box", "factor": "10"}]}
    expect(await admin.patch(product, boxes))
    line = {"product_id": goods.product_id, "quantity": "3", "unit": "box", "price": "80.125", "price_per": "100"}
    order = expect(await admin.post(f"{AT}/sales-orders", {"customer_name": name, "lines": [line]}))
    told = {
        "description": "screws",
        "quantity": "333",
        "price": "80.125",
        "price_per": "100",
        "discount_amount": "0.82",
    }
    bill = {"direction": "out", "counterparty": name, "lines": [told]}
    invoice = expect(await admin.post("/api/v1/finance/invoices", bill))
    papers = (
        ("sales-order", printed(order, language="zh", template=name), {"unit": "箱", "price_per": "100"}),
        (
            "invoice",
            f"/api/v1/finance/invoices/{invoice['id']}/print?language=zh&template={name}",
            {"price_per": "100", "discount_amount": "0.82", "net": "266.00"},
        ),
    )
    for paper, path, said in papers:
        saying = "#let paper = json(bytes(sys.inputs.paper))\n" + f'#if repr(paper).contains("{name}") {{\n'
        for column, value in said.items():
            saying += f'  assert(paper.columns.any(one => one.name == "{column}"))\n'
            saying += f'  assert.eq(paper.rows.first().{column}, "{value}")\n'
        expect(await template(admin, saying + "}\nx", name=name, paper=paper))
        reply = await admin.get(path)
        assert reply.status == 200, reply.body.decode()


async def test_the_code_on_a_paper_tells_equal_older_and_altered_and_nothing_else(
    admin: Client, anonymous: Client
) -> None:
    goods, order = await draft(admin)
    token = await token_of(admin, order)
    figures = f"number={order['number']}&total=1172.94"
    assert expect(await anonymous.get(f"{CHECK}/{token}?{figures}")) == {"status": "equal"}
    assert expect(await anonymous.get(f"{CHECK}/{token}")) == {"status": "equal"}
    forged = token.replace(order["id"], "0" * 24)
    wrong = (f"{token}?number={order['number']}&total=11172.94", f"{token[:-9]}{'A' * 9}?{figures}", forged)
    assert [expect(await anonymous.get(f"{CHECK}/{one}"))["status"] for one in wrong] == ["altered"] * 3
    assert (await anonymous.get(f"{CHECK}/{token}.z")).code == 40400
    line = {"product_id": goods.product_id, "quantity": "13", "price": "86.50", "tax_rate": "0.13"}
    change = {"lines": [line], "version": order["version"]}
    order = expect(await admin.patch(f"{AT}/sales-orders/{order['id']}", change))
    assert expect(await anonymous.get(f"{CHECK}/{token}?{figures}")) == {"status": "older"}
    expect(await admin.delete(f"{AT}/sales-orders/{order['id']}"))
    assert expect(await anonymous.get(f"{CHECK}/{token}")) == {"status": "older"}


async def test_the_page_that_the_code_opens_asks_for_the_figures_and_then_says_what_became_of_the_paper(
    admin: Client, anonymous: Client
) -> None:
    _, order = await draft(admin)
    page = f"/print/{await token_of(admin, order)}"
    asking = (await anonymous.get(page)).body.decode()
    assert 'name="number"' in asking
    assert "与系统记录一致" not in asking
    said = (await anonymous.get(f"{page}?number={order['number']}&total=1,172.94")).body.decode()
    assert 'class="equal"' in said
    assert "华东机械" not in asking + said


async def test_a_template_that_reaches_for_files_or_the_network_or_never_ends_is_refused(admin: Client) -> None:
    for source in (
        '#read("/etc/passwd")',
        '#image("../../etc/passwd")',
        '#import "@preview/cetz:0.3.0": canvas',
        '#plugin("/usr/lib/x.wasm")',
        "#while true {}",
        "#let broken = (",
    ):
        reply = await template(admin, source)
        assert (reply.code, reply.fields) == (40001, {"source"}), source


async def test_a_preferred_template_is_used_unless_another_is_named(admin: Client) -> None:
    _, order = await draft(admin)
    standard = await admin.get(printed(order, language="zh"))
    made = expect(await template(admin, "我们的单据", preferred=True))
    try:
        own, named = [await admin.get(printed(order, language="zh", **one)) for one in ({}, {"template": "standard"})]
        assert own.body != standard.body == named.body
    finally:
        expect(await admin.delete(f"{TEMPLATES}/{made['id']}"))
    unknown = await admin.get(printed(order, template="nobody-has-this"))
    assert (unknown.code, unknown.fields) == (40001, {"template"})


async def test_nobody_prints_what_they_may_not_read(admin: Client, people: People) -> None:
    _, order = await draft(admin)
    reader = await people.person(permissions=["inventory:sales-order:read"], scope="self")
    assert (await reader.get(printed(order))).code == 40400
    stranger = await people.person(permissions=["inventory:delivery:read"], scope="all")
    assert (await stranger.get(printed(order))).code == 40300
