"""Why a write happens: the request that it belongs to, for the history of records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Cause(NamedTuple):
    """The id of a request, and its action where that is another one than to create, change or delete a record."""

    request_id: str | None = None
    action: str | None = None


CAUSE: ContextVar[Cause] = ContextVar("cause_of_writes", default=Cause())  # noqa: B039 - a tuple


@contextmanager
def caused_by(request_id: str, action: str) -> Iterator[None]:
    """Let the history say that the writes of the block are this action of a request: for work that outlives one."""
    token = CAUSE.set(Cause(request_id, action))
    try:
        yield
    finally:
        CAUSE.reset(token)
