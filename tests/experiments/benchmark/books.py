"""The books of a large company: open items, the payments that settle them, and the entries of both.

Documents are inserted directly into MongoDB, as the service would have stored them, without indexes; those are built
afterwards. A quarter of the documents is made here; the rest are copies that MongoDB makes, with other ids and numbers.
Every fifth item is a payable. A tenth of the payments are advances, and another tenth pay half of their item; one
customer has a twentieth of the receivables.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from bson import Decimal128, ObjectId
from pymongo import MongoClient
from pymongo.database import Database

from plugins.finance.entries import ADVANCE, ENTRIES, OWED, PAID, PAYMENT
from plugins.finance.payment_records import OPEN_ITEMS, PAYMENTS
from plugins.inventory.records import SUPPLIERS
from tests.experiments.benchmark.servers import DATABASE
from tests.experiments.benchmark.world import audited, unindexed

SUPPLIER_COUNT = 500
_LARGEST_ONE_IN = 20
_DAYS, _TERMS = 730, 30
_BATCH = 2000
_COPIES = ("a1", "a2", "a3")  # the first digits of the ids of copies; the ids of originals begin with smaller ones
_ORIGINALS = {"_id": {"$lt": ObjectId("a0" + "0" * 22)}}
Row = dict[str, Any]
Party = tuple[ObjectId, str]


def make_books(uri: str, count: int) -> Row:
    """Fill the books of the existing customers; return the ids of the customers for whom statements are requested."""
    with MongoClient[Row](uri) as client:
        database = client[DATABASE]
        customers = [(one["_id"], one["name"]) for one in database.crm_customers.find({}, ["name"]).sort("_id")]
        suppliers = [(ObjectId(), f"供应商{number}") for number in range(SUPPLIER_COUNT)]
        database[SUPPLIERS.name].insert_many([_supplier(*one, number) for number, one in enumerate(suppliers)])
        with ExitStack() as stack:
            for name in (OPEN_ITEMS.name, PAYMENTS.name, ENTRIES.name):
                stack.enter_context(unindexed(database, name))
            made = count // (len(_COPIES) + 1)
            for first in range(0, made, _BATCH):
                _insert(database, customers, suppliers, range(first, min(first + _BATCH, made)))
            for begin in _COPIES:
                _copy(database, begin)
            print("building indexes …", flush=True)
    return {"largest": str(customers[0][0]), "usual": str(customers[len(customers) // 2][0])}


def _supplier(id: ObjectId, name: str, number: int) -> Row:
    values = {"code": f"S-{number:05}", "name": name, "status": "enabled"}
    return {"_id": id, **SUPPLIERS.defaults, **values, **SUPPLIERS.derived(values), **audited(1, 1, datetime.now(UTC))}


def _copy(database: Database[Row], begin: str) -> None:
    """Copy everything that was made here, with ids that start with `begin`."""
    item_id = {"$cond": [{"$eq": ["$open_item_id", None]}, None, _copied(begin, "$open_item_id")]}
    allocation = {"$mergeObjects": ["$$this", {"open_item_id": _copied(begin, "$$this.open_item_id")}]}
    own: Mapping[str, Row] = {
        OPEN_ITEMS.name: {"resource_id": {"$toString": _copied(begin, "$_id")}},
        PAYMENTS.name: {"allocations": {"$map": {"input": "$allocations", "in": allocation}}},
        ENTRIES.name: {
            "open_item_id": item_id,
            "resource_id": {"$concat": [begin, {"$substrBytes": ["$resource_id", 2, -1]}]},
        },
    }
    for name, changed in own.items():
        values = {"_id": _copied(begin, "$_id"), "number": {"$concat": ["$number", "-", begin]}, **changed}
        into = {"into": name, "whenMatched": "fail", "whenNotMatched": "insert"}
        database[name].aggregate([{"$match": _ORIGINALS}, {"$set": values}, {"$merge": into}])


def _copied(begin: str, id: str) -> Row:
    return {"$toObjectId": {"$concat": [begin, {"$substrBytes": [{"$toString": id}, 2, -1]}]}}


def _insert(
    database: Database[Row], customers: Sequence[Party], suppliers: Sequence[Party], numbers: Sequence[int]
) -> None:
    draw, today = random.Random(numbers[0]), datetime.now(UTC).date()
    items: list[Row] = []
    payments: list[Row] = []
    entries: list[Row] = []
    for number in numbers:
        payable = number % 5 == 4
        largest = not payable and draw.randrange(_LARGEST_ONE_IN) == 0
        party = customers[0] if largest else draw.choice(suppliers if payable else customers)
        item, payment = _pair(draw, number, payable, party, today)
        items.append(item)
        payments.append(payment)
        entries += _entries(item, payment)
    for name, rows in ((OPEN_ITEMS.name, items), (PAYMENTS.name, payments), (ENTRIES.name, entries)):
        database[name].insert_many(rows, ordered=False)


def _pair(draw: random.Random, number: int, payable: bool, party: Party, today: date) -> tuple[Row, Row]:
    """Return an item, and a payment that settles all or half of it or, as an advance, nothing."""
    arose = today - timedelta(days=draw.randrange(1, _DAYS))
    paid_on = min(arose + timedelta(days=draw.randrange(3 * _TERMS)), today)
    amount = Decimal(draw.randrange(1_000, 5_000_000)) / 100
    part = {0: Decimal(0), 1: (amount / 2).quantize(Decimal("0.01"))}.get(number // 5 % 10, amount)
    customer_id, supplier_id = (None, party[0]) if payable else (party[0], None)
    common = {"customer_id": customer_id, "supplier_id": supplier_id, "counterparty": party[1]}
    item_id, named = ObjectId(), f"OB-{number:08}"
    item = {
        "_id": item_id,
        "direction": "in" if payable else "out",
        "biz_type": "OPENING_BALANCE",
        "resource_id": str(item_id),
        "number": named,
        **common,
        "day": arose.isoformat(),
        "amount": _stored(amount),
        "paid": _stored(part),
        "due_on": (arose + timedelta(days=_TERMS)).isoformat(),
        "schedule": None,
        "status": "paid" if part == amount else "partly_paid" if part else "open",
        "paid_elsewhere": False,
        **OPEN_ITEMS.derived({"number": named, "counterparty": party[1]}),
        **_stamps(arose),
    }
    allocation = {"open_item_id": item_id, "amount": _stored(part), "day": paid_on.isoformat()}
    payment = {
        "_id": ObjectId(),
        "number": f"PY-{number:08}",
        "direction": "out" if payable else "in",
        "account_id": None,
        **common,
        "amount": _stored(part or amount),
        "day": paid_on.isoformat(),
        "method": "transfer",
        "allocations": [allocation] if part else [],
        "allocated": _stored(part),
        "unallocated": _stored(Decimal(0) if part else amount),
        "repaid": _stored(Decimal(0)),
        "repays_id": None,
        "status": "booked",
        **PAYMENTS.derived({"number": f"PY-{number:08}"}),
        **_stamps(paid_on),
    }
    return item, payment


def _entries(item: Row, payment: Row) -> Iterator[Row]:
    copied = ("direction", "customer_id", "supplier_id", "counterparty", "biz_type", "resource_id", "number", "due_on")
    settled_on = payment["day"] if item["status"] == "paid" else None
    marks = {"settled_on": settled_on, "settles": False}
    of_item = {"open_item_id": item["_id"], **marks, **{name: item[name] for name in copied}}
    owed, paid = item["amount"].to_decimal(), item["paid"].to_decimal()
    yield _entry(of_item, OWED, item["day"], owed, owed - paid)
    if payment["allocations"]:
        yield _entry(of_item, PAID, payment["day"], -paid, Decimal(0))
        return
    own = {"biz_type": PAYMENT, "resource_id": str(payment["_id"]), "number": payment["number"], "due_on": None}
    of_payment = {**of_item, "open_item_id": None, **own}
    advance = -payment["amount"].to_decimal()
    yield _entry(of_payment, ADVANCE, payment["day"], advance, advance)


def _entry(described: Row, kind: str, day: str, amount: Decimal, rest: Decimal) -> Row:
    values = {"kind": kind, "day": day, "amount": _stored(amount), "rest": _stored(rest)}
    return {"_id": ObjectId(), **described, **values, **_stamps(date.fromisoformat(day))}


def _stored(amount: Decimal) -> Decimal128:
    return Decimal128(f"{amount:.2f}")


def _stamps(day: date) -> Row:
    return audited(1, 1, datetime.combine(day, time(8), UTC))
