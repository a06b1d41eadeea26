"""Entries of open items and of advances: each says by how much the open amount changed on a day. They never change.

What is open on any day is a sum of entries; statements, ageing and the dunning list read nothing else. Their amounts are
in the company's currency, by the rate of the document; what was open in its own currency is beside them.

Entries of one document and due day that add up to zero are left out of every sum from the last of their days on. If
they do not, one of them gets the sum as its `rest`, and the others get zero. Sums are the same without the marks, so
the marks may be written later than the entries; entries that belong together are marked in one transaction, and sums
are read from a snapshot. Entries that are added to a document have no `rest` at first, nor have those that an
older version of the service writes, which may mark them as settled itself.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from plugins.api import (
    Actor,
    Collection,
    Index,
    Job,
    Message,
    Record,
    Request,
    Service,
    Store,
    boolean,
    choice,
    day,
    day_of,
    exact,
    money,
    object_id,
    service_fields,
    store_money,
    text,
)
from plugins.api.business import currency, currency_amount, in_base
from plugins.api.records import Catalogue
from plugins.finance.books import find_open_day
from plugins.finance.payment_records import ADJUSTMENT_KINDS, OPEN_ITEMS
from plugins.finance.record_types import OpenItem, OpenItemEntry, Voucher
from plugins.finance.records import COUNTERPARTY, CUSTOMER, SUPPLIER, VOUCHERS
from plugins.finance.states import PLANNED

Values = Mapping[str, Any]
ZERO = Decimal(0)
OWED, PAID, ADVANCE, RESCHEDULED = "owed", "paid", "advance", "rescheduled"
PAYMENT = "PAYMENT"  # the `biz_type` of entries of advances
_OWN = ("INVOICE", "EXPENSE")  # what is owed for documents of this plugin
PARTY_FIELDS = ("customer_id", "supplier_id", "counterparty")
FOREIGN = {"currency": {"$gte": ""}}  # the filter on what is in another currency than the company's own
_FOREIGN_ONLY = {"currency": {"$type": "string"}}
_COPIED = ("direction", *PARTY_FIELDS, "biz_type", "resource_id", "number")

ENTRIES: Collection[OpenItemEntry] = Collection(
    name="finance_open_item_entries",
    title="OpenItemEntry",
    noun=Message("往来明细", "open item entry"),
    scoped=True,
    default_sort="-day",
    fields={
        **service_fields(
            direction=choice(
                "in", "out", label=("款项方向", "Direction"), description="`out`: a receivable; `in`: a payable."
            ),
            day=day(label=("日期", "Date"), sort=True),
            kind=choice(
                OWED,
                PAID,
                ADVANCE,
                RESCHEDULED,
                *ADJUSTMENT_KINDS,
                label=("变动类型", "Type of change"),
                description="`rescheduled`: the due date changed; such entries add up to zero. `rebate` and those after it: an "
                "adjustment of this kind.",
            ),
            amount=money(
                label=("金额", "Amount"),
                description="How much more is open, in the company's currency; negative: how much less.",
            ),
        ),
        "open_item_id": object_id(label=("应收应付款项", "Open item"), read_only=True, ref=OPEN_ITEMS.name),
        "biz_type": text(label=("业务类型", "Business type"), max_length=64, read_only=True, example="CONTRACT"),
        "resource_id": text(label=("来源单据", "Source record"), max_length=100, read_only=True),
        "number": text(label=("单据编号", "Document number"), max_length=64, read_only=True),
        "customer_id": CUSTOMER.but(read_only=True, filter=False),
        "supplier_id": SUPPLIER.but(read_only=True, filter=False),
        "counterparty": COUNTERPARTY.but(read_only=True, filter=False, search=False),
        "due_on": day(label=("到期日", "Due date"), read_only=True, description="Null: not agreed."),
        "currency": currency().but(read_only=True, filter=False),
        "currency_amount": currency_amount().but(read_only=True, description="The amount in this currency."),
        "settled_on": day(
            label=("结清日期", "Settled on"),
            read_only=True,
            history=False,
            description="From this day on it and other entries of its document, due on the same day, add up to zero.",
        ),
        "rest": money(
            label=("未结余额", "Open balance"),
            read_only=True,
            history=False,
            description="What is open of its document for its due date. One of the entries for that date has the "
            "amount, the others have 0; null: not added up yet.",
        ),
        # read by older versions only
        "settles": boolean(
            label=("待结清", "May settle"),
            read_only=True,
            history=False,
            description="Whether its `rest` is to be added up.",
        ),
    },
    indexes=(
        # each holds all that a sum needs
        Index("direction", "settled_on", "day", *PARTY_FIELDS, "due_on", "kind", "open_item_id", "amount"),
        Index("customer_id", "day", "id", "kind", "direction", "amount"),
        Index("supplier_id", "day", "id", "kind", "direction", "amount"),
        Index("customer_id", "settled_on", "direction", "due_on", "rest", "open_item_id", "supplier_id", "amount"),
        Index("open_item_id"),
        Index("customer_id", where=_FOREIGN_ONLY),
        Index("supplier_id", where=_FOREIGN_ONLY),
        Index("resource_id", where={"kind": ADVANCE}),
        Index("rest", "settled_on", "direction", "due_on", *PARTY_FIELDS),
    ),
)


class Change(NamedTuple):
    """One entry to write: what is open for `due_on` changes by `amount`, which is this much in the document's currency."""

    kind: str
    due_on: str | None
    amount: Decimal
    currency_amount: Decimal | None = None


async def enter_change(service: Service, before: Values | None, item: Values, day: str, adjustment: str = OWED) -> None:
    """Write entries for what changed in an open item on `day`, in the transaction that changes the item.

    `adjustment` is the kind of the adjustment by which less or more is owed.

    If the month of `day` is closed, they are dated on the first open day after it: entries of a closed month never change.
    `before` is the item before the change, None for a new one. Whoever may see the item may see its entries.
    """
    if before is not None and before["day"] is None:
        await adopt(service, before)
    entries = _entries_of(service, item)
    if before is not None and any(before[name] != item[name] for name in PARTY_FIELDS):
        party = {name: item[name] for name in PARTY_FIELDS}
        await entries.update_many({"open_item_id": item["id"]}, {"$set": party})
    booked_on = await find_open_day(service, day)
    new = before is None or before["status"] == PLANNED
    await _write(entries, item, [(booked_on, change) for change in compare(before, item, adjustment)], new=new)


async def adopt(service: Service, item: Values) -> None:
    """Write the entries of an item that an older version of the service stored without any, in a transaction.

    The item counts as arisen on the day on which it was entered. Payments are dated as their vouchers are; those
    without a voucher, such as payments of a contract, are dated on the day of the item's last change.
    """
    zone = service.settings.zone
    arose, changed = (day_of(item[name], zone).isoformat() for name in ("created_at", "updated_at"))
    state: Record = {
        **item,
        "paid": store_money(ZERO),
        "schedule": [{**part, "paid": None} for part in item["schedule"] or ()],
    }
    rows = [(arose, change) for change in compare(None, state)]
    paid = [(voucher["day"] or changed, exact(voucher["amount"])) for voucher in await _find_vouchers(service, item)]
    rest = exact(item["paid"]) - sum((amount for _, amount in paid), ZERO)
    for at, amount in [*paid, (changed, rest)]:
        after = {**state, "paid": store_money(exact(state["paid"]) + amount)}
        rows += [(at, change) for change in compare(state, after)]
        state = after
    rows += [(changed, change) for change in compare(state, item)]
    await service.database.store(OPEN_ITEMS).update_unversioned({"_id": item["id"]}, {"$set": {"day": arose}})
    await _write(_entries_of(service, item), item, rows)


async def _find_vouchers(service: Service, item: Values) -> Sequence[Voucher]:
    """Return the vouchers that paid an item until its last change, and those that reversed them."""
    of_invoice = item["biz_type"] == "INVOICE"
    wanted = {"invoice_id": VOUCHERS.parse_id(item["resource_id"])} if of_invoice else {"open_item_id": item["id"]}
    earlier = {"created_at": {"$lte": item["updated_at"]}}
    return await service.database.store(VOUCHERS).find({**wanted, **earlier}, sort="day")


async def enter_advance(service: Service, payment: Values, amount: Decimal, day: str, *, new: bool = False) -> None:
    """Write an entry by which `amount` more of a payment, which may be `new`, is an advance from `day` on.

    An amount below zero makes the advance smaller. `payment` has what is left of it then.
    """
    left = exact(payment["unallocated"])
    worth = in_base(left, payment) - in_base(left - amount, payment)
    described = {
        **payment,
        "id": None,
        "direction": "out" if payment["direction"] == "in" else "in",
        "biz_type": PAYMENT,
        "resource_id": str(payment["id"]),
    }
    if amount:
        change = Change(ADVANCE, None, -worth, -amount if payment.get("rate") is not None else None)
        rows = [(await find_open_day(service, day), change)]
        await _write(_entries_of(service, payment), described, rows, new=new)


def _entries_of(service: Service, item: Values) -> Store[OpenItemEntry]:
    owner = Actor(user_id=item["creator_id"], department_id=item["creator_department_id"])
    return service.database.store(ENTRIES, owner)


async def _write(
    entries: Store[OpenItemEntry], item: Values, changes: Sequence[tuple[str, Change]], *, new: bool = False
) -> None:
    """Write entries. In a `new` document, an entry that is the only one for its due day has a `rest` from the start."""
    copied = {"open_item_id": item["id"], "currency": item.get("currency"), **{name: item[name] for name in _COPIED}}
    of_due_day = Counter(one.due_on for _, one in changes)
    rows = []
    for on, one in changes:
        amount = store_money(one.amount)
        rest = amount if new and of_due_day[one.due_on] == 1 else None
        theirs = store_money(one.currency_amount) if one.currency_amount is not None else None
        made = {**copied, **one._asdict(), "amount": amount, "currency_amount": theirs, "rest": rest}
        rows.append({**made, "day": on, "settles": rest is None})
    if rows:
        await entries.create_many(rows)


def compare(before: Values | None, item: Values, owed: str = OWED) -> Iterator[Change]:
    """Yield the changes from one state of an item to the next: of its amount, of what is paid, and of due days.

    `owed` is the kind of the entries by which more or less is owed. In the company's currency they add up to the amount less
    what is paid, both by the rate of the item: to nothing when it is settled, and to what they were when that is undone.
    """
    own = _compare(before, item, owed, _keep)
    if item.get("rate") is None and (before is None or before.get("rate") is None):
        yield from (Change(*key, amount) for key, amount in own)
        return
    sums = [defaultdict[tuple[str, str | None], Decimal](Decimal) for _ in range(2)]
    for changes, of in zip((_compare(before, item, owed, in_base), own), sums, strict=True):
        for key, amount in changes:
            of[key] += amount
    yield from (Change(*key, sums[0][key], sums[1][key]) for key in {**sums[0], **sums[1]})


def _keep(amount: Decimal, _: Values) -> Decimal:
    return amount


def _compare(
    before: Values | None, item: Values, owed: str, convert: Callable[[Decimal, Values], Decimal]
) -> Iterator[tuple[tuple[str, str | None], Decimal]]:
    """Yield the changes by kind and due day, in the currency into which `convert` turns what is open of an item."""
    old = before or {"amount": None, "paid": None}
    earlier = _convert_parts(before, convert) if before is not None else {}
    later = _convert_parts(item, convert)
    left = {due: later.get(due, ZERO) - earlier.get(due, ZERO) for due in {**earlier, **later}}
    amounts = {name: convert(exact(item[name]), item) - convert(exact(old[name]), old) for name in ("amount", "paid")}
    sums = {owed: amounts["amount"], PAID: -amounts["paid"]}
    for kind, amount in sums.items():
        for due, part in _take(left, amount):
            left[due] -= part
            yield (kind, due), part
    yield from (((RESCHEDULED, due), amount) for due, amount in left.items() if amount)


def _convert_parts(item: Values, convert: Callable[[Decimal, Values], Decimal]) -> dict[str | None, Decimal]:
    """Return what is open for each due day, converted so that the parts are the amount less what is paid, to the cent."""
    so_far, last, parts = ZERO, None, dict[str | None, Decimal]()
    for due, part in split_by_due_day(item).items():
        parts[due] = convert(so_far + part, item) - convert(so_far, item)
        so_far, last = so_far + part, due if part else last
    if so_far:  # then something is open for the last day
        parts[last] += convert(exact(item["amount"]), item) - convert(exact(item["paid"]), item) - sum(parts.values())
    return parts


def _take(left: Mapping[str | None, Decimal], amount: Decimal) -> Iterator[tuple[str | None, Decimal]]:
    """Share an amount among the due days whose change has the same sign; what remains goes to the first due day."""
    for due, change in list(left.items()):
        if amount * change > 0:
            part = min(amount, change, key=abs)
            amount -= part
            yield due, part
    if amount:
        yield next(iter(left), None), amount


def split_by_due_day(item: Values) -> dict[str | None, Decimal]:
    """Return what is open of an item for each due day; the key None is for what has no agreed due day.

    Payments that name a part of the schedule pay that part; payments that name none pay the earliest parts first. If
    the schedule is larger than the amount, the difference is taken off its last parts.
    """
    amount, paid = exact(item["amount"]), exact(item["paid"])
    schedule = sorted(item["schedule"] or (), key=lambda part: part["due_on"])
    if not schedule:
        return {item["due_on"]: amount - paid}
    parts: dict[str | None, Decimal] = {}
    for part in schedule:
        parts[part["due_on"]] = parts.get(part["due_on"], ZERO) + exact(part["amount"]) - exact(part["paid"])
    unscheduled = amount - sum((exact(part["amount"]) for part in schedule), ZERO)
    unassigned = paid - sum((exact(part["paid"]) for part in schedule), ZERO)
    parts[None] = max(unscheduled, ZERO)
    beyond = _reduce(parts, list(reversed(parts)), max(-unscheduled, ZERO)) + min(unassigned, ZERO)
    beyond += _reduce(parts, list(parts), max(unassigned, ZERO))
    parts[None] -= beyond
    return parts


def _reduce(parts: dict[str | None, Decimal], order: list[str | None], amount: Decimal) -> Decimal:
    """Take an amount off the parts, in this `order` and as far as they are open; return what is left of the amount."""
    for due in order:
        taken = min(max(parts[due], ZERO), amount)
        parts[due] -= taken
        amount -= taken
    return amount


def is_counted_elsewhere(item: Mapping[str, Any]) -> bool:
    """Return whether another plugin counts the payments of an item, such as those of a contract."""
    return bool(item["paid_elsewhere"] and item["biz_type"] not in _OWN)


def follow_amounts(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return what follows from the amounts of an item: its amounts in the company's currency, its schedule and due day.

    An item in that currency has no other amounts. Without a schedule it keeps its due day.
    """
    if item.get("rate") is None:
        return _pay_earliest(item)
    base = {f"base_{name}": store_money(in_base(exact(item[name]), item)) for name in ("amount", "paid")}
    return {**_pay_earliest(item), **base}


def _pay_earliest(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schedule` and `due_on` of an item whose payments name no part of it; an empty dict without a schedule.

    If another plugin counts the payments, it has said which parts they paid: then only `due_on`, as in the entries.
    """
    if not item.get("schedule"):
        return {}
    if is_counted_elsewhere(item):
        return {"due_on": _find_next(item)}
    left, parts = exact(item["paid"]), []
    for part in sorted(item["schedule"], key=lambda one: one["due_on"]):
        paid = max(min(left, exact(part["amount"])), Decimal(0))
        left -= paid
        parts.append({**part, "paid": store_money(paid)})
    return {"schedule": parts, "due_on": _find_next({**item, "schedule": parts})}


def _find_next(item: Mapping[str, Any]) -> str | None:
    """Return the first day for which something is open, or None."""
    return next((due for due, left in split_by_due_day(item).items() if due and left > 0), None)


_HELD = {"on_hold": True}


async def find_held_items(req: Request) -> Sequence[OpenItem]:
    """Return ids and parties of the receivables of documents on hold, whether the caller may see them or not."""
    items: list[OpenItem] = []
    for biz_type, collection in req.service.part(Catalogue).biz_types.items():
        if "on_hold" not in collection.fields:
            continue
        held = await req.system_store(collection).find(_HELD, fields=("version",))
        theirs = {"biz_type": biz_type, "resource_id": {"$in": [str(row["id"]) for row in held]}, "direction": "out"}
        items += await req.system_store(OPEN_ITEMS).find(theirs, fields=PARTY_FIELDS) if held else []
    return items


_DOCUMENTS = 100  # how many are looked at together
_READ = ("open_item_id", "resource_id", "due_on", "day", "amount")
_ZERO = store_money(ZERO)
Row = Mapping[str, Any]


def unsettled(on: str) -> Mapping[str, Any]:
    """Return the filter on the entries that count on a day: those that are not settled by then."""
    return {"settled_on": {"$not": {"$lte": on}}}


async def mark_settled(service: Service) -> None:
    """Mark the entries of all documents that have entries without a `rest`, some documents at a time."""
    entries = service.database.store(ENTRIES)
    new = {"rest": None, "settled_on": None}
    while found := await entries.find(new, limit=_DOCUMENTS, fields=_READ):
        started = time.monotonic()
        if not await service.database.transaction(partial(_mark, entries, found)):
            return
        await asyncio.sleep(time.monotonic() - started)  # so that it works at most half of the time


MARKING = Job("finance.settled", 60, mark_settled, Message("标记已结清的往来明细", "Mark settled open item entries"))


async def _find_unsettled(entries: Store[OpenItemEntry], found: Iterable[Row]) -> list[Row]:
    """Return the unsettled entries of the open items and advances to which the `found` entries belong."""
    items = {row["open_item_id"] for row in found if row["open_item_id"] is not None}
    advances = {row["resource_id"] for row in found if row["open_item_id"] is None}
    of_items = {"open_item_id": {"$in": list(items)}}
    of_advances = {"kind": ADVANCE, "open_item_id": None, "resource_id": {"$in": list(advances)}}
    rows: list[Row] = []
    for documents, order in ((of_items, "open_item_id"), (of_advances, "resource_id")):
        # sorted as the index of the documents: else MongoDB might read all of another index whose first keys match
        stages: list[Row] = [
            {"$match": {**documents, "settled_on": None}},
            {"$sort": {order: 1, "_id": 1}},
            {"$project": dict.fromkeys(_READ, 1)},
        ]
        read = await entries.aggregate(stages)
        rows += [{"id": row["_id"], **{name: row.get(name) for name in _READ}} for row in read]
    return rows


async def _mark(entries: Store[OpenItemEntry], found: Iterable[Row]) -> int:
    """Mark the entries of the documents of `found`, in a transaction; return how many entries were looked at."""
    rows = await _find_unsettled(entries, found)
    settled: dict[str, list[Any]] = defaultdict(list)
    others: list[Any] = []
    for group in _group(rows):
        rest = sum((exact(row["amount"]) for row in group), ZERO)
        if rest:
            await _set(entries, [group[0]["id"]], {"rest": store_money(rest)})
            others += [row["id"] for row in group[1:]]
        else:
            settled[max(row["day"] for row in group)] += [row["id"] for row in group]
    await _set(entries, others, {"rest": _ZERO})
    for last, ids in settled.items():
        await _set(entries, ids, {"rest": _ZERO, "settled_on": last})
    return len(rows)


async def _set(entries: Store[OpenItemEntry], ids: Sequence[Any], values: Mapping[str, Any]) -> None:
    if ids:
        change = {"$set": {**values, "settles": False}}
        await entries.update_many({"_id": {"$in": list(ids)}}, change, unversioned=True)


def _group(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each document and due day together."""
    groups: dict[tuple[Any, Any, Any], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["open_item_id"], row["resource_id"], row["due_on"]].append(row)
    yield from groups.values()
