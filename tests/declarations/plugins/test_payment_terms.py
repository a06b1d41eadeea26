"""Terms of payment as functions: days at the end of months, and parts that add up."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from plugins.api import store_money
from plugins.api.business import PaymentTerms

HUNDRED = 1_000_000  # in the smallest steps of a percent, of which it has four decimals
AMOUNTS = st.integers(0, 10**15).map(lambda cents: Decimal(cents).scaleb(-2))


@st.composite
def instalments(draw: st.DrawFn) -> list[dict[str, object]]:
    """Up to twelve percents with four decimals that are 100 in all, each after some days."""
    cuts = sorted(draw(st.sets(st.integers(100, HUNDRED - 100), max_size=11)))
    ends = [0, *cuts, HUNDRED]
    percents = [str(Decimal(end - start).scaleb(-4)) for start, end in pairwise(ends)]
    return [{"percent": one, "days": draw(st.integers(0, 90))} for one in percents]


@given(AMOUNTS, instalments())
def test_the_parts_of_an_amount_add_up_to_it_and_none_is_a_cent_off(
    amount: Decimal, parts: list[dict[str, object]]
) -> None:
    due = PaymentTerms(instalments=parts).split("2026-01-31", amount)
    assert sum(due.values()) == amount
    for day, part in due.items():
        of_day = [
            one for one in parts if PaymentTerms(terms_days=int(str(one["days"]))).find_due_day("2026-01-31") == day
        ]
        exactly = amount * sum((Decimal(str(one["percent"])) for one in of_day), Decimal(0)) / 100
        assert abs(part - exactly) < Decimal("0.01") * len(of_day)


@pytest.mark.parametrize(
    ("day", "days", "due_on"),
    [
        ("2023-12-15", 60, "2024-02-29"),
        ("2023-12-31", 1, "2024-01-01"),
        ("2024-02-01", 0, "2024-02-29"),
        ("2025-02-28", 30, "2025-03-30"),
        ("2026-01-31", 30, "2026-03-02"),
    ],
)
def test_terms_from_the_end_of_the_month_count_from_its_last_day(day: str, days: int, due_on: str) -> None:
    assert PaymentTerms(terms_days=days, terms_from="month_end").find_due_day(day) == due_on


def test_a_cash_discount_is_rounded_half_a_cent_up_and_holds_until_the_due_day_unless_it_says() -> None:
    offer = PaymentTerms(discount_percent="2", discount_days=10)
    assert offer.count_discount("2024-02-20", Decimal("0.25"), "2024-04-01") == {
        "discount_until": "2024-03-01",
        "discount_amount": store_money(Decimal("0.01")),
    }
    without_days = PaymentTerms(discount_percent="2")
    assert without_days.count_discount("2024-02-20", Decimal(1), "2024-04-01")["discount_until"] == "2024-04-01"
    assert without_days.count_discount("2024-02-20", Decimal(1), None)["discount_until"] is None
