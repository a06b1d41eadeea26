"""The amounts of orders against a model in fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from handlers.schema.errors import ValidationFailed
from handlers.schema.money import exact, store_money, store_price, store_quantity
from plugins.api.business import BY_DOCUMENT, ROUNDINGS, TAX_RATE_PLACES, compute_amounts, compute_part
from plugins.inventory.returns import choose_parts, describe_shares
from plugins.inventory.revised_lines import Settled, revise
from plugins.inventory.trades import PURCHASE

RATES = st.sampled_from(["0", "0.01", "0.06", "0.09", "0.13", "0.19", "0.08875", "0.333333", "1"])
LINES = st.lists(
    st.tuples(
        st.decimals("0.0001", "999.9999", places=4),
        st.decimals("0", "9999.999999", places=6),
        st.decimals("0", "1", places=4),
        RATES.map(Decimal),
        st.sampled_from([Decimal(1), Decimal(100), Decimal("0.5")]),
        st.integers(0, 3),
        st.sampled_from([None, True, False]),
    ),
    min_size=1,
    max_size=8,
)


def cents(amount: Fraction) -> int:
    """Whole cents, half a cent up."""
    return floor(amount * 100 + Fraction(1, 2))


def spread(amount: int, weights: Sequence[int]) -> list[int]:
    """The shares of whole cents by largest remainder."""
    shares = [Fraction(amount * weight, sum(weights) or 1) for weight in weights]
    given = [floor(share) for share in shares]
    for _ in range(amount - sum(given)):
        next_one = max(range(len(given)), key=lambda number: shares[number] - given[number])
        given[next_one] += 1
    return given


def values_of(lines: Sequence[Sequence[Any]]) -> list[int]:
    """What each line is worth in cents, before the discount of the order."""
    exactly = [[Fraction(one) for one in line[:5]] for line in lines]
    before = [cents(quantity * price * (1 - off) / per) for quantity, price, off, _, per in exactly]
    return [value - amount_off(value, line) for value, line in zip(before, lines, strict=True)]


def amount_off(value: int, line: Sequence[Any]) -> int:
    """The discount of a line in cents, of which a fourth to three fourths of its value are."""
    return value * int(line[5]) // 4


def model(lines: Sequence[Sequence[Any]], discount: int, with_tax: bool, rounding: str) -> list[tuple[int, int, int]]:
    """Net, tax and amount of each line in cents."""
    values = values_of(lines)
    left = [value - less for value, less in zip(values, spread(discount, values), strict=True)]
    inside = [with_tax if line[6] is None else bool(line[6]) for line in lines]
    taxes = [cents(tax_of(*one)) for one in zip(left, lines, inside, strict=True)]
    if rounding == BY_DOCUMENT:
        for group in {(line[3], within) for line, within in zip(lines, inside, strict=True)}:
            ours = [n for n, line in enumerate(lines) if (line[3], inside[n]) == group]
            tax = cents(tax_of(sum(left[n] for n in ours), lines[ours[0]], group[1]))
            for number, part in zip(ours, spread(tax, [left[n] for n in ours]), strict=True):
                taxes[number] = part
    return [
        (value - tax, tax, value) if within else (value, tax, value + tax)
        for value, tax, within in zip(left, taxes, inside, strict=True)
    ]


def tax_of(value: int, line: Sequence[Any], within: bool) -> Fraction:
    rate = Fraction(line[3])
    return Fraction(value, 100) * (rate / (1 + rate) if within else rate)


def stored(lines: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    made = []
    for line in lines:
        quantity, price, off, rate, per, _, included = line
        value = cents(Fraction(quantity) * Fraction(price) * (1 - Fraction(off)) / Fraction(per))
        made.append(
            {
                "quantity": store_quantity(quantity),
                "price": store_price(price, 6),
                "discount": store_quantity(off),
                "tax_rate": store_quantity(rate, TAX_RATE_PLACES),
                "price_per": store_quantity(per),
                "discount_amount": store_money(Decimal(amount_off(value, line)) / 100),
                "tax_included": included,
            }
        )
    return made


def in_cents(amount: Any) -> int:
    return int(exact(amount) * 100)


def check_amounts(lines: list[Any], part: Fraction, freight: int, with_tax: bool, rounding: str) -> None:
    """Fail where the lines or the sums of an order differ from the model, or the sums from the lines."""
    discount = floor(sum(values_of(lines)) * part)
    order = compute_amounts(
        stored(lines),
        {
            "prices_include_tax": with_tax,
            "order_discount": store_money(Decimal(discount) / 100),
            "freight": store_money(Decimal(freight) / 100),
        },
        rounding,
    )
    expected = model(lines, discount, with_tax, rounding)
    assert [tuple(in_cents(line[name]) for name in ("net", "tax", "amount")) for line in order["lines"]] == expected
    nets, taxes, amounts = (sum(column) for column in zip(*expected, strict=True))
    assert in_cents(order["amount"]) == amounts + freight
    assert (in_cents(order["net_amount"]), in_cents(order["tax_amount"])) == (nets + freight, taxes)


def check_parts(lines: list[Any], part: Fraction, with_tax: bool, cuts: list[Fraction]) -> None:
    """Fail where shipments of a line, or returns of a shipment, do not add up to the whole, to the cent."""
    discount = store_money(Decimal(floor(sum(values_of(lines)) * part)) / 100)
    order = compute_amounts(stored(lines), {"prices_include_tax": with_tax, "order_discount": discount})
    for line in order["lines"]:
        quantity = exact(line["quantity"])
        steps = [*sorted((quantity * cut.numerator / cut.denominator).quantize(quantity) for cut in cuts), quantity]
        for field in ("net", "amount"):
            sums = [compute_part(line, step, field) for step in (Decimal(0), *steps)]
            assert sums == sorted(sums)
            assert sums[-1] == exact(line[field])
        give_back({**line, "line": 1, "product_id": None, "cost": line["net"]}, steps)


def give_back(line: dict[str, Any], steps: Sequence[Decimal]) -> None:
    """Return the goods of a shipped line in these steps: nothing of its amount or cost is lost."""
    returns: list[dict[str, Any]] = []
    for before, after in pairwise([Decimal(0), *steps]):
        if after > before:
            shipment = {"lines": [{**line, "returned": store_quantity(before)}]}
            asked = [{"line": 1, "quantity": store_quantity(after - before)}]
            returns.append({"shares": describe_shares(choose_parts(shipment, asked, returns))})
    parts = [part for made in returns for part in made["shares"]]
    assert {name: sum(exact(part[name]) for part in parts) for name in ("amount", "cost")} == {
        name: exact(line[name]) for name in ("amount", "cost")
    }


def check_revisions(
    lines: list[Any],
    part: Fraction,
    with_tax: bool,
    factors: list[list[Fraction]],
    settled_of: list[bool],
    rounding: str,
) -> None:
    """Fail where a revised order is not the sum of its lines, or units of a settled line do not cost what they did."""
    discount = store_money(Decimal(floor(sum(values_of(lines)) * part)) / 100)
    made = [
        {**line, "line": number, "received": store_quantity(Decimal(0))} for number, line in enumerate(stored(lines), 1)
    ]
    terms: dict[str, Any] = {"prices_include_tax": with_tax, "order_discount": discount, "freight": None}
    first = {**terms, "tax_rounding": rounding, **compute_amounts(made, terms, rounding)}
    least = {
        line["line"]: Decimal(0)
        for line, is_settled in zip(made, [*settled_of, *[False] * 8], strict=False)
        if is_settled
    }
    settled, order = Settled(least, Decimal(0), freight=False), first
    for by in [*factors, [Fraction(1)] * len(lines)]:
        asked = [
            {**line, "quantity": _times(before["quantity"], factor, line["line"] not in least)}
            for line, before, factor in zip(order["lines"], first["lines"], [*by, *[Fraction(1)] * 8], strict=False)
        ]
        after = {**order, **revise(PURCHASE, order, {**order, "lines": asked}, settled)}
        for name, whole in (("net", "net_amount"), ("tax", "tax_amount"), ("amount", "amount")):
            assert sum(exact(line[name]) for line in after["lines"]) == exact(after[whole])
        for line, before in zip(after["lines"], order["lines"], strict=True):
            assert exact(line["net"]) + exact(line["tax"]) == exact(line["amount"]) >= 0
            assert compute_part(line, exact(line["quantity"])) == exact(line["amount"])
            for units in (exact(line["quantity"]) / 3, exact(before["quantity"]) / 7) if line["line"] in least else ():
                for name in ("net", "tax", "amount"):
                    assert compute_part(line, units, name) == compute_part(before, units, name)
        assert exact(after["order_discount"]) >= 0
        order = after
    for line, before in zip(order["lines"], first["lines"], strict=True):
        if line["line"] in least:
            assert [line[name] for name in _KEPT] == [before[name] for name in _KEPT]
    if least.keys() == {line["line"] for line in made}:
        assert [order[name] for name in ("amount", "order_discount")] == [
            first[name] for name in ("amount", "order_discount")
        ]


_KEPT = ("quantity", "discount_amount", "net", "tax", "amount")


def _times(quantity: Any, factor: Fraction, more: bool) -> Any:
    """So many times a quantity, above zero; where `more`, not less of it: discounts must not exceed the value."""
    by = max(factor, Fraction(1)) if more else factor
    changed = (exact(quantity) * by.numerator / by.denominator).quantize(Decimal("0.0001"))
    return store_quantity(max(changed, Decimal("0.0001")))


OF_DOCUMENTS = {"lines": LINES, "part": st.fractions(0, 1), "with_tax": st.booleans()}
CHECKS: dict[str, tuple[Callable[..., None], dict[str, st.SearchStrategy[Any]]]] = {
    "amounts": (check_amounts, {"freight": st.integers(0, 10_000), "rounding": st.sampled_from(ROUNDINGS)}),
    "parts": (check_parts, {"cuts": st.lists(st.fractions(0, 1), max_size=4)}),
    "revisions": (
        check_revisions,
        {
            "factors": st.lists(st.lists(st.fractions(0, 3), max_size=8), min_size=1, max_size=3),
            "settled_of": st.lists(st.booleans(), max_size=8),
            "rounding": st.sampled_from(ROUNDINGS),
        },
    ),
}


@pytest.mark.parametrize("what", CHECKS)
def test_amounts_and_parts_are_those_of_the_model(what: str) -> None:
    examine(what, 40)


def examine(what: str, documents: int) -> None:
    """Compare so many random documents with the model."""
    check, further = CHECKS[what]
    slow = [HealthCheck.too_slow]
    random = given(**OF_DOCUMENTS, **further)(check)
    settings(max_examples=documents, deadline=None, suppress_health_check=slow)(random)()


def test_lines_without_anything_new_cost_what_they_always_did() -> None:
    given = {"quantity": "7", "price": "2.35", "discount": "0.15", "tax_rate": None}
    (line,) = compute_amounts([given], {})["lines"]
    assert [compute_part(line, Decimal(quantity)) for quantity in (1, 3, 7)] == [
        Decimal("2.00"),
        Decimal("5.99"),
        Decimal("13.98"),
    ]


def test_parts_of_a_line_of_an_earlier_version_have_no_tax() -> None:
    line = {"quantity": "7", "price": "2.35", "discount": "0.15", "amount": "13.98"}
    assert [compute_part(line, Decimal(3), field) for field in ("amount", "net")] == [Decimal("5.99")] * 2


def test_a_discount_above_the_value_of_the_lines_is_refused() -> None:
    line = {"quantity": "1", "price": "9.99"}
    for lines, terms in (([line], {"order_discount": "10"}), ([{**line, "discount_amount": "10"}], {})):
        with pytest.raises(ValidationFailed):
            compute_amounts(lines, terms)


def test_the_tax_of_a_document_is_that_of_its_sum_or_that_of_its_lines() -> None:
    lines = [{"quantity": "1", "price": "0.05", "tax_rate": "0.13"}] * 3
    taxes = {rule: [exact(line["tax"]) for line in compute_amounts(lines, {}, rule)["lines"]] for rule in ROUNDINGS}
    assert taxes == {
        "document": [Decimal("0.01"), Decimal("0.01"), Decimal("0.00")],
        "line": [Decimal("0.01"), Decimal("0.01"), Decimal("0.01")],
    }


def test_more_than_was_ordered_of_a_line_that_is_worth_nothing_comes_to_nothing() -> None:
    line = {
        "quantity": store_quantity(Decimal(1)),
        "price": store_price(Decimal("0.0049"), 6),
        "amount": store_money(Decimal(0)),
    }
    assert compute_part(line, Decimal("1.1")) == 0
