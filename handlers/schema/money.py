"""Exact amounts: Decimal128 as it is stored, `Decimal` to reckon with, and the one rounding function (CONTRACT 1)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from bson import Decimal128

from handlers.schema.conversion import store_money, store_quantity

ZERO = Decimal(0)
_CENT = Decimal("0.01")
# wide enough that a product of two stored amounts is exact before it is rounded
_WIDE = Context(prec=60, rounding=ROUND_HALF_UP)


def exact(stored: Decimal128 | str | None) -> Decimal:
    """A stored amount, or one as it is on the wire, to reckon with; nothing is zero."""
    if stored is None:
        return ZERO
    return stored.to_decimal() if isinstance(stored, Decimal128) else Decimal(stored)


def rounded(amount: Decimal) -> Decimal:
    """Money to the cent, half a cent away from zero."""
    return amount.quantize(_CENT, context=_WIDE)


def times(quantity: Decimal, price: Decimal) -> Decimal:
    """What `quantity` costs at `price`, to the cent."""
    return rounded(_WIDE.multiply(quantity, price))


def share(amount: Decimal, part: Decimal, whole: Decimal) -> Decimal:
    """The cents of `amount` that fall to `part` of `whole`; the whole gets all of it."""
    if part == whole:
        return amount
    return rounded(_WIDE.divide(_WIDE.multiply(amount, part), whole))


__all__ = ["ZERO", "exact", "rounded", "share", "store_money", "store_quantity", "times"]
