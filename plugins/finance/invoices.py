"""Invoices, sent and received, their payments and credit notes.

The same paper of a supplier, typed a little differently, is entered once, or it would be paid twice. A credit note, its
invoice and what is owed for it change in one transaction. What was paid may then be more than is owed: the difference
is a credit of the other party.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Event,
    Message,
    Record,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    exact,
    invalid,
    route,
    store_money,
    transitions,
)
from plugins.api.business import (
    Customers,
    Party,
    PaymentTerms,
    Suppliers,
    copy_party,
    copy_terms,
    limit_in_base,
    replace_currency,
    replace_terms,
)
from plugins.api.data import Migration, Stage, restore
from plugins.api.records import Numbering
from plugins.api.values import ReadOnlyRecord
from plugins.finance import bills, invoice_lines, open_items, prepayments
from plugins.finance.bills import Parts, add_credited, choose_currency, count_left, find_item_ids, spread, sum_parts
from plugins.finance.books import check_open, get_day
from plugins.finance.counterparties import choose_counterparty, find_party_name, refuse_other_party
from plugins.finance.entering import pay
from plugins.finance.invoice_amounts import AMOUNTS, begin
from plugins.finance.messages import (
    CREDITED_IN_PART,
    MORE_PREPAID,
    MORE_THAN_OPEN,
    MORE_UNITS_THAN_BILLED,
    MORE_UNITS_THAN_OPEN,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_IN_STATE,
    NOTE_REVERSED_ALREADY,
    NOTHING_TO_BILL,
    PAID_ELSEWHERE,
    PERIOD_CLOSED,
    PREPAYMENT_TAKEN_OFF,
    PREPAYMENTS_CHANGED,
)
from plugins.finance.open_items import (
    ItemBefore,
    PaymentVoucher,
    add_payment,
    get_amount,
    get_owed,
    in_books,
    settle_invoice,
)
from plugins.finance.receipts import keys_of, name_number, refuse_claimed
from plugins.finance.record_types import CreditNote, Invoice, OpenItem
from plugins.finance.records import (
    CREDIT_BODY,
    CREDIT_NOTES,
    FINAL,
    INVOICES,
    MAX_AMOUNT,
    PAY_INVOICE_BODY,
    PREPAYMENT,
    REVERSE_NOTE_BODY,
)


def _stages(service: Service) -> Iterator[Stage]:
    older = {"direction": "in", "number_key": None, "deleted": False}
    yield Stage(INVOICES, partial(_complete, service), older)


KEYS = Migration(
    "2026-11-same-papers",
    "Gives invoices of suppliers the keys by which the same paper is recognised. Of papers that were entered twice, the "
    "first has them: it cannot decide which of them is right, and leaves both.",
    _stages,
)


async def _complete(service: Service, rows: Sequence[Record]) -> int:
    changed, invoices = 0, service.database.store(INVOICES)
    for row in rows:
        keys = keys_of(row)
        if await invoices.find_one(keys) is None:
            unset = {"_id": row["_id"], "number_key": None, "version": row["version"]}
            changed += await invoices.update_unversioned(unset, {"$set": keys}) is not None
    return changed


_ZERO = store_money(Decimal(0))
_DECIDE_LINES = ("open_item_id", "direction", "prices_include_tax", "kind")
_BEGIN_LINES = ("shipment_ids", "open_item_ids")
_CHOOSE = ("billing_address_name", "delivery_address_name")
_PARTY = ("customer_id", "supplier_id")
_BILLS = ("open_item_id", "open_item_ids")
_DATES = ("day", *_PARTY, *vars(PaymentTerms()))  # what decides when an invoice is due
_DRAFT = {"status": "draft"}


async def create(req: Request) -> Invoice:
    """Create a draft. Its total is the amount plus the tax."""
    values = {"tax": _ZERO, **req.body, "day": get_day(req), "paid": _ZERO}
    _check_party(values)
    values, items = await begin(req, values, req.body)
    for name in (*_BEGIN_LINES, *_CHOOSE):
        values.pop(name, None)
    values["counterparty"] = await choose_counterparty(req, values)
    stated = {name: value for name, value in req.body.items() if value is not None}
    values |= copy_terms(await _find_terms(req, values, items), stated)
    if values.get("due_on") is None:
        values["due_on"] = PaymentTerms.of(values).find_due_day(values["day"])
    values |= await _copy_party(req, values)
    values["total"] = _add_tax(values)
    values |= _count_discount(values) | keys_of(values)

    async def work() -> Invoice:
        await refuse_claimed(req, values["number_key"])
        return await req.store(INVOICES).create(values)

    try:
        return await (req.transaction(work) if values["number_key"] is not None else work())
    except ApiError as error:
        raise name_number(error) from error


async def _copy_party(req: Request, values: ReadOnlyRecord) -> Record:
    """Return the tax number and addresses of the party of an invoice as they are now, or as the body has them."""
    party = Party()
    if values.get("customer_id") is not None:
        party = await req.part(Customers).find_party(req, values["customer_id"])
    elif values.get("supplier_id") is not None:
        party = await req.part(Suppliers).find_party(req, values["supplier_id"])
    return copy_party(party, req.body)


async def _find_terms(req: Request, values: ReadOnlyRecord, items: Sequence[OpenItem]) -> PaymentTerms:
    """Return the terms of the items that an invoice bills, or else of its customer or supplier."""
    agreed = bills.find_agreed(items)
    if agreed != PaymentTerms():
        return agreed
    if values.get("customer_id") is not None:
        return await req.part(Customers).find_payment_terms(values["customer_id"])
    if values.get("supplier_id") is not None:
        return await req.part(Suppliers).find_payment_terms(values["supplier_id"])
    return agreed


async def _change_terms(
    req: Request, before: Invoice, after: ReadOnlyRecord, values: Record, items: Sequence[OpenItem]
) -> Record:
    """Return what else the change `values` of a draft changes: its terms, its due day by them, and its discount."""
    changes: Record = {}
    if any(after.get(name) != before.get(name) for name in (*_PARTY, *_BILLS)):
        changes = copy_terms(await _find_terms(req, after, items), req.body)
    if _follows_terms(before, {**values, **changes}):
        changes["due_on"] = PaymentTerms.of({**after, **changes}).find_due_day(after["day"])
    return changes | _count_discount({**after, **changes})


def _follows_terms(before: Invoice, values: ReadOnlyRecord) -> bool:
    """Return whether a changed invoice is due by its terms: as before, unless the change says when."""
    if "due_on" in values or values.keys().isdisjoint(_DATES) or before["day"] is None:
        return False
    return before["due_on"] == PaymentTerms.of(before).find_due_day(before["day"])


def _count_discount(values: ReadOnlyRecord) -> Record:
    """Return `discount_until` and `discount_amount` of an invoice with this total."""
    return PaymentTerms.of(values).count_discount(values["day"], exact(values["total"]), values["due_on"])


def _check_party(values: Mapping[str, Any]) -> None:
    """Raise 40001 for a party or a rate that does not fit the direction or the kind, and for no number of one received."""
    if values["direction"] == "in" and values.get("number") is None:
        raise invalid("number", "required")
    if values.get("prepayment_rate") is not None and values.get("kind") != PREPAYMENT:
        raise invalid("prepayment_rate", "invalid")
    refuse_other_party(values["direction"], values)


async def update(req: Request) -> Invoice:
    """Change a draft."""
    values = replace_currency(replace_terms(req.body))
    version = values.pop("version")
    invoices = req.store(INVOICES)
    before = await invoices.get(req.path["id"])
    if "day" in values:
        values["day"] = get_day(req)
    after = {**before, **values}
    _check_party(after)
    begins = any(name in values for name in ("open_item_id", *_BEGIN_LINES))
    items = await open_items.find_billed(req, {**after, "lines": values.get("lines")} if begins else after)
    values |= bills.describe_billed(after, items)
    values |= await choose_currency(req, after, items, before)
    after |= {name: values[name] for name in ("currency", "rate")}
    values |= await _change_lines(req, before, after, items)
    for name in (*_BEGIN_LINES, *_CHOOSE):
        values.pop(name, None)
    if "counterparty" not in values and any(
        values.get(name) not in (None, before[name]) for name in ("customer_id", "supplier_id")
    ):
        values["counterparty"] = await find_party_name(req, after) or before["counterparty"]
    after |= values
    values["total"] = after["total"] = _add_tax(after)
    values |= keys_of(after) | await _change_terms(req, before, after, values, items)
    chosen = [name.removesuffix("_name") for name in _CHOOSE if name in req.body]
    moved = any(after.get(name) != before.get(name) for name in _PARTY)
    copied = await _copy_party(req, after) if moved or chosen else {}
    values |= copied if moved else {name: copied[name] for name in chosen}
    taken = values["number_key"] if values["number_key"] != keys_of(before)["number_key"] else None

    async def work() -> Invoice:
        await refuse_claimed(req, taken)
        return await invoices.update(req.path["id"], values, version=version, where=_DRAFT, reason=NOT_EDITABLE)

    try:
        return await (req.transaction(work) if taken is not None else work())
    except ApiError as error:
        raise name_number(error) from error


async def restore_deleted(req: Request) -> Invoice:
    """Restore a draft. Raises 40900 if an expense claim has its number meanwhile."""

    async def work() -> Invoice:
        invoice = await restore(req.service.database, req.store(INVOICES), req.path["id"])
        await refuse_claimed(req, keys_of(invoice)["number_key"])
        return invoice

    return await req.transaction(work)


async def _change_lines(req: Request, before: Invoice, after: Record, items: Sequence[OpenItem]) -> Record:
    """Return what a change of a draft changes in its lines and sums: they agree, whichever of them the body has."""
    given = req.body
    asks = after["kind"] == PREPAYMENT and any(given.get(name) for name in ("prepayment_rate", "amount"))
    begins = asks or (after["kind"] == FINAL and before["kind"] != FINAL)
    if begins or given.get("lines") is not None or any(given.get(name) for name in _BEGIN_LINES):
        return await invoice_lines.derive(req, after, items, given)
    if not before["lines"] or ("lines" in given and given.get("amount") is not None):
        return {"billed_items": None}
    if "lines" in given:
        raise invalid("amount", "required")
    if any(after[name] != before.get(name) for name in _DECIDE_LINES):
        raise invalid("lines", "required")
    for name, value in invoice_lines.sum_lines(before["lines"]).items():
        if exact(after[name]) != exact(value):
            raise invalid(name, "invalid")
    return {}


async def delete(req: Request) -> None:
    """Delete a draft."""
    await req.store(INVOICES).delete(req.path["id"], where=_DRAFT, reason=NOT_DELETABLE)


INVOICE_NUMBERS = Numbering(
    "finance_invoice_number", INVOICES.noun, "INV", INVOICES.name, format="{prefix}-{yyyy}-{seq:5}", gapless=True
)
PREPAYMENT_NUMBERS = replace(
    INVOICE_NUMBERS,
    key="finance_prepayment_number",
    noun=Message("预付款发票", "prepayment invoice"),
    prefix="PRE",
    sequence=f"{INVOICES.name}_prepayment",
)


async def _take_number(step: Step[Invoice]) -> Record:
    """Return the number of an invoice that has none yet: the next of the series by its date that nobody typed before."""
    if step.record["number"] is not None:
        return {}
    series = PREPAYMENT_NUMBERS if step.record["kind"] == PREPAYMENT else INVOICE_NUMBERS
    number = None
    while number is None or await step.store(INVOICES).find_one({"direction": "out", "number": number}):
        number = await series.take(step.req, step.record["day"])
    return {"number": number}


async def _refuse_credited(step: Step[Invoice]) -> None:
    """Refuse to declare an invoice void of which something is credited: the tax of its credit notes would count alone."""
    if exact(step.record["credited"]):
        raise ApiError(CONFLICT, CREDITED_IN_PART)


async def _update_item(step: Step[Invoice]) -> None:
    """Change what is owed for an invoice. Raises 40901 if its day is in a closed period."""
    await check_open(step.service, step.record)
    if not find_item_ids(step.record):
        await open_items.update_from_invoice(step.req, step.record, step.record["day"] or step.today)
    else:
        confirms = step.action == "confirm"
        items = await open_items.lock_billed(step.req, step.record)
        if confirms and (changes := await invoice_lines.renew(step.req, step.record, items)):
            changes |= _count_discount({**step.record, **changes})
            step.record = await step.store(INVOICES).update(step.record["id"], changes)
        day = step.record["day"] or step.today
        await open_items.update_billed(step.req, step.record, day, items, confirms=confirms)
        await prepayments.check_prepaid(step.req, step.record, confirms=confirms)
        step.record = await step.store(INVOICES).get(step.record["id"])


async def _book(step: Step[Invoice]) -> None:
    """Book the payment of the body. Raises 40901 if the invoice is not paid here, or for more than is open."""
    invoice = step.record
    if find_item_ids(invoice):
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    amount = get_amount(step, get_owed(invoice) - exact(invoice["paid"]))
    item = await open_items.find_item(step.req, open_items.INVOICE, invoice["id"])
    if item is None:
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    await pay(step, item, amount, {"category": invoice["category"], "invoice_id": invoice["id"]})


async def _update_paid_item(step: Step[Invoice]) -> None:
    day, item = step.kept[PaymentVoucher].voucher["day"] or step.today, step.kept[ItemBefore].item
    await open_items.update_from_invoice(step.req, step.record, day, item)


def _payment_action(step: Step[Invoice]) -> str:
    return "pay" if add_payment(step) == get_owed(step.record) else "pay-part"


async def reopen_payment(_: Service, payload: Mapping[str, Any]) -> None:
    """Take the amount of a reversed voucher off its invoice, unless the voucher belongs to a payment document."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["invoice_id"] and voucher["payment_id"] is None:
        invoices = req.system_store(INVOICES)
        invoice = await invoices.get(voucher["invoice_id"])
        paid = exact(invoice["paid"]) - exact(voucher["amount"])
        changed = await settle_invoice(invoices, invoice, {"paid": store_money(paid)})
        await open_items.update_from_invoice(req, changed, payload["reversal"]["day"])


def _add_tax(values: Mapping[str, Any]) -> Any:
    """Return the amount plus the tax. Raises 40001 if that is more than the maximum of an amount, in either currency."""
    total = exact(values["amount"]) + exact(values["tax"])
    if total > Decimal(MAX_AMOUNT):
        raise invalid("amount", "maximum")
    limit_in_base(total, values)
    return store_money(total)


CREDIT_NOTE_NUMBERS = Numbering("finance_credit_note_number", CREDIT_NOTES.noun, "CN", CREDIT_NOTES.name)
NUMBERS = (INVOICE_NUMBERS, PREPAYMENT_NUMBERS, CREDIT_NOTE_NUMBERS)
CREDITED = Event("finance.invoice.credited", invoice=dict, credit_note=dict)
NOTE_REVERSED = Event("finance.credit_note.reversed", invoice=dict, credit_note=dict, reversal=dict)
_CREDITABLE = ("confirmed", "partly_paid", "paid")


async def credit(req: Request) -> CreditNote:
    """Credit an invoice: the amount and tax of the body, or all that is left.

    Raises 40901 for more than is left, for an invoice whose state forbids it, and for a day in a closed month.
    """
    day = get_day(req)

    async def work() -> CreditNote:
        invoice = await req.lock(INVOICES, req.path["id"])
        if invoice["status"] not in _CREDITABLE:
            raise ApiError(CONFLICT, NOT_IN_STATE)
        await check_open(req.service, {"day": day})
        left = dict(zip(("amount", "tax"), count_left(invoice), strict=True))
        whole = req.body.get("amount") is None
        named = _get_lines(req, invoice)
        lines = invoice_lines.credit(invoice, named) if invoice["lines"] and whole else None
        amount, tax = _choose_amounts(req.body if lines is None else invoice_lines.sum_lines(lines[0]), left)
        _refuse_adjusted(invoice, amount + tax)
        parts = spread(invoice, amount, tax) if lines is None else sum_parts(invoice, lines[0])
        note, changed = await _enter(req, invoice, parts, day, lines)
        await prepayments.check_prepaid(req, changed)
        await req.emit(CREDITED, invoice=changed, credit_note=note)
        return note

    return await req.transaction(work)


async def reverse(req: Request) -> CreditNote:
    """Reverse a credit note by another one with amounts below zero, so that the invoice is owed again."""
    day = get_day(req)

    async def work() -> CreditNote:
        note = await req.lock(CREDIT_NOTES, req.path["id"])
        if note["reverses_id"] is not None or note["reversed_by_id"] is not None:
            raise ApiError(CONFLICT, NOTE_REVERSED_ALREADY)
        await check_open(req.service, {"day": day})
        if req.body.get("day") is not None and day < note["day"]:
            raise invalid("day", "minimum")
        await req.service.database.lock(INVOICES, note["invoice_id"])
        invoice = await req.system_store(INVOICES).get(note["invoice_id"])
        shares: Sequence[Mapping[str, Any]] = note["billed_items"] or [{**note, "open_item_id": None}]
        parts = {share["open_item_id"]: (-exact(share["amount"]), -exact(share["tax"])) for share in shares}
        lines = invoice_lines.take_back(invoice, note["lines"]) if note["lines"] else None
        reversal, changed = await _enter(req, invoice, parts, day, lines, reverses_id=note["id"])
        if lines is not None:
            await invoice_lines.check_reversed(req, await open_items.lock_billed(req, changed))
        await prepayments.check_prepaid(req, changed)
        linked = await req.system_store(CREDIT_NOTES).update(note["id"], {"reversed_by_id": reversal["id"]})
        await req.emit(NOTE_REVERSED, invoice=changed, credit_note=linked, reversal=reversal)
        return reversal

    return await req.transaction(work)


async def _enter(
    req: Request,
    invoice: Invoice,
    parts: Parts,
    day: str,
    lines: tuple[list[Record], list[Record]] | None,
    **links: Any,
) -> tuple[CreditNote, Invoice]:
    """Write a credit note, and change the invoice and what is owed for it. Returns the note and the invoice.

    `parts`: what is credited of each item that the invoice bills; `lines`: those of the note, and those of the invoice
    after it.
    """
    amount, tax = (sum((part[of] for part in parts.values()), Decimal(0)) for of in (0, 1))
    note = await req.store(CREDIT_NOTES).create(
        {
            "number": await CREDIT_NOTE_NUMBERS.take(req),
            "invoice_id": invoice["id"],
            "direction": invoice["direction"],
            **{name: invoice[name] for name in ("counterparty", "currency", "rate")},
            "day": day,
            "amount": store_money(amount),
            "tax": store_money(tax),
            "total": store_money(amount + tax),
            **{name: req.body.get(name) for name in ("for_return", "reason")},
            "lines": lines[0] if lines is not None else None,
            "billed_items": _describe_parts(parts) if invoice["billed_items"] else None,
            **links,
        }
    )
    credited = add_credited(invoice, parts)
    if lines is not None:
        credited["lines"] = lines[1]
    changed = await settle_invoice(req.system_store(INVOICES), invoice, credited)
    await open_items.update_from_invoice(req, changed, day)
    return note, changed


def _describe_parts(parts: Parts) -> list[Record]:
    return [
        {"open_item_id": id, "amount": store_money(net), "tax": store_money(tax)} for id, (net, tax) in parts.items()
    ]


def _refuse_adjusted(invoice: Invoice, credited: Decimal) -> None:
    """Raise 40901 for a credit note of what adjustments have taken off already."""
    if exact(invoice["adjusted"]) and credited > get_owed(invoice):
        data = {"open": f"{get_owed(invoice):.2f}", "field": "amount"}
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=data["open"]), data=data)


def _get_lines(req: Request, invoice: Invoice) -> Sequence[Mapping[str, Any]] | None:
    """Return the lines that are credited, or None for all.

    Raises 40001 for lines of an invoice without lines, for an amount beside them, and for a tax without an amount.
    """
    lines: Sequence[Mapping[str, Any]] | None = req.body.get("lines")
    if lines is not None and not invoice["lines"]:
        raise invalid("lines", "invalid")
    for name in ("amount", "tax"):
        if (lines is not None or invoice["kind"] == PREPAYMENT) and req.body.get(name) is not None:
            raise invalid(name, "invalid")
    if req.body.get("tax") is not None and req.body.get("amount") is None:
        raise invalid("amount", "required")
    return lines


def _choose_amounts(body: Record, left: Mapping[str, Decimal]) -> tuple[Decimal, Decimal]:
    """Return the amount and the tax of a credit note: those of the body, or all that is `left`.

    Raises 40901 for more than is left.
    """
    wanted = left if body.get("amount") is None else {name: exact(body.get(name)) for name in left}
    for name, value in wanted.items():
        if value > left[name] or not any(left.values()):
            data = {"open": f"{left[name]:.2f}", "field": name}
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=data["open"]), data=data)
    return wanted["amount"], wanted["tax"]


_LINES = conflicts(MORE_UNITS_THAN_OPEN, NOTHING_TO_BILL, MORE_PREPAID)
ROUTES: tuple[Route, ...] = (
    *crud(
        INVOICES,
        at="/api/v1/finance/invoices",
        resource="finance:invoice",
        always=("reference", "remark"),
        create=create,
        update=update,
        delete=delete,
        restore=restore_deleted,
        refusals_of={
            "create": _LINES,
            "update": (*conflicts(NOT_EDITABLE), *_LINES),
            "delete": conflicts(NOT_DELETABLE),
        },
    ),
    AMOUNTS,
    *transitions(
        INVOICES,
        Action(
            "POST /api/v1/finance/invoices/{id}/confirm",
            access="finance:invoice:confirm",
            values=_take_number,
            after=_update_item,
            refusals=conflicts(PERIOD_CLOSED, MORE_THAN_OPEN, MORE_UNITS_THAN_OPEN, PREPAYMENTS_CHANGED),
        ),
        Action(
            "POST /api/v1/finance/invoices/{id}/void",
            access="finance:invoice:void",
            summary="Void an invoice",
            before=_refuse_credited,
            after=_update_item,
            refusals=conflicts(PERIOD_CLOSED, PREPAYMENT_TAKEN_OFF, CREDITED_IN_PART),
        ),
        Action(
            "POST /api/v1/finance/invoices/{id}/pay",
            access="finance:invoice:pay",
            does=("pay", "pay-part"),
            summary="Enter a payment of an invoice",
            body=PAY_INVOICE_BODY,
            before=_book,
            choose=_payment_action,
            values=lambda step: {"paid": store_money(add_payment(step))},
            after=_update_paid_item,
            within=in_books,
            refusals=conflicts(PAID_ELSEWHERE, MORE_THAN_OPEN, PERIOD_CLOSED),
        ),
    ),
    *crud(CREDIT_NOTES, at="/api/v1/finance/credit-notes", resource="finance:credit-note", only=("list", "read")),
    route(
        "POST /api/v1/finance/invoices/{id}/credit-notes",
        credit,
        summary="Credit an invoice",
        access="finance:invoice:credit",
        body=CREDIT_BODY,
        returns=CREDIT_NOTES.read,
        collection=INVOICES.name,
        refusals=conflicts(MORE_THAN_OPEN, MORE_UNITS_THAN_BILLED, NOT_IN_STATE, PERIOD_CLOSED, PREPAYMENT_TAKEN_OFF),
    ),
    route(
        "POST /api/v1/finance/credit-notes/{id}/reverse",
        reverse,
        summary="Reverse a credit note that was entered by mistake",
        effect=(
            "将生成一张金额相反的红字发票，原发票恢复待结算。",
            "A credit note below zero is made, and the invoice is owed again.",
        ),
        access="finance:credit-note:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_NOTE_BODY,
        record=CREDIT_NOTES,
        refusals=conflicts(
            NOTE_REVERSED_ALREADY,
            NOT_IN_STATE,
            PERIOD_CLOSED,
            PREPAYMENT_TAKEN_OFF,
            MORE_THAN_OPEN,
            MORE_UNITS_THAN_OPEN,
        ),
    ),
)
