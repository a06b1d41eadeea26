"""What the audit of finance compares: balances with vouchers, numbers with months, payments with what they paid.

Vouchers that an older version booked have no payment, and name the document themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import ApiError, Collection, Message, exact, store_money
from plugins.api.business import Debt, Due, in_base
from plugins.api.records import Catalogue
from plugins.api.reports import Audit, Difference, Piece, compare, difference
from plugins.api.values import ReadOnlyRecord
from plugins.finance.bills import BILLS_NOTHING, billing, count_returned, find_item_ids, get_share, list_lines
from plugins.finance.books import compute_balance_changes
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.entries import ENTRIES, PARTY_FIELDS
from plugins.finance.exchange_differences import is_realised, sum_realised
from plugins.finance.open_items import (
    BILLING,
    CLAIM,
    INVOICE,
    LIVE,
    OPENING,
    get_status,
    get_whole,
    sum_bills,
    sum_owed,
)
from plugins.finance.payment_records import ADJUSTMENTS, OPEN_ITEMS, PAYMENTS
from plugins.finance.prepayments import Prepaid
from plugins.finance.record_types import Invoice, Voucher
from plugins.finance.records import (
    ACCOUNTS,
    CREDIT_NOTES,
    FINAL,
    INVOICES,
    PERIODS,
    PREPAYMENT,
    VOUCHERS,
)
from plugins.finance.settlements import settles
from plugins.finance.states import PLANNED


async def find_existing_documents(piece: Piece) -> set[tuple[str, str]]:
    """Return the business types and ids of the documents of these records that exist.

    Documents of a business type that no loaded plugin has cannot be looked up, and count as existing.
    """
    by_type: dict[str, list[str]] = defaultdict(list)
    for record in piece.records:
        by_type[record["biz_type"]].append(record["resource_id"])
    existing: set[tuple[str, str]] = set()
    for biz_type, ids in by_type.items():
        collection = piece.biz_types.get(biz_type)
        if collection is not None:
            wanted = {"_id": {"$in": [*_parse_ids(collection, ids)]}}
            ids = [str(row["id"]) for row in await piece.store(collection).find(wanted, fields=["version"])]
        existing.update((biz_type, id) for id in ids)
    return existing


def _parse_ids(collection: Collection, ids: Iterable[str]) -> Iterator[Any]:
    """Yield the ids as the collection stores them, without those that cannot be ids of its records."""
    for id in ids:
        with suppress(ApiError):
            yield collection.parse_id(id)


_ALONE = {"payment_id": None}


async def sum_paid_of_items(piece: Piece) -> Mapping[Any, Decimal]:
    """Return what was paid of each open item of the piece."""
    alone = await piece.sums(VOUCHERS, "open_item_id", "amount", _ALONE)
    allocated = await _sum_allocations(piece, piece.records)
    return {id: alone[id] + allocated[id] for id in piece.ids}


async def sum_paid_of_invoices(piece: Piece) -> Mapping[Any, Decimal]:
    """Return what was paid of each invoice of the piece itself, not of an item that it bills."""
    alone = await piece.sums(VOUCHERS, "invoice_id", "amount", _ALONE)
    theirs = {"biz_type": INVOICE, "resource_id": {"$in": [str(id) for id in piece.ids]}}
    items = await piece.store(OPEN_ITEMS).find(theirs)
    allocated = await _sum_allocations(piece, items)
    of_invoices = {item["resource_id"]: allocated[item["id"]] for item in items}
    return {id: alone[id] + of_invoices.get(str(id), Decimal(0)) for id in piece.ids}


async def _sum_allocations(piece: Piece, items: Iterable[Mapping[str, Any]]) -> Mapping[Any, Decimal]:
    """Return what booked payments allocate to each item; allocations of the other direction are subtracted."""
    known = {item["id"]: item for item in items}
    those = {"allocations.open_item_id": {"$in": list(known)}}
    key = {"item": "$allocations.open_item_id", "direction": "$direction"}
    rows = await piece.store(PAYMENTS).aggregate(
        [
            {"$match": {**those, "status": "booked"}},
            {"$unwind": "$allocations"},
            {"$match": those},
            {"$group": {"_id": key, "amount": {"$sum": "$allocations.amount"}}},
        ]
    )
    sums: dict[Any, Decimal] = defaultdict(Decimal)
    for row in rows:
        item = known[row["_id"]["item"]]
        sums[item["id"]] += exact(row["amount"]) * (1 if settles(row["_id"], item) else -1)
    return sums


_VOUCHER = Message(
    "{noun} {number}：凭证与其账户或金额不符",
    "{noun} {number} ({id}): its voucher does not book its amount on its account",
)
_NO_SOURCE = Message("{noun} {number}：来源单据不存在", "{noun} {number} ({id}): its source record does not exist")
_DIFFERENCES = Message(
    "{noun} {number}：汇兑损益与其核销的款项或汇率不符",
    "{noun} {number} ({id}): its exchange differences do not follow from what it settles, and the rates",
)
_NO_PAYMENT = Message(
    "{noun} {number}：已填账户，但没有收付款单",
    "{noun} {number} ({id}): it names an account, but there is no payment",
)
_PAYMENT = Message(
    "{noun} {number}：金额为 {found}，收付款单 {payment} 为 {expected}",
    "{noun} {number} ({id}): the amount is {found}, but that of its payment {payment} is {expected}",
)


async def check_payments(piece: Piece) -> AsyncIterator[Difference]:
    """Check that a payment is booked by its voucher, and that all of it is allocated, paid back or an advance."""
    ids = {"_id": {"$in": [payment["voucher_id"] for payment in piece.records]}}
    vouchers = {one["id"]: one for one in await piece.store(VOUCHERS).find(ids)}
    realised = await sum_realised(piece)
    existing = await find_existing_documents(piece)
    for payment in piece.records:
        about = (payment["biz_type"], payment["resource_id"])
        if payment["status"] == "booked" and payment["biz_type"] is not None and about not in existing:
            yield difference(PAYMENTS, payment, "resource_id", _NO_SOURCE)
        if not _is_booked_by(payment, vouchers.get(payment["voucher_id"])):
            yield difference(PAYMENTS, payment, "voucher_id", _VOUCHER)
        left = exact(payment["amount"]) - exact(payment["allocated"]) - exact(payment["repaid"])
        settled = payment["status"] == "reversed" or payment["repays_id"] is not None
        for found in compare(PAYMENTS, payment, {"unallocated": Decimal(0) if settled else left}):
            yield found
        if payment["currency"] is not None and not is_realised(payment, realised.get(payment["id"], ())):
            yield difference(PAYMENTS, payment, "exchange_differences", _DIFFERENCES)


def _is_booked_by(payment: ReadOnlyRecord, voucher: Voucher | None) -> bool:
    return (
        voucher is not None
        and voucher["payment_id"] == payment["id"]
        and voucher["account_id"] == payment["account_id"]
        and voucher["kind"] == {"in": "income", "out": "expense"}[payment["direction"]]
        and exact(voucher["amount"]) == _get_booked(payment, voucher)
        and voucher["reversed_by_id"] == payment["reversal_voucher_id"]
    )


def _get_booked(payment: ReadOnlyRecord, voucher: Voucher) -> Decimal:
    """Return what a payment books: its amount, or what that is worth on an account in the company's currency."""
    amount = exact(payment["amount"])
    return amount if voucher["currency"] == payment["currency"] else in_base(amount, payment)


async def check_source(biz_type: str, collection: Collection, piece: Piece) -> AsyncIterator[Difference]:
    """Check that a record that names an account has a payment of the same amount, or comes from a payment in finance.

    The payment is reversed if the record is. Records that reverse others need no payment.
    """
    named = [one for one in piece.records if one.get("account_id") is not None and one.get("reverses_id") is None]
    theirs = {"biz_type": biz_type, "resource_id": {"$in": [str(one["id"]) for one in named]}}
    entered = {one["resource_id"]: one for one in await piece.store(PAYMENTS).find(theirs)}
    ids = {"_id": {"$in": [one["finance_payment_id"] for one in named if one.get("finance_payment_id") is not None]}}
    allocated = {one["id"] for one in await piece.store(PAYMENTS).find(ids, fields=["number"])}
    for one in named:
        payment = entered.get(str(one["id"]))
        if payment is not None:
            for found in _compare_source(collection, one, payment):
                yield found
        elif one.get("finance_payment_id") not in allocated:
            yield difference(collection, one, "account_id", _NO_PAYMENT)


def _compare_source(collection: Collection, source: ReadOnlyRecord, payment: ReadOnlyRecord) -> Iterator[Difference]:
    amounts = [exact(one["amount"]) if one.get("reversed_at") is None else Decimal(0) for one in (source, payment)]
    if amounts[0] != amounts[1]:
        values = {"found": f"{amounts[0]:f}", "expected": f"{amounts[1]:f}", "payment": payment["number"]}
        yield difference(collection, source, "payment", _PAYMENT, **values)


MONEY_AUDITS = (
    Audit("finance-payments", Message("收付款单与凭证", "Payments against vouchers"), PAYMENTS, check_payments),
)


def audits_of_sources(catalogue: Catalogue) -> Iterator[Audit]:
    """Yield an audit for each business type whose records name an account if finance is loaded."""
    for biz_type, collection in catalogue.biz_types.items():
        account = collection.fields.get("account_id")
        if account is not None and account.ref == ACCOUNTS.name and account.ref_optional:
            title = Message(
                f"{collection.noun.zh}与收付款单", f"{collection.noun.en.capitalize()}s against finance payments"
            )
            name = f"payments-{biz_type.lower().replace('_', '-')}"
            yield Audit(name, title, collection, partial(check_source, biz_type, collection))


_ZERO = Decimal(0)
_PARTY_IDS = ("customer_id", "supplier_id")
_NO_ACCOUNT = Message("凭证 {number}：账户不存在", "voucher {number} ({id}): its account does not exist")
_NO_PERIOD = Message(
    "凭证 {number}：凭证号不属于其会计期间", "voucher {number} ({id}): its period has not given out this number"
)
_REVERSAL = Message(
    "凭证 {number}：与其冲销的凭证不一致",
    "voucher {number} ({id}): it is not the opposite of the voucher that it reverses",
)
_NUMBERS = Message(
    "会计期间 {number}：共 {found} 张凭证，最大序号 {highest}，最后分配的序号 {expected}",
    "period {number}: {found} vouchers, the highest number is {highest}, the last number given out {expected}",
)
_CLAIM = Message(
    "报销单 {number}：付款状态与付款凭证不符",
    "expense claim {number} ({id}): its status does not agree with its payment voucher",
)
_STATUS = Message(
    "{noun} {number}：状态为 {found}，按金额应为 {expected}",
    "{noun} {number} ({id}): the status is {found}, but should be {expected} by its amounts",
)
_ENTRIES = Message(
    "{noun} {number}：未结金额为 {found}，往来明细合计为 {expected}",
    "{noun} {number} ({id}): {found} is open, but its entries add up to {expected}",
)
_OTHER_PARTY = Message(
    "{noun} {number}：开票发票 {invoice} 的往来单位为 {found}，应为 {expected}",
    "{noun} {number} ({id}): the invoice {invoice} that bills it names {found}, not {expected}",
)
_MORE_INVOICED = Message(
    "{noun} {number}：发票合计 {found}，最多可开 {expected}",
    "{noun} {number} ({id}): invoices claim {found} of it, and it comes to {expected}",
)
_OWED_TWICE = Message(
    "{noun} {number}：未开票，而发票 {invoice} 的往来单位和金额相同却未关联它，可能重复计入应收应付",
    "{noun} {number} ({id}): no invoice bills it, but the invoice {invoice} of the same party and amount bills nothing: "
    "both may be owed for the same goods",
)
_TAKEN_OFF_TWICE = Message(
    "{noun} {number}：结算发票抵扣的预付款超过其金额",
    "{noun} {number} ({id}): final invoices take off more than it asks for",
)
_SHARE = Message(
    "{noun} {number}：某一款项的开票金额为 {found}，其明细合计为 {expected}",
    "{noun} {number} ({id}): it claims {found} of an open item, and its lines of that come to {expected}",
)
_NO_DOCUMENT = Message("{noun} {number}：来源单据不存在", "{noun} {number} ({id}): its source record does not exist")
_NO_ITEM = Message(
    "{noun} {number}：应有金额为 {expected} 的应收应付款项，但未找到",
    "{noun} {number} ({id}): {expected} is owed, but there is no open item",
)
_OWED = Message(
    "{noun} {number}：应收应付款项的{label}为 {found}，按单据应为 {expected}",
    "{noun} {number} ({id}): the {field} of its open item {item} is {found}, but by the document it should be "
    "{expected}",
)


async def check_accounts(piece: Piece) -> AsyncIterator[Difference]:
    """Check that the balance of an account is the sum of its vouchers."""
    sides = {"account_id": "$account_id", "to_account_id": "$to_account_id", "kind": "$kind"}
    sums = {name: {"$sum": f"${name}"} for name in ("amount", "to_amount")}
    ids = {"$in": piece.ids}
    rows = await piece.store(VOUCHERS).aggregate(
        [
            {"$match": {"$or": [{"account_id": ids}, {"to_account_id": ids}]}},
            # what arrives in another currency is not what was sent
            {"$group": {"_id": {**sides, "converted": {"$gt": ["$to_amount", None]}}, **sums}},
        ]
    )
    booked: dict[Any, Decimal] = defaultdict(Decimal)
    for row in rows:
        amounts = {"amount": row["amount"], "to_amount": row["to_amount"] if row["_id"]["converted"] else None}
        for account_id, change in compute_balance_changes({**row["_id"], **amounts}).items():
            booked[account_id] += change
    for account in piece.records:
        for found in compare(ACCOUNTS, account, {"balance": booked[account["id"]]}):
            yield found


async def check_vouchers(piece: Piece) -> AsyncIterator[Difference]:
    """Check that a voucher has accounts and a number of its month, and is the opposite of what it reverses."""
    named = {voucher[name] for voucher in piece.records for name in ("account_id", "to_account_id")} - {None}
    reversed_ids = [voucher["reverses_id"] for voucher in piece.records if voucher["reverses_id"] is not None]
    months = {voucher["number"][:7] for voucher in piece.records}
    accounts = {one["id"] for one in await piece.store(ACCOUNTS).find({"_id": {"$in": list(named)}}, fields=["code"])}
    periods = {one["id"]: one["last_number"] for one in await piece.store(PERIODS).find({"_id": {"$in": list(months)}})}
    reversed_ones = {one["id"]: one for one in await piece.store(VOUCHERS).find({"_id": {"$in": reversed_ids}})}
    for voucher in piece.records:
        if not {voucher["account_id"], voucher["to_account_id"] or voucher["account_id"]} <= accounts:
            yield difference(VOUCHERS, voucher, "account_id", _NO_ACCOUNT)
        month, _, sequence = voucher["number"].rpartition("-")
        if month != voucher["day"][:7] or not 0 < int(sequence) <= periods.get(month, 0):
            yield difference(VOUCHERS, voucher, "number", _NO_PERIOD)
        if voucher["rate"] is not None:
            for found in compare(VOUCHERS, voucher, {"base_amount": in_base(exact(voucher["amount"]), voucher)}):
                yield found
        if voucher["reverses_id"] is not None and not _is_opposite(voucher, reversed_ones.get(voucher["reverses_id"])):
            yield difference(VOUCHERS, voucher, "reverses_id", _REVERSAL)


def _is_opposite(reversal: ReadOnlyRecord, voucher: Voucher | None) -> bool:
    same = ("kind", "account_id", "to_account_id")
    return (
        voucher is not None
        and voucher["reversed_by_id"] == reversal["id"]
        and all(exact(voucher[name]) == -exact(reversal[name]) for name in ("amount", "to_amount", "base_amount"))
        and all(voucher.get(name) == reversal[name] for name in same)
    )


async def check_periods(piece: Piece) -> AsyncIterator[Difference]:
    """Check that the vouchers of a month are numbered from 1 to its last number, by counting: numbers are unique."""
    for period in piece.records:
        month = {"number": {"$gt": f"{period['id']}-", "$lt": f"{period['id']}."}}
        sums = {"$group": {"_id": None, "count": {"$sum": 1}, "last": {"$max": "$number"}}}
        rows = await piece.store(VOUCHERS).aggregate([{"$match": month}, sums])
        count, highest = (rows[0]["count"], int(rows[0]["last"].rpartition("-")[2])) if rows else (0, 0)
        if not count == highest == period["last_number"]:
            values = {"found": count, "highest": highest, "expected": period["last_number"], "number": period["id"]}
            yield difference(PERIODS, period, "last_number", _NUMBERS, **values)


async def check_invoices(piece: Piece) -> AsyncIterator[Difference]:
    """Check that allocations and credit notes add up to the sums of an invoice, and that its total includes tax."""
    paid, credited = await sum_paid_of_invoices(piece), await piece.sums(CREDIT_NOTES, "invoice_id", "total")
    for invoice in piece.records:
        id, total = invoice["id"], exact(invoice["amount"]) + exact(invoice["tax"])
        # an invoice that bills an open item is paid by what is paid of that item
        own = {} if find_item_ids(invoice) else {"paid": paid[id]}
        for found in (
            *compare(INVOICES, invoice, {**own, "credited": credited[id], "total": total}),
            *_compare_shares(invoice),
        ):
            yield found
    for found in await _compare_prepaid(piece):
        yield found


async def _compare_prepaid(piece: Piece) -> list[Difference]:
    """Return the prepayment invoices of which final invoices take off more than they ask for."""
    asked = [one for one in piece.records if one["kind"] == PREPAYMENT and one["status"] in LIVE["status"]["$in"]]
    ids = [id for one in asked for id in find_item_ids(one)]
    finals = await piece.store(INVOICES).find({**billing(ids), "kind": FINAL, **LIVE}) if ids else []
    prepaid = Prepaid()
    for invoice in (*asked, *finals):
        prepaid.add_lines(invoice, invoice["lines"] or ())
    short = {id for (id, _), left in prepaid.left.items() if min(left) < 0}
    return [difference(INVOICES, one, "lines", _TAKEN_OFF_TWICE) for one in asked if one["id"] in short]


def _compare_shares(invoice: ReadOnlyRecord) -> Iterator[Difference]:
    """Yield where the shares of an invoice that bills several items differ from it, or from their lines."""
    shares = invoice["billed_items"] or ()
    if shares:
        names = ("amount", "tax", "total", "paid", "credited", "credited_tax", "adjusted")
        sums = {name: sum((exact(share[name]) for share in shares), _ZERO) for name in names}
        yield from compare(INVOICES, invoice, sums)
    for share in shares:
        net = sum((exact(line["net"]) for line in list_lines(invoice, share["open_item_id"])), _ZERO)
        if net != exact(share["amount"]):
            values = {"found": f"{share['amount']}", "expected": f"{net:f}"}
            yield difference(INVOICES, invoice, "billed_items", _SHARE, **values)


async def check_claims(piece: Piece) -> AsyncIterator[Difference]:
    """Check that a claim is paid if, and only if, its voucher pays it."""
    ids = [claim["voucher_id"] for claim in piece.records if claim["voucher_id"] is not None]
    vouchers = {one["id"]: one for one in await piece.store(VOUCHERS).find({"_id": {"$in": ids}})}
    for claim in piece.records:
        if (claim["status"] == "paid") != _is_paid_by(claim, vouchers.get(claim["voucher_id"])):
            yield difference(EXPENSE_CLAIMS, claim, "voucher_id", _CLAIM)


def _is_paid_by(claim: ReadOnlyRecord, voucher: Voucher | None) -> bool:
    if voucher is None or voucher["reversed_by_id"] is not None:
        return False
    # several payments may have paid a claim: the voucher is that of the last one
    whole = voucher["claim_id"] == claim["id"] and exact(voucher["amount"]) == exact(claim["amount"])
    return whole or voucher.get("payment_id") is not None


async def check_items(piece: Piece) -> AsyncIterator[Difference]:
    """Check that what was paid of an open item is the sum of what payments allocate to it, and that its status fits.

    Also check that its entries, once it has them, add up to what is open, and that its document exists.
    """
    paid = await sum_paid_of_items(piece)
    entered = await piece.sums(ENTRIES, "open_item_id", "amount")
    adjusted = await piece.sums(ADJUSTMENTS, "open_item_id", "amount")
    converted = await _list_converted(piece)
    existing = await find_existing_documents(piece)
    for item in piece.records:
        wrong = [] if item["paid_elsewhere"] else [*compare(OPEN_ITEMS, item, {"paid": paid[item["id"]]})]
        for found in (*wrong, *compare(OPEN_ITEMS, item, {"adjusted": adjusted[item["id"]]})):
            yield found
        amount = exact(item["amount"])
        status = get_status(item, planned=item["status"] == PLANNED)
        if not wrong and item["status"] != status:
            yield difference(OPEN_ITEMS, item, "status", _STATUS, expected=status, found=item["status"])
        left = in_base(amount, item) - in_base(exact(item["paid"]), item)
        if not wrong and item["day"] is not None and entered[item["id"]] != left:
            sums = {"found": f"{left:f}", "expected": f"{entered[item['id']]:f}"}
            yield difference(OPEN_ITEMS, item, "entries", _ENTRIES, **sums)
        for found in converted.get(item["id"], ()):
            yield found
        if amount and (item["biz_type"], item["resource_id"]) not in existing:
            yield difference(OPEN_ITEMS, item, "resource_id", _NO_DOCUMENT)


async def _list_converted(piece: Piece) -> Mapping[Any, Sequence[Difference]]:
    """Return what is wrong with the amounts of items in a currency in both: of the item, and of its entries."""
    foreign = [item for item in piece.records if item["rate"] is not None]
    entered = await piece.sums(ENTRIES, "open_item_id", "currency_amount") if foreign else {}
    found = {}
    for item in foreign:
        amounts = {name: exact(item[name]) for name in ("amount", "paid")}
        left, own = amounts["amount"] - amounts["paid"], entered[item["id"]]
        wrong = [*compare(OPEN_ITEMS, item, {f"base_{name}": in_base(one, item) for name, one in amounts.items()})]
        if own != left:
            sums = {"found": f"{left:f}", "expected": f"{own:f}"}
            wrong.append(difference(OPEN_ITEMS, item, "currency_entries", _ENTRIES, **sums))
        found[item["id"]] = wrong
    return found


async def check_bills(piece: Piece) -> AsyncIterator[Difference]:
    """Check that the invoices that bill an item name its party, claim no more than it, and that it counts them all."""
    bills = defaultdict(list)
    for invoice in await piece.store(INVOICES).find({**billing(piece.ids), **BILLING}):
        for id in find_item_ids(invoice):
            bills[id].append(get_share(invoice, id))
    alone = await _find_alone(piece)
    credited = {one["id"] for of in bills.values() for one in of if exact(one["credited"])}
    notes = await piece.store(CREDIT_NOTES).find({"invoice_id": {"$in": list(credited)}}) if credited else []
    for item in piece.records:
        ids = {one["id"] for one in bills[item["id"]]}
        theirs = [note for note in notes if note["invoice_id"] in ids]
        returned = count_returned(theirs, bills[item["id"]], item["id"], exact(item["returned"]))
        for wrong in compare(OPEN_ITEMS, item, {"credited_returns": returned}):
            yield wrong
        for one in _compare_bills(item, bills[item["id"]]):
            yield one
        for number in alone.get(_claim_of(item, item["amount"]), ()):
            if not bills[item["id"]] and item["net"] is not None:
                yield difference(OPEN_ITEMS, item, "invoiced", _OWED_TWICE, invoice=number)


async def _find_alone(piece: Piece) -> Mapping[Any, Sequence[str]]:
    """Return the numbers of invoices that bill nothing, by their party and total, for the parties of these items."""
    parties = {name: [item[name] for item in piece.records if item[name] is not None] for name in _PARTY_IDS}
    theirs = [{name: {"$in": ids}} for name, ids in parties.items() if ids]
    if not theirs:
        return {}
    alone = {**BILLS_NOTHING, "credited": {"$in": [None, store_money(_ZERO)]}, "$or": theirs, **BILLING}
    found = await piece.store(INVOICES).find(alone, fields=(*_PARTY_IDS, "total", "number", "currency"))
    numbers = defaultdict(list)
    for invoice in found:
        numbers[_claim_of(invoice, invoice["total"])].append(invoice["number"] or "")
    return numbers


def _claim_of(record: Mapping[str, Any], amount: Any) -> tuple[Any, ...]:
    return (*(record[name] for name in (*_PARTY_IDS, "currency")), exact(amount))


def _compare_bills(item: Mapping[str, Any], bills: Sequence[Invoice]) -> Iterator[Difference]:
    sums = sum_bills(item, bills)
    invoiced, credited = exact(sums["invoiced"]), exact(sums["credited"])
    yield from compare(OPEN_ITEMS, item, {"invoiced": invoiced, "credited": credited})
    whole = get_whole(item)
    if invoiced - credited > whole and bills:
        yield difference(
            OPEN_ITEMS, item, "invoiced", _MORE_INVOICED, found=f"{invoiced - credited:f}", expected=f"{whole:f}"
        )
    for one in bills:
        # the documents on one invoice may call their customer by different names
        names = _PARTY_IDS if one["billed_items"] and any(item[name] for name in _PARTY_IDS) else PARTY_FIELDS
        if any(one.get(name) != item[name] for name in names if item[name]):
            said = {"found": one["counterparty"], "expected": item["counterparty"] or "", "invoice": one["number"]}
            yield difference(OPEN_ITEMS, item, "counterparty", _OTHER_PARTY, **said)


async def owed_on_invoices(piece: Piece) -> Mapping[Any, Due]:
    """Return what is owed on invoices that bill no other open item, by their ids."""
    paid, credited = await sum_paid_of_invoices(piece), await piece.sums(CREDIT_NOTES, "invoice_id", "total")
    return {
        one["id"]: Due(_ZERO if one["status"] == "void" else exact(one["total"]) - credited[one["id"]], paid[one["id"]])
        for one in piece.records
        if one["status"] != "draft" and not find_item_ids(one)
    }


async def owed_on_claims(piece: Piece) -> Mapping[Any, Due]:
    """Return what is owed on expense claims, by their ids: the amounts of all approved ones, whether paid or not."""
    return {one["id"]: Due(exact(one["amount"])) for one in piece.records if one["status"] in ("approved", "paid")}


async def owed_on_opening_items(piece: Piece) -> Mapping[Any, Due]:
    """Return what is owed on opening items, by their ids: the amounts of those that are not reversed, paid or not."""
    return {one["id"]: Due(exact(one["amount"])) for one in piece.records if one["status"] == "booked"}


async def check_debt(debt: Debt, piece: Piece) -> AsyncIterator[Difference]:
    """Check that the open items of documents say what the documents owe."""
    collection = piece.biz_types[debt.biz_type]
    owed = await debt.compute(piece)
    ids = {"biz_type": debt.biz_type, "resource_id": {"$in": [str(id) for id in piece.ids]}}
    items = {item["resource_id"]: item for item in await piece.store(OPEN_ITEMS).find(ids)}
    for record in piece.records:
        due, item = owed.get(record["id"], Due(_ZERO)), items.get(str(record["id"]))
        owes = due.amount if item is None else _compute_owed(item, due)
        if item is None and due.amount:
            yield difference(collection, record, "open_item", _NO_ITEM, expected=f"{due.amount:f}")
        stored: ReadOnlyRecord = item or {}
        returned = due.returned if stored.get("returned") is not None else None  # of earlier versions
        for name, expected in (
            ("amount", owes),
            ("paid", due.paid),
            ("undelivered", due.undelivered),
            ("returned", returned),
        ):
            found = exact(stored[name]) if item is not None else expected
            if item is not None and expected is not None and found != expected:
                label = OPEN_ITEMS.fields[name].label
                words = {"item": item["id"], "field": name, "label": label.zh if label else name}
                amounts = {"expected": f"{expected:f}", "found": f"{found:f}"}
                yield difference(collection, record, f"open_item.{name}", _OWED, **words, **amounts)


def _compute_owed(item: Mapping[str, Any], due: Due) -> Decimal:
    document = {"document_amount": store_money(due.amount), "undelivered": store_money(due.undelivered)}
    return sum_owed({**item, **document}, exact(item["invoiced"]), exact(item["credited"]))["amount"]


AUDITS = (
    Audit("finance-accounts", Message("账户余额与凭证", "Account balances against vouchers"), ACCOUNTS, check_accounts),
    Audit(
        "finance-vouchers",
        Message("凭证与账户、期间", "Vouchers against accounts and periods"),
        VOUCHERS,
        check_vouchers,
    ),
    Audit("finance-periods", Message("会计期间与凭证号", "Periods against voucher numbers"), PERIODS, check_periods),
    Audit("finance-invoices", Message("发票与凭证", "Invoices against vouchers"), INVOICES, check_invoices),
    Audit("finance-claims", Message("报销单与凭证", "Expense claims against vouchers"), EXPENSE_CLAIMS, check_claims),
    Audit("finance-open-items", Message("应收应付与收付款", "Open items against payments"), OPEN_ITEMS, check_items),
    Audit("finance-bills", Message("应收应付与发票", "Open items against invoices"), OPEN_ITEMS, check_bills),
)
DEBTS = (Debt(INVOICE, owed_on_invoices), Debt(CLAIM, owed_on_claims), Debt(OPENING, owed_on_opening_items))


def audits_of(catalogue: Catalogue) -> tuple[Audit, ...]:
    """Return the audits of all plugins, and one for each declared debt and each business type that names an account.

    Without finance, return only the audits of the plugins.
    """
    if OPEN_ITEMS.name not in catalogue.collections:
        return tuple(catalogue.audits)
    return (
        *catalogue.audits,
        *(_audit_of(debt, catalogue) for debt in catalogue.of_kind(Debt)),
        *audits_of_sources(catalogue),
    )


def _audit_of(debt: Debt, catalogue: Catalogue) -> Audit:
    collection = catalogue.biz_types[debt.biz_type]
    title = Message(f"应收应付与{collection.noun.zh}", f"Open items against {collection.noun.en}s")
    name = f"open-items-{debt.biz_type.lower().replace('_', '-')}"
    return Audit(name, title, collection, partial(check_debt, debt))
