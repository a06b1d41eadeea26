"""The cause of a write: the request that it belongs to, for the history of records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Cause(NamedTuple):
    """The id of a request, and the name of its action if that is not simply to create, change or delete a record."""

    request_id: str | None = None
    action: str | None = None


CAUSE: ContextVar[Cause] = ContextVar("cause_of_writes", default=Cause())  # noqa: B039 - a tuple


@contextmanager
def caused_by(request_id: str, action: str) -> Iterator[None]:
    """Attribute the writes within the block to this action of a request, for work that outlives the request."""
    token = CAUSE.set(Cause(request_id, action))
    try:
        yield
    finally:
        CAUSE.reset(token)
