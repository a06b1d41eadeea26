"""`exact` reads every stored amount as the library does."""

from __future__ import annotations

from decimal import Context, Decimal

import pytest
from bson import Decimal128
from hypothesis import given, strategies as st

from handlers.schema.money import exact

STORED = st.builds(
    Decimal128.from_bid, st.binary(min_size=16, max_size=16) | st.decimals().map(lambda d: stored(d).bid)
)


def stored(value: Decimal) -> Decimal128:
    """As MongoDB would round it."""
    return Decimal128(Context(prec=34, Emin=-6143, Emax=6144, clamp=1, traps=[]).create_decimal(value))


@given(STORED)
def test_it_is_the_same_number_with_the_same_places(amount: Decimal128) -> None:
    assert exact(amount).as_tuple() == amount.to_decimal().as_tuple()


@pytest.mark.parametrize(
    "text", ["0", "-0.00", "0.01", "-12345.67", "9999999999999.99", "1E+3", "1E-6176", "9" * 34, "NaN", "-Infinity"]
)
def test_it_keeps_the_places_of(text: str) -> None:
    assert str(exact(Decimal128(text))) == str(Decimal128(text).to_decimal())
