"""What the service says of a company, beside the model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from plugins.testing import eventually, expect
from tests.support.random_company.arithmetic import ZERO, part
from tests.support.random_company.goods import amount_of
from tests.support.random_company.office import CRM, FINANCE, INVENTORY, Office, Person
from tests.support.random_company.rounds import Tally

Sums = Mapping[Any, Any]
_DASHBOARDS = "/api/dashboard"
_ANY_STATE = "status=planned,open,partly_paid,paid,void"
# how many documents each list has, by the kinds of steps that make them
_LISTS: Mapping[str, tuple[str, ...]] = {
    f"{INVENTORY}/purchase-orders": ("purchase order",),
    f"{INVENTORY}/sales-orders": ("sales order",),
    f"{INVENTORY}/receipts": ("receipt",),
    f"{INVENTORY}/deliveries": ("delivery",),
    f"{INVENTORY}/purchase-returns": ("purchase return", "reversal of a receipt", "reversal of a purchase return"),
    f"{INVENTORY}/sales-returns": ("sales return", "reversal of a delivery", "reversal of a sales return"),
    f"{INVENTORY}/transfers": ("transfer", "reversal of transfers"),
    f"{INVENTORY}/stock-counts": ("stock count", "reversal of stock-counts"),
    # drafts that claim too much stay
    f"{FINANCE}/invoices?status=confirmed,partly_paid,paid,void,credited": ("invoice",),
    f"{FINANCE}/credit-notes": ("credit note",),
    f"{FINANCE}/expense-claims": ("expense claim",),
    f"{FINANCE}/opening-items": ("opening item",),
    f"{FINANCE}/adjustments": ("adjustment", "reversal of an adjustment"),
    f"{CRM}/contracts": ("contract",),
}


async def differences(office: Office, tally: Tally, *, audit: bool = True) -> list[str]:
    """Everything in which the service and the model differ, as sentences."""
    found: list[str] = []
    for name, said, expected in [*[one async for one in _compared(office)], await _count_documents(office, tally)]:
        every = {**said, **expected}
        wrong = {key for key in every if said.get(key, ZERO) != expected.get(key, ZERO)}
        found += [
            f"{name} {key}: {said.get(key)}, the model says {expected.get(key)}" for key in sorted(wrong, key=str)
        ]
    return [*found, *(await audited(office) if audit else [])]


async def _compared(office: Office) -> Any:
    for compare in (
        _of_balances,
        _of_stock,
        _of_items,
        _of_advances,
        _of_ageing,
        _of_statements,
        _of_dashboards,
        _of_money,
        _of_taxes,
        _of_margins,
    ):
        async for one in compare(office):
            yield one


async def _count_documents(office: Office, tally: Tally) -> tuple[str, Sums, Sums]:
    """How many there are of each kind: none is missing, and none is there twice."""
    model, transfers = office.model, sum(one["to"] is not None for one in office.model.vouchers.values())
    expected = {path: sum(tally.made[kind] for kind in kinds) for path, kinds in _LISTS.items()}
    expected |= {f"{CRM}/payments": len(model.receipts), f"{CRM}/payment-plans": len(model.plans)}
    expected |= {f"{FINANCE}/payments": len(model.payments), f"{FINANCE}/vouchers": len(model.money) + transfers}
    lists = {path: f"{path}{'&' if '?' in path else '?'}page_size=1" for path in expected}
    said = {path: (await office.manager.get(list))["total"] for path, list in lists.items()}
    return "number of", said, expected


async def _of_balances(office: Office) -> Any:
    rows = [await office.manager.get(f"{FINANCE}/accounts/{id}") for id in office.accounts]
    yield "balance", {row["id"]: Decimal(row["balance"]) for row in rows}, office.model.accounts


async def _of_stock(office: Office) -> Any:
    said, available = {}, {}
    for place in office.places:
        for row in await office.manager.every(f"{INVENTORY}/stock?warehouse_id={place}"):
            said[row["product_id"], place] = (Decimal(row["quantity"]), Decimal(row["value"]))
            available[row["product_id"], place] = Decimal(row["available"])
    nothing = (ZERO, ZERO)
    held = {key: one for key, one in office.model.stock.items() if one != nothing}
    yield "stock", {key: one for key, one in said.items() if one != nothing}, held
    expected = {key: quantity - office.model.count_reserved(*key) for key, (quantity, _) in office.model.stock.items()}
    yield "available", available, expected


async def list_items(person: Person) -> list[dict[str, Any]]:
    """All open items that somebody sees."""
    return [row for what in ("receivables", "payables") for row in await person.every(f"{FINANCE}/{what}?{_ANY_STATE}")]


async def _of_items(office: Office) -> Any:
    rows = await list_items(office.manager)
    said = {row["resource_id"]: (Decimal(row["amount"]), Decimal(row["paid"])) for row in rows}
    yield "open item", said, {key: (one["amount"], one["paid"]) for key, one in office.model.items.items()}
    billed: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO])
    by_id = {id: key for key, id in office.item_ids.items()}
    for row in await office.manager.every(f"{FINANCE}/invoices?status=confirmed,partly_paid,paid"):
        if row["open_item_id"] is not None:
            billed[by_id[row["open_item_id"]]][0] += Decimal(row["total"]) - Decimal(row["credited"] or 0)
            billed[by_id[row["open_item_id"]]][1] += Decimal(row["paid"])
    paid = {key: min(max(office.model.items[key]["paid"], ZERO), owed) for key, (owed, _) in billed.items()}
    yield "paid of invoices that bill", {key: one for key, (_, one) in billed.items()}, paid


async def _of_advances(office: Office) -> Any:
    rows = await office.manager.every(f"{FINANCE}/payments?status=booked")
    live = [one for one in office.model.payments.values() if one["live"]]
    sums = {name: sum((Decimal(row[name]) for row in rows), ZERO) for name in ("amount", "unallocated", "repaid")}
    yield "payments", sums, {name: sum((one[name] for one in live), ZERO) for name in sums}
    yield "number of payments", {"": len(rows)}, {"": len(live)}


async def _of_ageing(office: Office) -> Any:
    for day in (office.today.isoformat(), office.day()):
        for kind, direction in (("receivable", "out"), ("payable", "in")):
            said = await office.manager.get(f"{FINANCE}/ageing?kind={kind}&day={day}")
            rows = {row["customer_id"] or row["supplier_id"]: row for row in said["items"]}
            until = [one for one in office.model.entries if one[1] == direction and one[3] <= day]
            for name, advance in (("total", False), ("advances", True)):
                expected: dict[Any, Decimal] = defaultdict(Decimal)
                for party, _, is_advance, _, amount in until:
                    if is_advance == advance:
                        expected[party] += -amount if advance else amount
                label = f"{name} of the {kind}s of {day}"
                yield label, {party: Decimal(row[name]) for party, row in rows.items()}, expected
                yield f"sum of {label}", {"": Decimal(said["totals"][name])}, {"": sum(expected.values(), ZERO)}


async def _of_statements(office: Office) -> Any:
    first, last = sorted((office.day(), office.day()))
    for field, side in (("customer_id", "out"), ("supplier_id", "in")):
        ids = [one["id"] for one in office.customers] if side == "out" else office.suppliers
        party = office.chance.choice(ids)
        said = await office.manager.get(f"{FINANCE}/statements?{field}={party}&from={first}&to={last}&page_size=1")
        signed = [
            (day, amount if of == side else -amount) for who, of, _, day, amount in office.model.entries if who == party
        ]
        opening = sum((amount for day, amount in signed if day < first), ZERO)
        closing = sum((amount for day, amount in signed if day <= last), ZERO)
        expected = {"opening_balance": opening, "closing_balance": closing}
        yield f"statement of {party}", {name: Decimal(said[name]) for name in expected}, expected


async def _of_money(office: Office) -> Any:
    """Income less expense is what the balances changed by, but for payments of contracts that are in no account."""
    said = await office.manager.get(f"{_DASHBOARDS}/finance-summary")
    outside = sum((one["amount"] for one in office.model.receipts.values() if one["payment"] is None), ZERO)
    balances = [await office.manager.get(f"{FINANCE}/accounts/{id}") for id in office.accounts]
    change = sum((Decimal(one["balance"]) for one in balances), ZERO)
    yield "income less expense", {"": Decimal(said["income"]) - Decimal(said["expense"])}, {"": change + outside}


async def _of_dashboards(office: Office) -> Any:
    model, get = office.model, office.manager.get
    months: dict[Any, Decimal] = defaultdict(Decimal)
    for kind, day, amount in model.money:
        months[kind, day[:7]] += amount
    received = list(model.receipts.values())
    for one in received:
        months["income", one["day"][:7]] += one["amount"] if one["payment"] is None else ZERO
    said = await get(f"{_DASHBOARDS}/finance-summary")
    rows = {(kind, row["month"]): Decimal(row[kind]) for row in said["items"] for kind in ("income", "expense")}
    yield "finance summary", rows, months
    days = Counter({one["day"]: 0 for one in received})
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for one in received:
        days[one["day"]] += 1 if one["amount"] > 0 else -1
        sums[one["day"]] += one["amount"]
    trend = (await get(f"{_DASHBOARDS}/sales-trend?days=120"))["items"]
    yield "sales trend", {row["date"]: Decimal(row["amount"]) for row in trend}, sums
    yield (
        "payments by day",
        {row["date"]: row["count"] for row in trend},
        {day: max(one, 0) for day, one in days.items()},
    )
    contracts = [one["document"] for one in model.items.values() if one["is_contract"] and not one["ended"]]
    expected = {"contract_amount": sum(contracts, ZERO), "received_amount": sum(sums.values(), ZERO)}
    said = await get(f"{_DASHBOARDS}/overview")
    yield "overview", {name: Decimal(said[name]) for name in expected}, expected
    stock = (await get(f"{_DASHBOARDS}/stock-value-by-warehouse"))["items"]
    values: dict[str, Decimal] = defaultdict(Decimal)
    for (_, place), (_, worth) in model.stock.items():
        values[place] += worth
    yield (
        "stock value",
        {row["warehouse_id"]: Decimal(row["value"]) for row in stock if row["warehouse_id"] in values},
        values,
    )
    traded: dict[Any, Decimal] = defaultdict(Decimal)
    for order in model.orders.values():
        traded["purchase" if order["incoming"] else "sales", order["month"]] += _ordered(office, order)
    items = (await get(f"{_DASHBOARDS}/sales-vs-purchase?months=12"))["items"]
    yield (
        "sales and purchases",
        {(name, row["month"]): Decimal(row[name]) for row in items for name in ("sales", "purchase")},
        traded,
    )


async def _of_taxes(office: Office) -> Any:
    """What was invoiced and credited, net and tax, by month."""
    said: dict[Any, Decimal] = defaultdict(Decimal)
    for row in (await office.manager.get(f"{FINANCE}/taxes?from={office.first_day}&to={office.today}"))["items"]:
        for name in ("net", "tax"):
            said[name, row["direction"], row["month"]] += Decimal(row[name])
    expected: dict[Any, Decimal] = defaultdict(Decimal)
    for direction, day, net, tax in office.model.taxed:
        expected["net", direction, day[:7]] += net
        expected["tax", direction, day[:7]] += tax
    yield "tax by month", said, expected


async def _of_margins(office: Office) -> Any:
    """What sales earned by product: in all, in some period, and on a day."""
    days = sorted((office.day(), office.day()))
    for first, last in ((office.first_day, office.today.isoformat()), (days[0], days[1]), (days[0], days[0])):
        said, expected = {}, defaultdict[Any, Decimal](Decimal)
        for row in await office.manager.every(f"{INVENTORY}/margins?by=product&from={first}&to={last}"):
            said |= {(row["product_id"], name): Decimal(row[name]) for name in ("net", "cost")}
        for (order, product), moved in _moved_until(office, last).items():
            before = sum((units for day, units, _ in moved if day < first), ZERO)
            after = sum((units for _, units, _ in moved), ZERO)
            lines = office.model.orders[order]
            expected[product, "net"] += _net(lines, product, after) - _net(lines, product, before)
            expected[product, "cost"] += sum((cost for day, _, cost in moved if day >= first), ZERO)
        yield f"margin from {first} to {last}", said, expected


def _moved_until(office: Office, last: str) -> Mapping[Any, list[tuple[str, Decimal, Decimal]]]:
    moved = defaultdict(list)
    for order, product, day, units, cost in office.model.earned:
        if day <= last:
            moved[order, product].append((day, units, cost))
    return moved


def _net(order: Mapping[str, Any], product: str | None, units: Decimal) -> Decimal:
    """What so many units of a line come to without tax: their amount less their tax, each rounded by itself."""
    if product is None:
        return Decimal(order["freight"] * units)
    line = next(one for one in order["lines"] if one["product"] == product)
    return part(line, "amount", units) - part(line, "tax", units)


def _ordered(office: Office, order: Mapping[str, Any]) -> Decimal:
    """What an order comes to; of one that was closed early, what was shipped; less what came back."""
    shipments = [one for one in map(office.model.shipments.get, order["shipments"]) if one["live"]]
    if order["state"] == "cancelled":
        return ZERO
    whole = amount_of(order, "amount")
    shipped = sum((one["amount"] for one in shipments), ZERO)
    return (shipped if order["state"] == "closed" else whole) - sum((one["returned"] for one in shipments), ZERO)


async def audited(office: Office) -> list[str]:
    """What an audit that begins now finds, and should not, or should find, and does not."""
    admin = Person(office.admin, office.manager.patience)
    before = expect(await admin.post(f"{FINANCE}/audit/run"))["checked_at"]

    async def ended() -> Any:
        result = await admin.get(f"{FINANCE}/audit")
        return result if not result["running"] and result["checked_at"] != before else None

    result = await eventually(ended, seconds=300, every=0.1)
    expected, wrong = Counter(_list_claims(office)), []
    for message in (one["message"] for one in result["differences"]):
        said = message.partition("：")[2]
        if expected[said] > 0:
            expected[said] -= 1
        else:
            wrong.append(f"audit: {message}")
    return [*wrong, *(f"the audit does not say: {one}" for one in expected.elements())]


def _list_claims(office: Office) -> Iterator[str]:
    """What invoices claim of terminated contracts of which less was kept: a credit note is missing."""
    for key, item in office.model.items.items():
        _, claimed = office.model.sum_bills(key)
        if item["ended"] and claimed > item["document"]:
            yield f"发票合计 {claimed:.2f}，最多可开 {item['document']:.2f}"
