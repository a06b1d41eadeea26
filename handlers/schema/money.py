"""Exact amounts: Decimal128 in MongoDB, `Decimal` for calculations, and the one rounding function."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from bson import Decimal128

from handlers.schema.conversion import store_money, store_quantity

ZERO = Decimal(0)
_CENT = Decimal("0.01")
# wide enough that a product of two stored amounts is exact before it is rounded
_WIDE = Context(prec=60, rounding=ROUND_HALF_UP)


def exact(stored: Decimal128 | str | None) -> Decimal:
    """Convert a stored amount, or one from JSON, for calculations; None is zero."""
    if stored is None:
        return ZERO
    return stored.to_decimal() if isinstance(stored, Decimal128) else Decimal(stored)


def rounded(amount: Decimal) -> Decimal:
    """Round money to the cent, half a cent away from zero."""
    return amount.quantize(_CENT, context=_WIDE)


def times(quantity: Decimal, price: Decimal) -> Decimal:
    """The cost of `quantity` at `price`, rounded to the cent."""
    return rounded(_WIDE.multiply(quantity, price))


def share(amount: Decimal, part: Decimal, whole: Decimal) -> Decimal:
    """The share of `amount` for `part` of `whole`, rounded to the cent; the whole gets all of it."""
    if part == whole:
        return amount
    return rounded(_WIDE.divide(_WIDE.multiply(amount, part), whole))


__all__ = ["ZERO", "exact", "rounded", "share", "store_money", "store_quantity", "times"]
