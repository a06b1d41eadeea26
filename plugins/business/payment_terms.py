"""The terms of payment: how many days after a delivery, a receipt or an invoice payment is due."""

from __future__ import annotations

from datetime import date, timedelta

from handlers.schema.fields import Field, integer

_MOST_DAYS = 3650


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


def due_after(day: str, terms_days: int) -> str:
    """Return the day that comes `terms_days` after `day`."""
    return (date.fromisoformat(day) + timedelta(days=terms_days)).isoformat()
