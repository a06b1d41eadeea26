"""Entering, allocating and reversing payments: a payment, its voucher and the open items change in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Service, Step, Store, exact, invalid, store_money
from plugins.api.business import complete_currency, in_base, limit_in_base
from plugins.api.data import new_id
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.records import change_state
from plugins.finance.books import REVERSED_EVENT, book, get_day, in_period, reverse_booked
from plugins.finance.entries import enter_advance
from plugins.finance.exchange_differences import realise
from plugins.finance.messages import PAID_BACK
from plugins.finance.open_items import ItemBefore, PaidAmount, PaymentVoucher, find_item
from plugins.finance.payment_records import OPEN_ITEMS, PAYMENT_NUMBERS, PAYMENTS
from plugins.finance.record_types import FinancePayment, OpenItem, Voucher
from plugins.finance.records import ACCOUNTS, VOUCHERS
from plugins.finance.settlements import find_first_reversal_day, find_least_paid, repay, settle

Part = tuple[Mapping[str, Any], Decimal]
_ZERO = store_money(Decimal(0))
_PARTY = ("customer_id", "supplier_id", "counterparty")


async def enter(
    req: Request,
    store: Store[FinancePayment],
    values: Mapping[str, Any],
    parts: Sequence[Part],
    links: Mapping[str, Any],
    copied: Sequence[str] = _PARTY,
) -> tuple[FinancePayment, Voucher]:
    """Write a payment with its allocations to open items, and its voucher. Returns both.

    `store` is the store of payments: it checks the references in `values`, except those that are `copied` from another
    record. `links` are further values of the voucher. The items themselves stay as they are: `settle` changes them.
    """
    id, amount, day = new_id(), exact(values["amount"]), values["day"]
    allocated = sum((part for _, part in parts), Decimal(0))
    described = {name: values.get(name) for name in ("account_id", "day", "category", "counterparty", "remark")}
    described |= await _describe_booked(req, values)
    kind = "income" if values["direction"] == "in" else "expense"
    voucher = await book(req, {"kind": kind, **described, **links, "payment_id": id})
    unallocated = Decimal(0) if values.get("repays_id") else amount - allocated
    payment = await store.create(
        {
            **values,
            "number": await _take_number(req, voucher),
            "allocations": list_allocations(parts, day),
            "allocated": store_money(allocated),
            "unallocated": store_money(unallocated),
            "repaid": _ZERO,
            "voucher_id": voucher["id"],
        },
        id=id,
        copied=("account_id", *copied),  # the voucher has looked up the account
    )
    await enter_advance(req.service, payment, unallocated, day, new=True)
    return payment, voucher


async def _describe_booked(req: Request, values: Mapping[str, Any]) -> Record:
    """Return the amounts of the voucher of a payment: on an account in the company's own currency, what it is worth.

    Raises 40001 for a payment that is worth more than the maximum of an amount.
    """
    amount = exact(values["amount"])
    if values.get("currency") is None:
        return {"amount": values["amount"]}
    limit_in_base(amount, values)
    worth = store_money(in_base(amount, values))
    account = await req.system_store(ACCOUNTS).find_one({"_id": values["account_id"]})
    if account is not None and account["currency"] is None:
        return {"amount": worth}
    return {"amount": values["amount"], "currency": values["currency"], "rate": values["rate"], "base_amount": worth}


def with_left(payment: FinancePayment, more: Decimal) -> FinancePayment:
    """Return a payment of which this much more is left: as it was before a part of it was allocated."""
    return {**payment, "unallocated": store_money(exact(payment["unallocated"]) + more)}


def with_paid(item: OpenItem, more: Decimal) -> OpenItem:
    """Return an item of which this much more is paid."""
    return {**item, "paid": store_money(exact(item["paid"]) + more)}


async def _take_number(req: Request, voucher: Voucher) -> str:
    if await PAYMENT_NUMBERS.has_own_format(req):
        return await PAYMENT_NUMBERS.take(req)
    return f"{PAYMENT_NUMBERS.prefix}-{voucher['number']}"


def list_allocations(parts: Sequence[Part], day: str) -> list[Record]:
    """Return allocations as a payment stores them."""
    return [{"open_item_id": item["id"], "amount": store_money(amount), "day": day} for item, amount in parts]


async def pay(step: Step[Any], item: OpenItem, amount: Decimal, links: Mapping[str, Any]) -> None:
    """Enter a payment of `amount` for an item that the step itself changes; the step keeps what it read and wrote."""
    day = get_day(step.req)
    values = {
        "direction": "in" if item["direction"] == "out" else "out",
        "account_id": step.body["account_id"],
        **{name: item.get(name) for name in _PARTY},
        "amount": store_money(amount),
        "day": day,
        "category": links["category"],
        "remark": links.get("remark", item["number"]),
    }
    stated = {"currency": item["currency"], "rate": step.body.get("rate")}
    values |= await complete_currency(step.req, stated, day, "rate")
    store = step.req.system_store(PAYMENTS)
    payment, voucher = await enter(step.req, store, values, [(item, amount)], links)
    await realise(step.req, with_left(payment, amount), item, amount, day)
    step.keep(ItemBefore(item))
    step.keep(PaymentVoucher(voucher))
    step.keep(PaidAmount(amount))


async def take_back(req: Request, payment: FinancePayment, voucher: Voucher, day: str, *, settled: bool = True) -> None:
    """Take a payment off its items, or off the advance that it pays back, on the day on which it is reversed.

    Raises 40901 if the payment itself was paid back, and 40001 for a day that is too early. `settled` is false if the
    plugin of the item has taken the payment off already.
    """
    if exact(payment["repaid"]):
        raise ApiError(CONFLICT, PAID_BACK)
    await _check_reversal_day(req, payment, day)
    if payment["repays_id"] is not None:
        await repay(req, payment, -exact(payment["amount"]), day)
    await enter_advance(req.service, {**payment, "unallocated": _ZERO}, -exact(payment["unallocated"]), day)
    for row in payment["allocations"] or ():
        item_id, amount = row["open_item_id"], exact(row["amount"])
        if settled:
            await settle(req, payment, voucher, item_id, amount, day, undo=True)
        elif await find_least_paid(req, item_id, day) < 0:
            raise invalid("day", "minimum")  # some of it was paid back since, so less than nothing would be paid
        else:
            item = await req.system_store(OPEN_ITEMS).get(item_id)
            await realise(req, payment, with_paid(item, amount), amount, day, undo=True)
        payment = with_left(payment, amount)


async def _check_reversal_day(req: Request, payment: Mapping[str, Any], day: str) -> None:
    """Raise 40001 if the `day` of the body is before the first day on which the payment may be reversed."""
    if (req.body or {}).get("day") is not None and day < await find_first_reversal_day(req, payment):
        raise invalid("day", "minimum")


def describe_reversal(req: Request, reversal: Voucher) -> Record:
    """Return the values that change in a payment when this voucher reverses it."""
    return {
        "allocated": _ZERO,
        "unallocated": _ZERO,
        "reversal_voucher_id": reversal["id"],
        "reversed_on": reversal["day"],
        "reversed_at": req.now,
        "reason": reversal["remark"],
    }


async def reverse_with_voucher(_: Service, payload: Mapping[str, Any]) -> None:
    """Reverse the payment of a voucher that was reversed, if the payment is not reversed yet."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["payment_id"] is None:
        return
    payments = req.system_store(PAYMENTS)
    payment = await payments.get(voucher["payment_id"])
    if payment["status"] == "booked":
        await take_back(req, payment, voucher, payload["reversal"]["day"])
        await change_state(payments, payment["id"], "reverse", describe_reversal(req, payload["reversal"]))


async def enter_from_event(_: Service, payload: Mapping[str, Any]) -> None:
    """Enter a payment that another plugin has counted: its open item includes it already."""
    req = payload["request"]
    item = await find_item(req, payload["biz_type"], payload["resource_id"])
    copied = ("direction", "account_id", "amount", "currency", "rate", "day", "method", "reference", "remark", *_PARTY)
    values = {
        **{name: payload.get(name) for name in copied},
        "biz_type": payload["source_type"],
        "resource_id": payload["source_id"],
    }
    amount, day = exact(payload["amount"]), payload["day"]
    parts = [(item, amount)] if item is not None else []
    links = {"category": "sales" if payload["direction"] == "in" else "purchase"}
    payments = req.system_store(PAYMENTS)

    async def work() -> None:
        payment, _ = await enter(req, payments, {**values, **links}, parts, links)
        if item is not None:
            await realise(req, with_left(payment, amount), with_paid(item, -amount), amount, day)

    await in_period(req, day, work)


async def return_from_event(_: Service, payload: Mapping[str, Any]) -> None:
    """Reverse the payment of a record that another plugin has taken back."""
    req = payload["request"]
    payments = req.system_store(PAYMENTS)
    source = {"biz_type": payload["source_type"], "resource_id": payload["source_id"], "status": "booked"}
    payment = await payments.find_one(source)
    if payment is None:
        return
    voucher, day = await req.system_store(VOUCHERS).get(payment["voucher_id"]), payload["day"]
    reversal = await in_period(req, day, lambda: reverse_booked(req, voucher, day, payload.get("reason")))
    await take_back(req, payment, voucher, payload["day"], settled=False)
    await change_state(payments, payment["id"], "reverse", describe_reversal(req, reversal))
    await req.emit(REVERSED_EVENT, voucher=voucher, reversal=reversal)


async def find_parts(req: Request, allocations: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return the items of allocations with their amounts. Raises 40001 for an item that is unknown or named twice."""
    ids = [row["open_item_id"] for row in allocations]
    rows = await req.store(OPEN_ITEMS).find({"_id": {"$in": ids}}) if ids else []
    items = {item["id"]: item for item in rows}
    refuse(
        (number, "reference" if id not in items else "duplicate")
        for number, id in enumerate(ids)
        if id not in items or id in ids[:number]
    )
    return [(items[row["open_item_id"]], exact(row["amount"])) for row in allocations]


def refuse(faults: Iterable[tuple[int, str]]) -> None:
    """Raise 40001 if there are faults; each is the number of an allocation and the rule that its item breaks."""
    errors = [FieldError(f"allocations[{number}].open_item_id", rule) for number, rule in faults]
    if errors:
        raise ValidationFailed(errors)


def is_of(payment: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Return whether a payment has the customer and supplier of an item or an advance.

    If that has neither, the counterparties are compared; one without a counterparty fits every payment.
    """
    if item["customer_id"] is None and item["supplier_id"] is None:
        return item["counterparty"] is None or bool(payment["counterparty"] == item["counterparty"])
    return all(payment.get(name) == item[name] for name in ("customer_id", "supplier_id"))


async def settle_all(req: Request, payment: FinancePayment, voucher: Voucher, parts: Sequence[Part], day: str) -> None:
    """Settle each item with its part of a payment, all of which is left of it. A 40901 names the allocation in `data.field`."""
    for number, (item, amount) in enumerate(parts):
        try:
            await settle(req, payment, voucher, item["id"], amount, day)
            payment = with_left(payment, -amount)
        except ApiError as error:
            # what is open may have changed since it was read, so the refusal comes from the item itself
            if error.kind is CONFLICT:
                known = error.data if isinstance(error.data, dict) else {}
                error.data = {**known, "field": f"allocations[{number}].amount"}
            raise


def add_up(parts: Sequence[Part]) -> Decimal:
    """Return the sum of the amounts."""
    return sum((amount for _, amount in parts), Decimal(0))
