"""Contracts in a currency over HTTP: plans, amendments and payments are in it, and figures count the company's own."""

from __future__ import annotations

import random
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences as find_wrong
from plugins.testing import Client, expect
from tests.api.approval.flows import AT as FLOWS, DEFINITIONS, define, node
from tests.api.crm.sales import CONTRACTS, CRM, PAYMENTS, PLANS, Record, contract, customer, in_force
from tests.api.crm.tables import as_csv, read_csv
from tests.api.crm.test_amendments import AMENDMENTS, amended, day, draft
from tests.api.crm.test_tables import imported
from tests.api.finance.books import Books
from tests.api.finance.test_currencies import account, differences
from tests.api.inventory.test_order_currencies import DAY, UNKNOWN, rates

__all__ = ["rates"]
pytestmark = pytest.mark.gen_test(timeout=60)
RATE = "1.23456789"
CENT, ZERO = Decimal("0.01"), Decimal(0)


async def paid(client: Client, of: Record, amount: str, books: Books | None = None, **fields: Any) -> Record:
    """A payment of a contract, which is in the books if it names an account."""
    body = {"contract_id": of["id"], "amount": amount, **fields}
    body |= {"account_id": books.account_id} if books is not None else {}
    made: Record = expect(await client.post(PAYMENTS, body))
    return made


async def payments_of(client: Client, of: Record) -> list[Record]:
    rows: list[Record] = expect(await client.get(f"{PAYMENTS}?contract_id={of['id']}&page_size=200&sort=id"))["items"]
    return rows


async def figures(client: Client) -> dict[str, Decimal]:
    """What dashboards count: of contracts, of those that changed this month, and of payments."""
    whole = expect(await client.get("/api/dashboard/overview"))
    months = expect(await client.get("/api/dashboard/contract-trend?months=12"))["items"]
    sellers = expect(await client.get("/api/dashboard/sales-ranking?by=payments&limit=100"))["items"]
    return {
        "contracts": Decimal(whole["contract_amount"]),
        "trend": sum((Decimal(row["amount"]) for row in months), ZERO),
        "received": Decimal(whole["received_amount"]),
        "sold": sum((Decimal(row["amount"]) for row in sellers), ZERO),
    }


@pytest.mark.usefixtures("rates")
async def test_a_contract_is_owed_in_its_currency_and_its_payments_realise_what_the_rate_has_changed(
    admin: Client,
) -> None:
    of = await customer(admin, currency="DKK")
    made = await in_force(admin, "100.01", customer_id=of["id"], signed_date=DAY)
    assert (made["currency"], made["rate"]) == ("DKK", "2.00")
    plan = expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": "60.00", "due_date": "2099-01-31"}))
    books, own = await account(admin, "DKK"), await account(admin, None)
    first = await paid(admin, made, "60.00", books, rate="2.5", plan_id=plan["id"])
    second = await paid(admin, made, "40.01", own, rate="1.9")
    assert [plan["currency"]] + [first[name] for name in ("currency", "rate", "base_amount")] == [
        *("DKK", "DKK", "2.50", "150.00")
    ]
    assert (await books.balance(), await own.balance()) == ("60.00", "76.02")
    item = await books.item(made)
    shown = ("status", "amount", "currency", "rate", "base_amount", "base_paid")
    assert [item[name] for name in shown] == ["paid", "100.01", "DKK", "2.00", "200.02", "200.02"]
    assert await differences(admin, open_item_id=item["id"]) == ["30.00", "-4.00"]
    expect(await admin.post(f"{PAYMENTS}/{first['id']}/reverse", {}))
    expect(await admin.delete(f"{PAYMENTS}/{second['id']}"))
    assert await differences(admin, open_item_id=item["id"]) == ["30.00", "-4.00", "-30.00", "4.00"]
    assert [row["base_amount"] for row in await payments_of(admin, made)] == ["150.00", "-150.00"]
    assert (await books.item(made))["base_paid"] == "0.00"


async def test_money_that_finance_allocates_to_a_contract_counts_at_its_own_rate(admin: Client) -> None:
    books, made = await account(admin, "DKK"), await in_force(admin, "100.00", currency="DKK", rate="2")
    item = await books.item(made)
    entered = expect(await books.enter("in", "60.00", (item, "60.00"), rate="2.5"))
    expect(await books.enter("out", "10.00", (item, "10.00"), rate="2.2"))
    assert await differences(admin, open_item_id=item["id"]) == ["30.00", "-2.00"]
    shown = [[row[name] for name in ("currency", "rate", "base_amount")] for row in await payments_of(admin, made)]
    assert shown == [["DKK", "2.50", "150.00"], ["DKK", "2.20", "-22.00"]]
    other = await in_force(admin, "100.00", currency="CNY", customer_id=made["customer_id"])
    refused = await books.enter("in", "1.00", (await books.item(other), "1.00"), currency="DKK", rate="2.5")
    assert refused.fields == {"allocations[0].open_item_id"}
    take = {"open_item_id": item["id"], "amount": "60.00"}
    again = await admin.post(f"/api/v1/finance/payments/{entered['id']}/take-back", take)
    expect(again, 40901)  # some of it was paid back


async def test_figures_count_a_contract_its_changes_and_its_payments_in_the_companys_currency(admin: Client) -> None:
    before = await figures(admin)
    made = await in_force(admin, "100.00", currency="DKK", rate=RATE, signed_date=day(-62))
    change = await amended(admin, made, amount="130.00")
    assert [change[name] for name in ("currency", "change", "base_change")] == ["DKK", "30.00", "37.03"]
    await paid(admin, made, "60.00", rate="2")
    counted = {name: value - before[name] for name, value in (await figures(admin)).items()}
    assert counted == {
        "contracts": Decimal("160.49"),
        "trend": Decimal("160.49"),
        "received": Decimal(120),
        "sold": Decimal(120),
    }
    expect(await admin.post(f"{CONTRACTS}/{made['id']}/terminate", {"reason": "x"}))
    assert (await figures(admin))["trend"] == before["trend"]


async def test_a_rehearsal_tells_amounts_in_the_currency_and_credit_in_the_companys(admin: Client) -> None:
    of = await customer(admin, credit_limit="150.00")
    made = await in_force(admin, "100.00", customer_id=of["id"], currency="DKK", rate="2")
    effect = expect(await admin.post(f"{CONTRACTS}/{made['id']}/amendments/rehearse", {"amount": "180.00"}))
    assert [effect[name] for name in ("currency", "change", "open_after")] == ["DKK", "80.00", "180.00"]
    assert list(effect["credit"].values()) == ["150.00", "200.00", "360.00", "210.00"]


@pytest.mark.usefixtures("rates")
async def test_conditions_of_approvals_compare_what_contracts_and_amendments_are_worth(admin: Client) -> None:
    async def matches(biz_type: str, id: str, **values: float) -> list[str]:
        conditions = [{"field": name, "op": "eq", "value": value} for name, value in {"id": id, **values}.items()]
        flow = await define(admin, node("boss"), biz_type=biz_type, conditions=conditions, priority=0)
        tried = expect(await admin.post(f"{FLOWS}/simulate", {"biz_type": biz_type, "resource_id": id}))
        expect(await admin.delete(f"{DEFINITIONS}/{flow['id']}"))
        return [one["key"] for one in tried["nodes"]]

    first = await contract(admin, "10.00", currency="DKK")
    assert await matches("CONTRACT", first["id"], amount=20, currency_amount=10) == ["boss"]
    made = await in_force(admin, "10.00", currency="DKK")
    worth = {"amount": 24, "amount_before": 20, "amount_after": 24, "change": 4, "currency_amount": 12}
    change = await draft(admin, made, amount="12.00")
    assert await matches("CONTRACT_AMENDMENT", change["id"], **worth) == ["boss"]


@pytest.mark.usefixtures("rates")
async def test_what_has_no_rate_or_mixes_currencies_is_refused_by_its_field(admin: Client) -> None:
    of, books = await customer(admin, currency="DKK"), await account(admin, "NOK")
    good = {"customer_id": of["id"], "name": "c", "amount": "999999999.99"}
    for body, field in (
        ({"currency": "SEK"}, "currency"),
        ({"signed_date": UNKNOWN}, "currency"),
        ({"currency": "CNY", "rate": "2"}, "rate"),
        ({"rate": "999999.99"}, "rate"),
    ):
        assert (await admin.post(CONTRACTS, {**good, **body})).fields == {field}, body
    made = expect(await admin.post(CONTRACTS, good))
    at = f"{CONTRACTS}/{made['id']}"
    assert (await admin.patch(at, {"currency": "NOK", "version": made["version"]})).fields == {"amount"}
    made = expect(await admin.patch(at, {"rate": "1.5", "version": made["version"]}))
    assert (made["currency"], made["rate"]) == ("DKK", "1.50")
    other = {"currency": "NOK", "amount": "5.00"}
    made = expect(await admin.patch(at, {**other, "version": made["version"]}))
    plan = expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": "5.00", "due_date": "2099-01-31"}))
    assert (made["rate"], plan["currency"]) == ("0.33333333", "NOK")
    back = {"currency": "DKK", "amount": "5.00", "version": made["version"]}
    assert (await admin.patch(at, back)).fields == {"currency"}
    own, foreign = await in_force(admin, currency="CNY"), await in_force(admin, currency="DKK")
    early = f"{UNKNOWN}T12:00:00+08:00"
    for contract_id, body, field in (
        (own["id"], {"rate": "2"}, "rate"),
        (own["id"], {"account_id": books.account_id}, "account_id"),
        (foreign["id"], {"account_id": books.account_id}, "account_id"),
        (foreign["id"], {"paid_at": early}, "rate"),
    ):
        refused = await admin.post(PAYMENTS, {"contract_id": contract_id, "amount": "1.00", **body})
        assert refused.fields == {field}, body
    dear = {"contract_id": foreign["id"], "amount": "9999999999999.00"}
    assert (await admin.post(AMENDMENTS, dear)).fields == {"amount"}


@pytest.mark.usefixtures("rates")
async def test_tables_have_the_currency_and_lists_add_up_no_two(admin: Client) -> None:
    of = await customer(admin)
    header = ["customer_id", "name", "amount", "currency", "signed_date"]
    rows = [[of["id"], "a", "10.00", "DKK", DAY], [of["id"], "b", "20.00", "", DAY]]
    assert (await imported(admin, CONTRACTS, as_csv([header, *rows])))["created"] == 2
    query = f"customer_id={of['id']}&sort=amount"
    columns, *found = read_csv((await admin.get(f"{CONTRACTS}/export?{query}")).body)
    picked = [columns.index(name) for name in ("amount", "currency", "rate")]
    assert [[row[place] for place in picked] for row in found] == [["10.00", "DKK", "2.00"], ["20.00", "", ""]]
    assert expect(await admin.get(f"{CONTRACTS}?{query}&sum=amount"))["sums"] is None
    assert expect(await admin.get(f"{CONTRACTS}?{query}&sum=amount&currency=DKK"))["sums"] == {"amount": "10.00"}


@pytest.mark.parametrize("seed", range(3))
async def test_what_random_contracts_realise_is_what_their_money_is_worth_less_what_it_settled(
    seed: int, admin: Client, tradewind: Running
) -> None:
    chance, driver = random.Random(seed), tradewind.service.database.driver
    wrong, before = await find_wrong(driver), await figures(admin)
    books, total = [await account(admin, currency) for currency in ("NOK", None)], ZERO

    def rate() -> str:
        return str(Decimal(chance.randint(1, 10**9)).scaleb(-8))

    def worth(amount: str, of: Record) -> Decimal:
        return (Decimal(amount) * Decimal(of["rate"])).quantize(CENT, ROUND_HALF_UP)

    for _ in range(4):
        amount = chance.randint(100, 99_999)
        made = await in_force(admin, str(amount * CENT), currency="NOK", rate=rate())
        left = amount
        for _ in range(chance.randint(2, 5)):
            part = chance.randint(1, left)
            one = await paid(admin, made, str(part * CENT), chance.choice(books), rate=rate())
            if chance.random() < 0.3:
                expect(await admin.post(f"{PAYMENTS}/{one['id']}/reverse", {}))
            else:
                left -= part
            if chance.random() < 0.3:
                amount, left = amount + 77, left + 77
                await amended(admin, made, amount=str(amount * CENT))
            if not left:
                break
        made = expect(await admin.get(f"{CONTRACTS}/{made['id']}"))
        item = await books[0].item(made)
        assert (made["amount"], made["received_amount"]) == (f"{amount * CENT:.2f}", f"{(amount - left) * CENT:.2f}")
        assert Decimal(item["base_amount"]) == worth(made["amount"], made)
        assert Decimal(item["base_paid"]) == worth(made["received_amount"], made)
        money = sum((Decimal(row["base_amount"]) for row in await payments_of(admin, made)), ZERO)
        realised = sum(map(Decimal, await differences(admin, open_item_id=item["id"], page_size=200)), ZERO)
        assert realised == money - Decimal(item["base_paid"])
        total += worth(made["amount"], made)
    assert (await figures(admin))["trend"] - before["trend"] == total
    assert [one for one in await find_wrong(driver) if one not in wrong] == []


@pytest.mark.usefixtures("rates")
async def test_a_quotation_of_the_companys_currency_makes_such_a_contract_for_a_customer_with_another(
    admin: Client,
) -> None:
    of, lines = (await customer(admin, currency="DKK"))["id"], [{"description": "work", "quantity": "1", "price": "9"}]
    for currency, shown in (("CNY", [None, None]), ("NOK", ["NOK", "0.33333333"])):
        body = {"customer_id": of, "currency": currency, "lines": lines}
        quoted = expect(await admin.post("/api/v1/inventory/quotations", body))
        at = f"/api/v1/inventory/quotations/{quoted['id']}"
        expect(await admin.post(f"{at}/send"))
        made = expect(await admin.get(f"{CRM}/contracts/{expect(await admin.post(f'{at}/contract'))['contract_id']}"))
        assert [made[name] for name in ("currency", "rate")] == shown
