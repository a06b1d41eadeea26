"""Ten thousand random documents: by both rules of rounding, with prices with and without tax, discounts, parts and returns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.declarations.inventory.test_amounts import check_amounts, check_parts, examine

DOCUMENTS = 5_000


@pytest.mark.parametrize("check", [check_amounts, check_parts])
def test_no_cent_is_lost_between_lines_sums_parts_and_returns(check: Callable[[], None]) -> None:
    examine(check, DOCUMENTS)
