"""The amounts of an order, an invoice and their lines. Nothing else computes them. The rules:

1. The value of a line is `quantity × price ÷ price_per × (1 − discount)`, rounded to the cent, half a cent up, less its
   `discount_amount`. A line of text is worth nothing.
2. `order_discount` is spread over the lines in proportion to their values, by largest remainder: each line gets its
   share rounded down to the cent, and the cents left over go one each to the lines with the largest remainders; if two
   remainders are equal, to the earlier line.
3. The remaining value of a line is its `net` if its price is without tax, or its `amount` if it includes tax: as the
   record of its tax says, or else `prices_include_tax` of the order. Always `net + tax = amount`.
4. Tax is `net × tax_rate`, or `amount × tax_rate ÷ (1 + tax_rate)`. By the rule `document` it is computed of the sum of all
   lines with the same tax, rounded to the cent, half a cent up, and spread over these lines as the order's discount is:
   the tax of a document is then that of its sums. By the rule `line` the tax of each line is rounded.
5. `amount` and `tax_amount` of an order are the sums of its lines; `freight`, which has no tax, is added to `amount`.
   `net_amount` is `amount` less `tax_amount`.
6. Some of the units of a line have a part of its amount in proportion to their value, rounded to the cent. The amount
   of a shipment is the difference between the parts that are shipped after and before it, so the shipments of a line
   add up to its amount. The first shipment also has the freight. If the quantity of a line is revised after some of it
   was shipped or invoiced, its units have their parts of what was `agreed` at first, so that no earlier part changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from handlers.schema.errors import FieldError, ValidationFailed, invalid
from handlers.schema.money import exact, share, store_money, times
from plugins.business.lines import MAX_AMOUNT

Line = Mapping[str, Any]
TERMS = frozenset({"prices_include_tax", "order_discount", "freight"})
BY_DOCUMENT, BY_LINE = ROUNDINGS = ("document", "line")  # what the tax is rounded of
_ZERO, _ONE, _MOST = Decimal(0), Decimal(1), Decimal(MAX_AMOUNT)


def compute_amounts(lines: Sequence[Line], terms: Mapping[str, Any], rounding: str = BY_DOCUMENT) -> dict[str, Any]:
    """Return `lines` with `net`, `tax` and `amount`, and `amount`, `net_amount` and `tax_amount` of their order.

    `terms` has the `TERMS` of the order; `rounding` is `BY_DOCUMENT` or `BY_LINE`. Raises 40001 for a discount above the
    value of a line or of all lines, and for amounts above `MAX_AMOUNT`.
    """
    values = [_compute_discounted(line) for line in lines]
    check_amounts(values, "price")
    _refuse("discount_amount", [value < 0 for value in values])
    discount, freight = exact(terms.get("order_discount")), exact(terms.get("freight"))
    if discount > sum(values):
        raise invalid("order_discount", "maximum")
    left = [value - part for value, part in zip(values, share_out(discount, values), strict=True)]
    within = [includes_tax(line, terms) for line in lines]
    taxes = _compute_taxes(lines, left, within, rounding)
    nets = [one - tax if inside else one for one, tax, inside in zip(left, taxes, within, strict=True)]
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
    _refuse(field, [amount > _MOST for amount in amounts])


def _refuse(field: str, excessive: Sequence[bool]) -> None:
    faults = [FieldError(f"lines[{number}].{field}", "maximum") for number, wrong in enumerate(excessive) if wrong]
    if faults:
        raise ValidationFailed(faults)


def includes_tax(line: Line, terms: Mapping[str, Any]) -> bool:
    """Return whether the price of a line includes tax: as its tax says, or else as the order does."""
    own = line.get("tax_included")
    return bool(terms.get("prices_include_tax") if own is None else own)


def compute_value(line: Line, quantity: Decimal) -> Decimal:
    """Return the price of `quantity` units of a line after its rate of discount, and before its `discount_amount`."""
    per = line.get("price_per")
    price = exact(line["price"]) * (1 - exact(line.get("discount")))
    return times(quantity, price, _ONE if per is None else exact(per))


def _compute_discounted(line: Line) -> Decimal:
    return compute_value(line, exact(line["quantity"])) - exact(line.get("discount_amount"))


def compute_part(line: Line, quantity: Decimal, field: str = "amount") -> Decimal:
    """Return the part of `quantity` units in the `amount` of a line, or in another of its sums, named by `field`."""
    sums = line.get("agreed") or line
    # lines that an earlier version stored have no `net`
    whole, ordered = exact(sums["amount"] if sums.get(field) is None else sums[field]), exact(sums["quantity"])
    value = compute_value(line, ordered)
    # the value of few units of a low price is nothing
    return share(whole, compute_value(line, quantity), value) if value else share(whole, quantity, ordered)


def _compute_taxes(
    lines: Sequence[Line], amounts: Sequence[Decimal], within: Sequence[bool], rounding: str
) -> list[Decimal]:
    """Return the tax of each line, of which `amounts` are left; `within`: whether its tax is part of that."""
    rates = [exact(line.get("tax_rate")) for line in lines]
    if rounding == BY_LINE:
        return [_compute_tax(*one) for one in zip(amounts, rates, within, strict=True)]
    same_tax: defaultdict[tuple[Any, Decimal, bool], list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        same_tax[line.get("tax_id"), rates[number], within[number]].append(number)
    taxes = [_ZERO] * len(lines)
    for (_, rate, inside), numbers in same_tax.items():
        parts = [amounts[number] for number in numbers]
        tax = _compute_tax(sum(parts, _ZERO), rate, inside)
        for number, part in zip(numbers, share_out(tax, parts), strict=True):
            taxes[number] = part
    return taxes


def _compute_tax(amount: Decimal, rate: Decimal, within: bool) -> Decimal:
    return share(amount, rate, 1 + rate) if within else times(amount, rate)


def share_out(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
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
