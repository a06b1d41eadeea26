"""What plugins of a business, which need not be loaded together, tell one another, and declare of what is owed.

Every plugin may emit and hear these events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from handlers.events import Event
from handlers.reports.audits import Piece
from handlers.schema.values import RecordId


@dataclass(frozen=True)
class Due:
    """What is owed for a record. `paid` is how much of it the record itself says was paid; None if it does not say.

    `undelivered` is what will be owed besides, and may be invoiced already; `returned` is what came back, and is not owed.
    """

    amount: Decimal
    paid: Decimal | None = None
    undelivered: Decimal = Decimal(0)
    returned: Decimal = Decimal(0)


@dataclass(frozen=True)
class Debt:
    """What is owed for the records of a business type, computed from their entries and compared with open items.

    `compute` returns the amounts, keyed by the id of the record; nothing is owed for a record that it leaves out.
    """

    biz_type: str
    compute: Callable[[Piece], Awaitable[Mapping[RecordId, Due]]]


DATED = Event("finance.dated", day=str, booked=bool | None)
"""A record is dated on this business day; a listener refuses one in a closed month. `booked`: `MONEY_MOVED` or
`MONEY_RETURNED` follow in the same transaction, so that a listener may make it wait for others that book."""

_OWED = {
    "biz_type": str,
    "resource_id": str,
    "number": str | None,
    "counterparty": str,
    "amount": object,  # as `store_money` makes it
    "net": object,  # all that the document may be invoiced for, without tax
    "tax": object,  # and its tax
    "currency": str | None,  # of all these amounts; nothing: the company's own
    "rate": object,  # what one unit of it is worth
    "undelivered": object,  # how much of both is still to be shipped; it may be invoiced ahead
    "returned": object,  # goods that came back and are not owed, with tax
    "new": bool | None,  # nothing was reported about the record before
    "paid": object,
    "schedule": list | None,
    "due_on": str | None,
    "terms_days": int | None,
    "terms_from": str | None,
    "instalments": list | None,
    "discount_percent": object,
    "discount_days": int | None,
    "day": str | None,
    "customer_id": object,
    "supplier_id": object,
    "creator_id": int,
    "creator_department_id": int | None,
}
RECEIVABLE_CHANGED = Event("finance.receivable.changed", **_OWED)
"""What a customer owes for a record now, changed on `day`.

With `paid`, its payments are entered where it comes from.
"""

PAYABLE_CHANGED = Event("finance.payable.changed", **_OWED)
"""What is owed to a supplier for a record now, changed on `day`.

With `paid`, its payments are entered where it comes from.
"""

MONEY_MOVED = Event(
    "finance.money.moved",
    direction=str,  # `in` or `out`
    account_id=object,
    amount=object,
    currency=str | None,  # of the amount, which is that of the record; nothing: the company's own
    rate=object,  # what one unit of it was worth then
    day=str,
    biz_type=str,
    resource_id=str,
    source_type=str,
    source_id=str,
    customer_id=object,
    supplier_id=object,
    counterparty=str | None,
    method=str | None,
    reference=str | None,
    remark=str | None,
)
"""Money came to an account, or left it, by a payment that the plugin has entered and counted itself.

`biz_type` and `resource_id` name the record that it pays, `source_type` and `source_id` the payment. It follows the
event with which the record reports what is paid of it.
"""

MONEY_RETURNED = Event("finance.money.returned", source_type=str, source_id=str, day=str, reason=str | None)
"""What `MONEY_MOVED` reported of this source is taken back on `day`."""

MONEY_ALLOCATED = Event(
    "finance.money.allocated",
    biz_type=str,
    resource_id=str,
    amount=object,
    day=str,
    payment=Mapping,
)
"""A payment was allocated to a record whose payments are entered where it comes from; below zero it is taken back.

The plugin of the record counts it, or refuses it, and reports what is paid then.
"""

DEBT_ASKED = Event("finance.debt.asked", biz_type=str, resource_id=str, known=bool)
"""Asks the plugin of a business type to report again what is owed for a record, as `RECEIVABLE_CHANGED` or
`PAYABLE_CHANGED`: what is owed now where it is `known`, else day by day, as it came about."""

EVENTS = (DATED, DEBT_ASKED, MONEY_ALLOCATED, MONEY_MOVED, MONEY_RETURNED, PAYABLE_CHANGED, RECEIVABLE_CHANGED)
