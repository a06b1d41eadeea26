"""Reads that may come from a secondary: those of dashboards, if the settings allow it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_spread: ContextVar[bool] = ContextVar("spread reads", default=False)


@contextmanager
def reading_from_secondaries() -> Iterator[None]:
    """Let the aggregations of the block read from a secondary. The data they read are no older than their start."""
    token = _spread.set(True)
    try:
        yield
    finally:
        _spread.reset(token)


def may_read_from_secondaries() -> bool:
    """Return whether the caller runs in a block of `reading_from_secondaries`."""
    return _spread.get()
