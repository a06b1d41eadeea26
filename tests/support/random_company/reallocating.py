"""Allocations that are taken back, and credits between items."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.support.random_company.arithmetic import ZERO
from tests.support.random_company.model import Company
from tests.support.random_company.money import find_item
from tests.support.random_company.office import FINANCE, Office, Person
from tests.support.random_company.steps import Outcome, Record, Step, amounts

Row = Mapping[str, Any]
CENT = Decimal("0.01")


def take_back(office: Office, person: Person) -> Step | None:
    """Take what a payment settles of an item off it, or a part of that."""
    chance, model = office.chance, office.model
    # not those that were entered at their contract, or whose id nobody was told
    known = [key for key in model.payments if key not in model.receipts and not key.startswith("at-source")]
    rows = [(key, part) for key in known[-40:] for part in model.payments[key]["parts"] if model.payments[key]["live"]]
    if not rows:
        return None
    key, (item, most, since) = chance.choice(rows)
    amount = most if chance.random() < 0.6 else max((most * chance.randint(1, 99) / 100), CENT).quantize(CENT)
    amount += CENT if chance.random() < 0.05 else ZERO
    return _take_back(office, person, key, item, amount, office.day(since))


def _take_back(office: Office, person: Person, key: str, item: str, amount: Decimal, day: str) -> Step:
    async def send() -> Outcome:
        body = {"open_item_id": await find_item(office, person, item), "amount": str(amount), "day": day}
        reply = await person.post(f"{FINANCE}/payments/{key}/take-back", {**body, "reason": "random"})
        return Outcome(reply, [reply.data])

    def apply(model: Company, _: Record) -> Row:
        return model.take_back(key, item, amount, day)

    return Step("allocation taken back", send, apply, lambda made: amounts(made, "unallocated"))


def credit_item(office: Office, person: Person) -> Step | None:
    """Settle an item with what was paid too much of another one, by one payment."""
    chance, model = office.chance, office.model
    pairs = [
        (key, other)
        for key, one in model.items.items()
        if one["paid"] > one["amount"] and one["party"] is not None and len(model.payers(key)) == 1
        if not one["is_contract"]
        for other, two in model.items.items()
        if two["paid"] < two["amount"] and (two["party"], two["direction"]) == (one["party"], one["direction"])
    ]
    if not pairs:
        return None
    key, other = chance.choice(pairs)
    excess = model.items[key]["paid"] - model.items[key]["amount"]
    amount = min(excess, model.items[other]["amount"] - model.items[other]["paid"])
    amount += CENT if chance.random() < 0.1 else ZERO
    day, what = office.day(), "receivables" if model.items[key]["direction"] == "out" else "payables"

    async def send() -> Outcome:
        rows = [{"open_item_id": await find_item(office, person, other), "amount": str(amount)}]
        at = f"{FINANCE}/{what}/{await find_item(office, person, key)}/credits"
        reply = await person.post(at, {"allocations": rows, "day": day})
        return Outcome(reply, [reply.data])

    def apply(model: Company, _: Record) -> Row:
        return model.credit_items(key, other, amount, day)

    return Step("credit between items", send, apply, lambda made: amounts(made, "paid"))
