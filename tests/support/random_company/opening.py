"""What was owed when the books began, and what of it is not owed any more though nobody paid it."""

from __future__ import annotations

from decimal import Decimal

from plugins.testing import unique
from tests.support.random_company.arithmetic import Row
from tests.support.random_company.model import Company
from tests.support.random_company.office import FINANCE, Office, Person
from tests.support.random_company.steps import Outcome, Record, Step, amounts

_KINDS = ("rebate", "cash_discount", "write_off", "charge", "difference")


def open_item(office: Office, person: Person) -> Step:
    """Enter what a customer owes, or is owed to a supplier, by the old books."""
    chance, direction, day = office.chance, office.chance.choice(("in", "out")), office.day()
    party = chance.choice(office.suppliers) if direction == "in" else chance.choice(office.customers)["id"]
    amount = Decimal(chance.randint(100, 300_000)).scaleb(-2)
    named = {"supplier_id": party} if direction == "in" else {"customer_id": party}
    body = {"kind": "payable" if direction == "in" else "receivable", "number": unique("OLD"), "amount": str(amount)}

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/opening-items", {**body, **named, "day": day})
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.open_item(made["id"], direction, party, amount, day)

    return Step("opening item", send, apply, lambda made: amounts(made, "amount"))


def reverse_opening_item(office: Office, person: Person, key: str) -> Step:
    day = office.day(office.model.items[key]["opened"])

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/opening-items/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    return Step("reversal of an opening item", send, lambda model, _: model.unopen(key, day))


def adjust(office: Office, person: Person) -> Step | None:
    """Lower an opening item without a payment; sometimes by more than is open."""
    chance, model = office.chance, office.model
    open_ones = [key for key, one in model.items.items() if "opened" in one and one["paid"] < one["amount"]]
    if not open_ones:
        return None
    key = chance.choice(open_ones[-12:])
    left = model.items[key]["amount"] - model.items[key]["paid"]
    part = (left * chance.randint(1, 30) / 100).quantize(Decimal("0.01")) or Decimal("0.01")
    amount = left + Decimal("0.01") if chance.random() < 0.05 else part
    day = office.day(model.items[key]["opened"])
    body = {"kind": chance.choice(_KINDS), "amount": str(amount), "day": day}

    async def send() -> Outcome:
        if key not in office.item_ids:
            what = "receivables" if model.items[key]["direction"] == "out" else "payables"
            (row,) = (await person.get(f"{FINANCE}/{what}?resource_id={key}&status=open,partly_paid,paid"))["items"]
            office.item_ids[key] = row["id"]
        reply = await person.post(f"{FINANCE}/open-items/{office.item_ids[key]}/adjustments", body)
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.adjust(made["id"], key, amount, day)

    return Step("adjustment", send, apply, lambda made: amounts(made, "amount"))


def reverse_adjustment(office: Office, person: Person, key: str) -> Step:
    day = office.day(office.model.adjustments[key]["day"])

    async def send() -> Outcome:
        reply = await person.post(f"{FINANCE}/adjustments/{key}/reverse", {"day": day})
        return Outcome(reply, [reply.data])

    def apply(model: Company, made: Record) -> Row:
        return model.unadjust(key, made["id"], day)

    return Step("reversal of an adjustment", send, apply, lambda made: amounts(made, "amount"))
