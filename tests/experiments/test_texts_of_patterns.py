"""Many texts for each pattern of the API, where the tests of every day try a few."""

from __future__ import annotations

import pytest

from tests.declarations.test_patterns import PATTERNS, check_texts


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_text_means_the_same_to_every_engine(pattern: str) -> None:
    check_texts(pattern, examples=200)
