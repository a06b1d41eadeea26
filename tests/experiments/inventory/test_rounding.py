"""Ten thousand random documents: by both rules of rounding, with prices with and without tax, discounts, parts and returns."""

from __future__ import annotations

import pytest

from tests.declarations.inventory.test_amounts import CHECKS, examine

DOCUMENTS = 5_000


@pytest.mark.parametrize("what", CHECKS)
def test_no_cent_is_lost_between_lines_sums_parts_and_returns(what: str) -> None:
    examine(what, DOCUMENTS)
