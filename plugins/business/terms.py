"""Terms of payment: when what a document comes to is due, in which parts, and what is off for who pays early.

Customers and suppliers have them, and a document copies those of its party when it is entered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from handlers.reports.periods import end_of_month
from handlers.schema.fields import Field, HasSettings, array, choice, day, integer, money, obj, quantity
from handlers.schema.money import exact, store_money, times
from handlers.schema.values import ReadOnlyRecord, Record
from plugins.business.amounts import share_out

_MOST_DAYS = 3650
_MOST_INSTALMENTS = 12
_ZERO, _WHOLE = Decimal(0), Decimal(100)
_MONTH_END = "month_end"
TERMS_FROM: Mapping[str, tuple[str, str]] = {
    "document": ("单据日期", "Date of the document"),
    _MONTH_END: ("月结（当月末）", "End of its month"),
}

# how forms show what few agree on
FURTHER_TERMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("月结、分期与现金折扣", "Month end, instalments, cash discount"): (
        *("terms_from", "instalments", "discount_percent", "discount_days"),
    )
}


def payment_terms(*, description: str | None = None, read_only: bool = False) -> Field:
    """Return the field with the days within which somebody has to pay; null: not agreed."""
    return integer(
        label=("账期天数", "Payment terms in days"),
        minimum=0,
        maximum=_MOST_DAYS,
        example=30,
        read_only=read_only,
        description=description,
    )


def _check_percents(_: HasSettings, instalments: Any) -> str | None:
    """Return the rule that instalments break whose percents are not 100 in all."""
    try:
        whole = sum(Decimal(str(one["percent"])) for one in instalments)
    except (ArithmeticError, KeyError, TypeError, ValueError):  # the schema says what is wrong
        return None
    return None if whole == _WHOLE else "invalid"


def terms_fields(*, days: str) -> dict[str, Field]:
    """Return the fields with the terms of a customer, a supplier or a document; `days` describes `terms_days`."""
    instalment = {
        "percent": quantity(
            label=("比例（%）", "Percent"), minimum="0.01", maximum="100", required=True, nullable=False, example="100"
        ),
        "days": integer(
            label=("天数", "Days"), minimum=0, maximum=_MOST_DAYS, required=True, nullable=False, example=30
        ),
    }
    return {
        "terms_days": payment_terms(description=days),
        "terms_from": choice(
            *TERMS_FROM,
            label=("账期起算日", "Days count from"),
            description="`document`: the day of the document; `month_end`: the last day of its month. Null: `document`.",
        ),
        "instalments": array(
            obj("Instalment", instalment),
            label=("分期付款", "Instalments"),
            min_items=1,
            max_items=_MOST_INSTALMENTS,
            check=_check_percents,
            description="Instead of `terms_days`: which percent is due after how many days, 100 in all.",
        ),
        "discount_percent": quantity(
            label=("现金折扣（%）", "Cash discount (%)"),
            minimum="0.01",
            maximum="100",
            description="Off the total, with tax, for who pays early.",
            example="2",
        ),
        "discount_days": integer(
            label=("折扣期限（天）", "Discount days"),
            minimum=0,
            maximum=_MOST_DAYS,
            description="Within how many days of the day of the invoice the discount holds; until it is due unless given.",
            example=10,
        ),
    }


def discount_fields() -> dict[str, Field]:
    """Return the fields with the cash discount of an invoice, which its terms offer."""
    return {
        "discount_until": day(
            label=("现金折扣截止日", "Cash discount until"),
            read_only=True,
            description="Until when its payment has the discount; null: none is offered.",
        ),
        "discount_amount": money(
            label=("现金折扣金额", "Cash discount"),
            read_only=True,
            description="What is off until then. Whoever takes it enters an adjustment of the kind `cash_discount`.",
        ),
    }


def due_after(day: str, terms_days: int) -> str:
    """Return the day that comes `terms_days` after `day`."""
    return (date.fromisoformat(day) + timedelta(days=terms_days)).isoformat()


@dataclass(frozen=True)
class PaymentTerms:
    """The terms of a customer, a supplier or a document, by the names of their fields; None: not agreed."""

    terms_days: int | None = None
    terms_from: str | None = None
    instalments: Sequence[Mapping[str, Any]] | None = None
    discount_percent: Any = None
    discount_days: int | None = None

    @classmethod
    def of(cls, record: ReadOnlyRecord) -> PaymentTerms:
        """Return the terms of a record; records of earlier versions lack some of the fields."""
        return cls(**{one.name: record.get(one.name) for one in fields(cls)})

    def split(self, day: str, amount: Decimal) -> dict[str, Decimal]:
        """Return the parts of an amount of a document of this day, by the days on which they are due.

        They add up to the amount, to the cent; without terms there are none.
        """
        start = end_of_month(date.fromisoformat(day)).isoformat() if self.terms_from == _MONTH_END else day
        only = [] if self.terms_days is None else [{"percent": _WHOLE, "days": self.terms_days}]
        parts = sorted(self.instalments or only, key=lambda one: one["days"])
        # percents have four decimals, and weights two
        shares = share_out(amount, [exact(one["percent"]) * 100 for one in parts])
        due: dict[str, Decimal] = {}
        for one, share in zip(parts, shares, strict=True):
            on = due_after(start, one["days"])
            due[on] = due.get(on, _ZERO) + share
        return due

    def find_due_day(self, day: str) -> str | None:
        """Return by which day all of a document of this day is due, or None without terms."""
        return max(self.split(day, _ZERO), default=None)

    def count_discount(self, day: str | None, total: Decimal, due_on: str | None) -> Record:
        """Return `discount_until` and `discount_amount` of an invoice of this day, which is due on `due_on`."""
        until = due_on if self.discount_days is None or day is None else due_after(day, self.discount_days)
        if self.discount_percent is None or until is None:
            return {"discount_until": None, "discount_amount": None}
        off = times(total, exact(self.discount_percent), _WHOLE)
        return {"discount_until": until, "discount_amount": store_money(off)}


def copy_terms(agreed: PaymentTerms, given: ReadOnlyRecord) -> Record:
    """Return the terms that a document takes: those which the body has, and of what it does not mention those agreed.

    Who says when it is due says all of that, and so does who says which discount there is.
    """
    kept = {**vars(agreed)}
    if not given.keys().isdisjoint({"terms_days", "instalments"}):
        kept |= dict.fromkeys(("terms_days", "terms_from", "instalments"))
    if "discount_percent" in given:
        kept["discount_days"] = None
    return {name: given.get(name, value) for name, value in kept.items()}


def replace_terms(body: ReadOnlyRecord) -> Record:
    """Return the values of a change of a document; `terms_days` without instalments replaces those that it had."""
    return {**({"instalments": None} if body.get("terms_days") is not None else {}), **body}


def schedule_of(due: Mapping[str, Decimal]) -> list[Record] | None:
    """Return the `schedule` of an open item with these parts by day, none of them paid; None if they are one or none."""
    parts = [{"due_on": day, "amount": store_money(due[day]), "paid": store_money(_ZERO)} for day in sorted(due)]
    return parts if len(parts) > 1 else None
