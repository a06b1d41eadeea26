"""Reads that may come from a secondary: those of dashboards, where the settings spread them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_spread: ContextVar[bool] = ContextVar("spread reads", default=False)


@contextmanager
def reading_from_secondaries() -> Iterator[None]:
    """Let the aggregations of the block read from a secondary. What they read is no older than their beginning."""
    token = _spread.set(True)
    try:
        yield
    finally:
        _spread.reset(token)


def may_read_from_secondaries() -> bool:
    """Whether the caller runs in such a block."""
    return _spread.get()
