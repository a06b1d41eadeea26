"""The amounts of an order and its lines. Nothing else computes them. The rules:

1. The value of a line is `quantity × price × (1 − discount)`, rounded to the cent, half a cent up.
2. `order_discount` is spread over the lines in proportion to their values, by largest remainder: each line gets its
   share rounded down to the cent, and the cents left over go one each to the lines with the largest remainders; if two
   remainders are equal, to the earlier line.
3. The remaining value of a line is its `net` if prices are without tax, or its `amount` if `prices_include_tax` is
   set. Its `tax` is `net × tax_rate`, or `amount × tax_rate ÷ (1 + tax_rate)`, rounded to the cent,
   half a cent up. Always `net + tax = amount`.
4. `amount` and `tax_amount` of an order are the sums of its lines; `freight`, which has no tax, is added to `amount`.
   `net_amount` is `amount` less `tax_amount`.
5. Some of the units of a line have a part of its amount in proportion to their value, rounded to the cent. The amount
   of a shipment is the difference between the parts that are shipped after and before it, so the shipments of a line
   add up to its amount. The first shipment also has the freight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import exact, invalid, store_money
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import share, times
from plugins.inventory.records import MAX_AMOUNT

Line = Mapping[str, Any]
TERMS = frozenset({"prices_include_tax", "order_discount", "freight"})
_ZERO, _MOST = Decimal(0), Decimal(MAX_AMOUNT)


def compute_amounts(lines: Sequence[Line], terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return `lines` with `net`, `tax` and `amount`, and `amount`, `net_amount` and `tax_amount` of their order.

    `terms` has the `TERMS` of the order. Raises 40001 for an `order_discount` above the value of the lines, and for
    amounts above `MAX_AMOUNT`.
    """
    values = [compute_value(line, exact(line["quantity"])) for line in lines]
    check_amounts(values, "price")
    discount, freight = exact(terms.get("order_discount")), exact(terms.get("freight"))
    if discount > sum(values):
        raise invalid("order_discount", "maximum")
    left = [value - part for value, part in zip(values, _share_out(discount, values), strict=True)]
    with_tax = bool(terms.get("prices_include_tax"))
    taxes = [_compute_tax(one, exact(line.get("tax_rate")), with_tax) for one, line in zip(left, lines, strict=True)]
    nets = [one - tax if with_tax else one for one, tax in zip(left, taxes, strict=True)]
    tax_amount, net_amount = sum(taxes, _ZERO), sum(nets, freight)
    check_amounts([net + tax for net, tax in zip(nets, taxes, strict=True)], "price")
    if net_amount + tax_amount > _MOST:
        raise invalid("lines", "maximum")
    return {
        "lines": [
            {**line, "net": store_money(net), "tax": store_money(tax), "amount": store_money(net + tax)}
            for line, net, tax in zip(lines, nets, taxes, strict=True)
        ],
        "amount": store_money(net_amount + tax_amount),
        "net_amount": store_money(net_amount),
        "tax_amount": store_money(tax_amount),
    }


def check_amounts(amounts: Sequence[Decimal], field: str) -> None:
    """Raise 40001 for `field` of each line whose amount exceeds `MAX_AMOUNT`."""
    faults = [
        FieldError(f"lines[{number}].{field}", "maximum") for number, amount in enumerate(amounts) if amount > _MOST
    ]
    if faults:
        raise ValidationFailed(faults)


def compute_value(line: Line, quantity: Decimal) -> Decimal:
    """Return the price of `quantity` units of a line after the discount of the line."""
    return times(quantity, exact(line["price"]) * (1 - exact(line.get("discount"))))


def compute_part(line: Line, quantity: Decimal, field: str = "amount") -> Decimal:
    """Return the part of `quantity` units in the `amount` of a line, or in another of its sums, named by `field`."""
    # lines that an earlier version stored have no `net`
    whole = line["amount"] if line.get(field) is None else line[field]
    return share(exact(whole), compute_value(line, quantity), compute_value(line, exact(line["quantity"])))


def _compute_tax(amount: Decimal, rate: Decimal, with_tax: bool) -> Decimal:
    return share(amount, rate, 1 + rate) if with_tax else times(amount, rate)


def _share_out(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Return the share of `amount` for each weight, by largest remainder. The shares add up to the amount."""
    cents, parts = int(amount.scaleb(2)), [int(weight.scaleb(2)) for weight in weights]
    if not cents:
        return [_ZERO] * len(parts)
    whole = sum(parts)
    shares = [cents * part // whole for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda number: -(cents * parts[number] % whole))
    for number in by_remainder[: cents - sum(shares)]:
        shares[number] += 1
    return [Decimal(one).scaleb(-2) for one in shares]
