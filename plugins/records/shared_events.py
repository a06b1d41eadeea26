"""Events between plugins that need not be loaded together: both use the same value, and neither imports the other.

Every plugin may emit them and listen for them, whatever other plugins are loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from handlers.events import Event
from handlers.schema.messages import Message

_Text = str | Message

NOTIFY = Event(
    "notification.send",
    user_ids=Iterable,
    kind=str,
    title=_Text,
    body=_Text | None,
    link=str | None,
    data=Mapping | None,
    key=str | None,
)
"""Puts a message into the inboxes of these users. A user gets at most one for each `key`."""

NOTIFY_PROGRESS = Event("notification.progress", user_ids=Iterable, kind=str, key=str, data=Mapping | None)
"""Replaces the progress that these users see under `key`; `data` None removes it."""

DATA_RESET = Event("system.data_reset", modules=Iterable)
"""All records of these plugins were removed."""

DATED = Event("finance.dated", day=str, booked=bool | None)
"""A record is dated on this business day; a listener refuses one in a closed month. `booked`: `MONEY_MOVED` or
`MONEY_RETURNED` follow in the same transaction, so that a listener may make it wait for others that book."""

OPEN_DAY_ASKED = Event("finance.open_day.asked", day=str, found=dict)
"""Asks on which day the effect of something dated `day` is booked: a plugin that keeps the books puts the first day from
then on that is in no closed month as `day` into `found`."""

APPROVAL_REQUESTED = Event(
    "approval.requested",
    biz_type=str,
    resource_id=str,
    title=_Text,
    record=Mapping,
    own=Iterable,
    initiator_id=int | None,
)
"""Starts the approval of a record. The people `own` do not decide on it."""

APPROVAL_CANCELLED = Event("approval.cancelled", biz_type=str, resource_id=str, reason=str | None)
"""Ends the approval of a record that was decided, withdrawn or deleted at the record itself."""

APPROVAL_FINISHED = Event(
    "approval.finished",
    biz_type=str,
    resource_id=str,
    outcome=str,
    by=int | None,
    reason=str | None,
    instance_id=str | None,
)
"""How an approval ended: the outcome is `approved`, `rejected`, `returned` or `withdrawn`."""

_OWED = {
    "biz_type": str,
    "resource_id": str,
    "number": str | None,
    "counterparty": str,
    "amount": object,  # as `store_money` makes it
    "net": object,  # all that the document may be invoiced for, without tax
    "tax": object,  # and its tax
    "undelivered": object,  # how much of both is still to be shipped; it may be invoiced ahead
    "new": bool | None,  # nothing was reported about the record before
    "paid": object,
    "schedule": list | None,
    "due_on": str | None,
    "terms_days": int | None,
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

OWED_ASKED = Event("finance.owed.asked", customer_id=object, found=dict)
"""Asks what a customer owes: a plugin that keeps the books puts a `Decimal` as `owed` into `found`."""

TERMS_ASKED = Event("finance.terms.asked", customer_id=object, supplier_id=object, found=dict)
"""Asks within how many days a customer or supplier pays or is paid.

A plugin that keeps them puts `days` into `found`.
"""

DEBT_ASKED = Event("finance.debt.asked", biz_type=str, resource_id=str, known=bool)
"""Asks the plugin of a business type to report again what is owed for a record, as `RECEIVABLE_CHANGED` or
`PAYABLE_CHANGED`: what is owed now where it is `known`, else day by day, as it came about."""

CREDIT_ASKED = Event("finance.credit.asked", customer_id=object, requested=object, ordered=object, found=dict)
"""Asks whether a customer may order: `requested` and `ordered` are `Decimal` amounts, of this order and of others that
are not delivered. A plugin that keeps customers refuses what exceeds the credit limit, or puts the amount by which it
does as `excess` into `found`."""

CONTACTS_ASKED = Event("finance.contacts.asked", customer_ids=Iterable, found=dict)
"""Asks whom to call at customers: a plugin that keeps them puts `{name, phone, email}` into `found`, by their ids."""

PROTOCOLS = (
    APPROVAL_CANCELLED,
    APPROVAL_FINISHED,
    APPROVAL_REQUESTED,
    CONTACTS_ASKED,
    CREDIT_ASKED,
    DATA_RESET,
    DATED,
    DEBT_ASKED,
    MONEY_ALLOCATED,
    MONEY_MOVED,
    MONEY_RETURNED,
    NOTIFY,
    NOTIFY_PROGRESS,
    OPEN_DAY_ASKED,
    OWED_ASKED,
    PAYABLE_CHANGED,
    RECEIVABLE_CHANGED,
    TERMS_ASKED,
)
