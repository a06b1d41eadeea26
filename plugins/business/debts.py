"""What is owed for records, declared by the plugins that keep them, so that the one that keeps the books can compare."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from handlers.reports.audits import Piece
from handlers.schema.values import RecordId


@dataclass(frozen=True)
class Due:
    """What is owed for a record. `paid` is how much of it the record itself says was paid; None if it does not say.

    `undelivered` is what will be owed besides, and may be invoiced already.
    """

    amount: Decimal
    paid: Decimal | None = None
    undelivered: Decimal = Decimal(0)


@dataclass(frozen=True)
class Debt:
    """What is owed for the records of a business type, computed from their entries and compared with open items.

    `compute` returns the amounts, keyed by the id of the record; nothing is owed for a record that it leaves out.
    """

    biz_type: str
    compute: Callable[[Piece], Awaitable[Mapping[RecordId, Due]]]
