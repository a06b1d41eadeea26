"""Why a write happens: the request that it belongs to, for the history of records."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple


class Cause(NamedTuple):
    """The id of a request, and its action where that is another one than to create, change or delete a record."""

    request_id: str | None = None
    action: str | None = None


CAUSE: ContextVar[Cause] = ContextVar("cause_of_writes", default=Cause())  # noqa: B039 - a tuple
