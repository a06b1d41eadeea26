"""The rounding rules of orders, in fractions: an independent reading of the documentation of the API."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

ZERO = Decimal(0)
Row = Mapping[str, Any]


def cents(amount: Fraction) -> Decimal:
    """The amount to the cent, half a cent up."""
    return Decimal(math.floor(amount * 100 + Fraction(1, 2))).scaleb(-2)


def share(amount: Decimal, some: Decimal, whole: Decimal) -> Decimal:
    """What `some` of the `whole` has of an amount."""
    return amount if some == whole else cents(Fraction(amount) * Fraction(some) / Fraction(whole))


def value(line: Row, quantity: Decimal) -> Decimal:
    """What a quantity of a line is worth before tax and the discount of the order."""
    return cents(Fraction(quantity * line["price"] * (1 - line["discount"])))


def share_out(amount: Decimal, values: Sequence[Decimal]) -> list[Decimal]:
    """The shares of an amount by largest remainder."""
    whole = [Fraction(amount * one * 100) / Fraction(sum(values)) for one in values]
    up = sorted(range(len(values)), key=lambda n: math.floor(whole[n]) - whole[n])
    up = up[: int(amount * 100) - sum(map(math.floor, whole))]
    return [Decimal(math.floor(one) + (n in up)).scaleb(-2) for n, one in enumerate(whole)]


def price(lines: Sequence[Row], with_tax: bool, discount: Decimal) -> list[Row]:
    """The lines of an order with `net` and `amount`; nothing is `done` of them."""
    values, priced = [value(line, line["quantity"]) for line in lines], []
    left = [before - off for before, off in zip(values, share_out(discount, values), strict=True)]
    for line, value_left, tax in zip(lines, left, taxes(lines, left, with_tax), strict=True):
        net = value_left - tax if with_tax else value_left
        agreed = {
            "quantity": line["quantity"],
            "net": net,
            "tax": tax,
            "amount": net + tax,
            "share": value(line, line["quantity"]) - value_left,
        }
        priced.append({**line, "net": net, "amount": net + tax, "agreed": agreed, "done": ZERO, "ended": False})
    return priced


def part(line: Row, name: str, units: Decimal) -> Decimal:
    """What some units of a line of an order have of its `net`, `tax` or `amount`, as it was agreed when nothing was settled."""
    agreed = line["agreed"]
    return share(agreed[name], value(line, units), value(line, agreed["quantity"]))


def rescale(line: Row, quantity: Decimal) -> Row:
    """A line with another quantity whose units cost what they did."""
    amount = part(line, "amount", quantity)
    return {**line, "quantity": quantity, "net": amount - part(line, "tax", quantity), "amount": amount, "ended": False}


def taxes(lines: Sequence[Row], left: Sequence[Decimal], with_tax: bool) -> list[Decimal]:
    """The tax of each line: that of the sum of all lines with its rate, by largest remainder."""
    found = [ZERO] * len(lines)
    for rate in {line["rate"] for line in lines}:
        ours = [n for n, line in enumerate(lines) if line["rate"] == rate]
        parts = [left[n] for n in ours]
        tax = cents(Fraction(sum(parts)) * Fraction(rate) / (1 + Fraction(rate) if with_tax else 1))
        for n, part in zip(ours, share_out(tax, parts), strict=True):
            found[n] = part
    return found


def least_from(day: str, changes: Iterable[tuple[str, Decimal]]) -> Decimal:
    """The least that changes add up to at the end of a day or of a later one."""
    dated = list(changes)
    days = {day, *(one for one, _ in dated if one > day)}
    return min(sum((change for on, change in dated if on <= one), ZERO) for one in days)
