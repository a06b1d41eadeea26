"""Paying a payable: the payment is entered as a document of its own, allocated to the payable."""

from __future__ import annotations

from typing import cast

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Collection,
    Record,
    Request,
    Route,
    Step,
    conflicts,
    exact,
    store_money,
    transitions,
)
from plugins.api.values import RecordId
from plugins.finance.invoices.records import PAY_INVOICE_BODY
from plugins.finance.messages import MORE_THAN_OPEN, PAID_ELSEWHERE, PERIOD_CLOSED
from plugins.finance.open_items.billing import ItemWithBills, get_with_bills, pay_billed
from plugins.finance.open_items.entries import adopt, enter_change
from plugins.finance.open_items.paying import Booked, Paid, add_payment, get_amount, in_books
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.open_items.schedules import pay_earliest
from plugins.finance.payments.entering import pay


async def _find_payable(req: Request, _: Collection, id: RecordId) -> ItemWithBills:
    """Return the open item with its `bills`. Raises 40901 for a receivable."""
    item = await get_with_bills(req, id)
    if item["direction"] != "in":
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    return item


async def _book(step: Step[ItemWithBills]) -> None:
    """Book the payment of a payable, or of a part of it."""
    item = step.record
    if item["day"] is None:
        await adopt(step.service, item)
    amount = get_amount(step, exact(item["amount"]) - exact(item["paid"]))
    await pay(step, item, amount, {"category": "purchase", "open_item_id": item["id"]})


def _choose_action(step: Step[ItemWithBills]) -> str:
    return "pay" if add_payment(step) >= exact(step.record["amount"]) else "pay-part"


def _get_values(step: Step[ItemWithBills]) -> Record:
    values = {"paid": store_money(add_payment(step))}
    return values | pay_earliest({**step.record, **values})


async def _enter_payment(step: Step[ItemWithBills]) -> None:
    voucher, item = step.kept[Booked].voucher, step.record
    before = {**item, "paid": store_money(exact(item["paid"]) - exact(voucher["amount"]))}
    await enter_change(step.service, {**before, **pay_earliest(before)}, item, voucher["day"] or step.today)
    if cast(ItemWithBills, step.kept[Paid].item)["bills"]:
        await pay_billed(step.service, step.record)


ROUTES: tuple[Route, ...] = transitions(
    OPEN_ITEMS,
    Action(
        "POST /api/v1/finance/payables/{id}/pay",
        access="finance:invoice:pay",
        does=("pay", "pay-part"),
        summary="Pay a payable",
        body=PAY_INVOICE_BODY,
        before=_book,
        choose=_choose_action,
        values=_get_values,
        after=_enter_payment,
        within=in_books,
        unless={"paid_elsewhere": PAID_ELSEWHERE},
        refusals=conflicts(PAID_ELSEWHERE, MORE_THAN_OPEN, PERIOD_CLOSED),
    ),
    find=_find_payable,
)
