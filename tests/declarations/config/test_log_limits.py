"""Lines that repeat: so many are logged, the others are counted and summed up; other lines are not held up by them."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator

import pytest

from config import log_limits
from config.log_limits import LineLimit, RepeatedWarnings

MOST = log_limits._MOST_WARNINGS


@pytest.fixture
def lines() -> Iterator[tuple[logging.Logger, list[logging.LogRecord]]]:
    """A logger whose lines pass the filter, and what was logged."""
    logged: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = logged.append  # type: ignore[method-assign]  # the handler of this test alone
    handler.addFilter(RepeatedWarnings())
    root = logging.getLogger()
    root.addHandler(handler)
    yield logging.getLogger("probe.repeated"), logged
    root.removeHandler(handler)
    for one in handler.filters:
        assert isinstance(one, RepeatedWarnings)
        one.limit.sum_up()


def sum_up(lines: tuple[logging.Logger, list[logging.LogRecord]]) -> list[tuple[object, object, object]]:
    """What the filter tells of lines that were left out."""
    (handler,) = (
        one for one in logging.getLogger().handlers if any(isinstance(f, RepeatedWarnings) for f in one.filters)
    )
    for one in handler.filters:
        if isinstance(one, RepeatedWarnings):
            one.limit.sum_up()
    return [
        (one.__dict__["of"], one.__dict__["line"], one.__dict__["count"])
        for one in lines[1]
        if one.name == "tradewind.logs"
    ]


def test_a_warning_that_repeats_is_counted_and_summed_up(
    lines: tuple[logging.Logger, list[logging.LogRecord]],
) -> None:
    log, logged = lines
    for number in range(MOST + 30):
        log.warning("back end out of reach", extra={"reason": f"reason {number}"})
    assert len(logged) == MOST
    assert sum_up(lines) == [("probe.repeated", "back end out of reach", 30)]


def test_other_lines_are_logged_meanwhile(lines: tuple[logging.Logger, list[logging.LogRecord]]) -> None:
    log, logged = lines
    log.setLevel(logging.INFO)
    for _ in range(MOST + 1):
        log.warning("one")
    log.error("another")
    log.info("a third")
    assert [record.msg for record in logged[MOST:]] == ["another", "a third"]


def test_after_the_window_lines_are_logged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    limit = LineLimit(lambda key, count: None)
    assert [limit.admits("a", 2) for _ in range(3)] == [True, True, False]
    now += 10.0
    assert limit.admits("a", 2)
    limit.sum_up()


def test_keys_that_are_made_up_take_no_memory() -> None:
    told: dict[Hashable, int] = {}
    limit = LineLimit(lambda key, count: told.__setitem__(key, count))
    for number in range(5000):
        limit.admits(number, 1)
    assert len(limit._seen) <= log_limits._MOST_KEYS + 1
    limit.sum_up()
    assert told == {"other": 5000 - log_limits._MOST_KEYS - 1}
