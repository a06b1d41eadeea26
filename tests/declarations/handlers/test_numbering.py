"""Formats of numbers: which there can be, and that no two numbers of a format are equal."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from handlers.catalogue.numbering import MAX_NUMBER, Numbering, format_number
from handlers.schema.messages import Message

NOUN = Message("单据", "document")
BAD = [
    "",
    "SO",
    "SO-{seq}",
    "SO-{seq:0}",
    "SO-{seq:10}",
    "{seq:4}{seq:4}",
    "{MM}-{seq:4}",
    "{yyyy}{dd}-{seq:4}",
    "{hh}-{seq:4}",
    "{yyyy-{seq:4}",
    "SO {seq:4}",
    "SO\n{seq:4}",
    "twelve-chars-{seq:4}",
    "{prefix}{prefix}{prefix}{prefix}{seq:4}",
]
DATES = st.sampled_from(["", "{yyyy}", "{yy}", "{yyyy}{MM}", "{yy}{MM}", "{yyyy}{MM}{dd}", "{dd}{MM}{yy}"])
FORMATS = st.builds(
    lambda prefix, date, between, width, date_first: (
        prefix + "".join([date, between] if date_first else []) + f"{{seq:{width}}}" + ("" if date_first else date)
    ),
    st.sampled_from(["", "{prefix}", "{prefix}-", "销字"]),
    DATES,
    st.sampled_from(["", "-", "〕第", "7"]),
    st.integers(1, 9),
    st.booleans(),
)
TAKEN = st.tuples(st.dates(date(2000, 1, 1), date(2099, 12, 31)), st.integers(1, 10**9 - 1))


def numbers(format: str) -> Numbering:
    return Numbering("test_number", NOUN, "TE", "test", format)


@pytest.mark.parametrize("format", BAD)
def test_what_is_no_format_is_refused_at_the_declaration(format: str) -> None:
    with pytest.raises(ValueError, match="test_number"):
        numbers(format)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FORMATS, TAKEN, TAKEN)
def test_numbers_of_a_format_differ_and_fit_their_field(
    format: str, one: tuple[date, int], other: tuple[date, int]
) -> None:
    numbering = numbers(format)
    made = {(numbering.count_by(format, compact(day)), sequence) for day, sequence in (one, other)}
    shown = {format_number(format, numbering.prefix, compact(day), sequence) for day, sequence in (one, other)}
    assert len(shown) == len(made)
    assert max(map(len, shown)) <= MAX_NUMBER


def compact(day: date) -> str:
    return day.isoformat().replace("-", "")


@pytest.mark.parametrize(
    ("format", "days_apart", "same"),
    [("{seq:4}", 1000, True), ("{yy}-{seq:4}", 20, True), ("{yy}-{seq:4}", 40, False), ("{yy}{MM}{seq:4}", 40, False)],
)
def test_the_sequence_starts_again_with_the_most_specific_part_of_the_date(
    format: str, days_apart: int, same: bool
) -> None:
    day = date(2026, 12, 5)
    counters = {numbers(format).count_by(format, compact(one)) for one in (day, day + timedelta(days=days_apart))}
    assert (len(counters) == 1) is same
