"""The terms of payment: how many days after a delivery, a receipt or an invoice it is to be paid."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Unpack

from handlers.schema.fields import Field, FieldOptions, integer

_MOST_DAYS = 3650


def payment_terms(**options: Unpack[FieldOptions]) -> Field:
    """The days that somebody has to pay; null: not agreed."""
    return integer(
        **{"label": ("账期天数", "Payment terms in days"), "example": 30, **options}, minimum=0, maximum=_MOST_DAYS
    )


def due_after(day: str, terms_days: int) -> str:
    """The day so many days after another one."""
    return (date.fromisoformat(day) + timedelta(days=terms_days)).isoformat()
