"""The end of a random company: each document is reversed, in random order, and nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.support.random_company import money, opening, trading
from tests.support.random_company.comparing import list_items
from tests.support.random_company.model import Company
from tests.support.random_company.office import FINANCE, Office, Person, Record
from tests.support.random_company.rounds import Tally, perform
from tests.support.random_company.steps import Step

_FRUITLESS_PASSES = 10
Reverse = Callable[[Office, Person], Step]


async def reverse_all(office: Office, tally: Tally) -> int:
    """Reverse everything in random order; what is refused, because another document comes first, again in the next pass.

    Returns the number of passes. The opening stock goes last, so that transfers do not wait for each other.
    """
    payments = await _match_payments(office)
    passes = fruitless = 0
    while waiting := list(_remaining(office, payments)) or list(_opening(office)):
        office.late = fruitless >= _FRUITLESS_PASSES // 2
        before, passes, left = tally.made.total(), passes + 1, waiting
        office.chance.shuffle(waiting)
        while waiting:
            tried, waiting = waiting[: len(office.people)], waiting[len(office.people) :]
            steps = [reverse(office, person) for reverse, person in zip(tried, office.people, strict=False)]
            await perform(office, steps, tally)
        # the last few may all be refused by chance, for the days or the ways that were chosen
        fruitless = fruitless + 1 if tally.made.total() == before else 0
        assert fruitless < _FRUITLESS_PASSES, f"documents wait for each other: {left}"
    return passes


async def _match_payments(office: Office) -> dict[str, Record]:
    """The payments of the service by the keys of the model, which does not know the ids of all."""
    model, found = office.model, {}
    nameless = {key: one for key, one in model.payments.items() if key.startswith("at-source")}
    office.item_ids |= {row["resource_id"]: row["id"] for row in await list_items(office.manager)}
    for row in await office.manager.every(f"{FINANCE}/payments?status=booked"):
        key = row["id"] if row["id"] in model.payments else row["resource_id"]
        if key not in model.payments:
            key = next(key for key, one in nameless.items() if _is(office, one, row))
            del nameless[key]
        found[key] = row
    return found


def _is(office: Office, payment: Record, row: Record) -> bool:
    allocated = [(one["open_item_id"], one["amount"]) for one in row["allocations"]]
    same = (payment["account"], payment["day"]) == (row["account_id"], row["day"])
    return same and allocated == [(office.item_ids.get(key), f"{amount:.2f}") for key, amount, _ in payment["parts"]]


def _remaining(office: Office, payments: dict[str, Record]) -> Iterator[Reverse]:
    """What is still to be reversed."""
    model = office.model
    written_off = model.list_written_off()
    for key, one in model.returns.items():
        if one["live"] and model.shipments[one["of"]]["live"]:
            yield partial(trading.reverse_return, key=key)
    for key, one in model.shipments.items():
        if one["live"] and key not in written_off and not _is_returned(one):
            yield partial(trading.reverse_shipment, key=key)
    for key, one in model.moves.items():
        if one["live"] and key not in office.opening:
            yield partial(trading.reverse_move, key=key)
    for key, one in model.orders.items():
        if one["state"] == "open":
            yield partial(trading.end_order, key=key)
    yield from _of_money(office, model, payments)


def _is_returned(shipment: Record) -> bool:
    """Whether nothing is left to come back."""
    return all(line["back"][0] == line["quantity"] for line in shipment["lines"].values())


def _of_money(office: Office, model: Company, payments: dict[str, Record]) -> Iterator[Reverse]:
    for key, one in model.payments.items():
        if one["live"] and key in model.receipts and office.chance.random() < 0.5:
            yield partial(money.reverse_receipt, key=key)
        elif one["live"]:
            by_voucher = payments[key]["voucher_id"] if office.chance.random() < 0.3 else None
            yield partial(money.reverse_payment, key=key, id=payments[key]["id"], by_voucher=by_voucher)
    for key, one in model.receipts.items():
        if one["live"] and one["payment"] is None:
            yield partial(money.reverse_receipt, key=key)
    for key, one in model.vouchers.items():
        if one["live"]:
            yield partial(money.reverse_voucher, key=key)
    for key, one in model.invoices.items():
        if (one["net"] or one["tax"]) and one["bills"] is None and office.chance.random() < 0.4:
            yield partial(money.void, key=key)
        elif one["net"] or one["tax"]:
            yield partial(money.credit, key=key, whole=True)
    for key, one in model.adjustments.items():
        if one["live"]:
            yield partial(opening.reverse_adjustment, key=key)
    for key, one in model.items.items():
        if "opened" in one and one["amount"]:
            yield partial(opening.reverse_opening_item, key=key)
        elif one["is_contract"] and not one["ended"]:
            yield partial(money.end_contract, key=key)
        elif one["party"] is None and one["amount"]:  # a claim
            yield partial(money.reverse_claim, key=key)


def _opening(office: Office) -> Iterator[Reverse]:
    for key in office.opening:
        if office.model.moves[key]["live"]:
            yield partial(trading.reverse_move, key=key)
