"""The amounts of orders against a model in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from handlers.schema.errors import ValidationFailed
from handlers.schema.money import exact, store_money, store_quantity
from plugins.inventory.amounts import compute_amounts, compute_part

RATES = st.sampled_from(["0", "0.01", "0.06", "0.09", "0.13", "0.19", "0.3333", "1"])
LINES = st.lists(
    st.tuples(
        st.decimals("0.0001", "999.9999", places=4),
        st.decimals("0", "9999.99", places=2),
        st.decimals("0", "1", places=4),
        RATES.map(Decimal),
    ),
    min_size=1,
    max_size=8,
)


def cents(amount: Fraction) -> int:
    """Whole cents, half a cent up."""
    return floor(amount * 100 + Fraction(1, 2))


def model(lines: Sequence[Sequence[Decimal]], discount: int, with_tax: bool) -> list[tuple[int, int, int]]:
    """Net, tax and amount of each line in cents, from quantity, price, discount and tax rate."""
    exactly = [[Fraction(one) for one in line] for line in lines]
    values = [cents(quantity * price * (1 - off)) for quantity, price, off, _ in exactly]
    shares = [Fraction(discount * value, sum(values) or 1) for value in values]
    given = [floor(share) for share in shares]
    for _ in range(discount - sum(given)):
        next_one = max(range(len(given)), key=lambda number: shares[number] - given[number])
        given[next_one] += 1
    sums = []
    for value, less, (_, _, _, rate) in zip(values, given, exactly, strict=True):
        left = value - less
        tax = cents(Fraction(left, 100) * (rate / (1 + rate) if with_tax else rate))
        sums.append((left - tax, tax, left) if with_tax else (left, tax, left + tax))
    return sums


def stored(lines: Sequence[Sequence[Decimal]]) -> list[dict[str, Any]]:
    return [
        {
            "quantity": store_quantity(quantity),
            "price": store_money(price),
            "discount": store_quantity(off),
            "tax_rate": store_quantity(rate),
        }
        for quantity, price, off, rate in lines
    ]


def in_cents(amount: Any) -> int:
    return int(exact(amount) * 100)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=LINES, part=st.fractions(0, 1), freight=st.integers(0, 10_000), with_tax=st.booleans())
def test_amounts_are_those_of_the_model(lines: list[Any], part: Fraction, freight: int, with_tax: bool) -> None:
    whole = sum(cents(Fraction(quantity) * Fraction(price) * (1 - Fraction(off))) for quantity, price, off, _ in lines)
    discount = floor(whole * part)
    order = compute_amounts(
        stored(lines),
        {
            "prices_include_tax": with_tax,
            "order_discount": store_money(Decimal(discount) / 100),
            "freight": store_money(Decimal(freight) / 100),
        },
    )
    expected = model(lines, discount, with_tax)
    assert [tuple(in_cents(line[name]) for name in ("net", "tax", "amount")) for line in order["lines"]] == expected
    nets, taxes, amounts = (sum(column) for column in zip(*expected, strict=True))
    assert in_cents(order["amount"]) == amounts + freight
    assert (in_cents(order["net_amount"]), in_cents(order["tax_amount"])) == (nets + freight, taxes)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=LINES, part=st.fractions(0, 1), with_tax=st.booleans(), cuts=st.lists(st.fractions(0, 1), max_size=4))
def test_the_parts_of_a_line_never_shrink_and_end_at_the_line(
    lines: list[Any], part: Fraction, with_tax: bool, cuts: list[Fraction]
) -> None:
    values = stored(lines)
    whole = in_cents(compute_amounts(values, {})["net_amount"])
    terms = {"prices_include_tax": with_tax, "order_discount": store_money(Decimal(floor(whole * part)) / 100)}
    order = compute_amounts(values, terms)
    for line in order["lines"]:
        quantity = exact(line["quantity"])
        steps = [*sorted((quantity * cut.numerator / cut.denominator).quantize(quantity) for cut in cuts), quantity]
        for field in ("net", "amount"):
            sums = [compute_part(line, step, field) for step in (Decimal(0), *steps)]
            assert sums == sorted(sums)
            assert sums[-1] == exact(line[field])


def test_lines_without_anything_new_cost_what_they_always_did() -> None:
    (line,) = compute_amounts(stored([(Decimal(7), Decimal("2.35"), Decimal("0.15"), Decimal(0))]), {})["lines"]
    assert [compute_part(line, Decimal(quantity)) for quantity in (1, 3, 7)] == [
        Decimal("2.00"),
        Decimal("5.99"),
        Decimal("13.98"),
    ]


def test_parts_of_a_line_of_an_earlier_version_have_no_tax() -> None:
    line = {"quantity": "7", "price": "2.35", "discount": "0.15", "amount": "13.98"}
    assert [compute_part(line, Decimal(3), field) for field in ("amount", "net")] == [Decimal("5.99")] * 2


def test_a_discount_above_the_value_of_the_lines_is_refused() -> None:
    line = stored([(Decimal(1), Decimal("9.99"), Decimal(0), Decimal(0))])
    with pytest.raises(ValidationFailed):
        compute_amounts(line, {"order_discount": store_money(Decimal(10))})
