"""The result of reading the bytes of a connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Fields = frozenset[tuple[str, tuple[str, ...]]]
Ended = Literal["refused", "closed", "waiting"]


@dataclass(frozen=True)
class Asked:
    """A request; its `body` is None if it is incomplete or was not accepted."""

    method: str
    target: str
    version: str
    fields: Fields
    body: bytes | None

    def same_head(self, other: Asked) -> bool:
        """Return whether everything except the body is the same."""
        mine = (self.method, self.target, self.version, self.fields)
        return mine == (other.method, other.target, other.version, other.fields)


@dataclass(frozen=True)
class Reading:
    """The requests of a connection, and its state after the last byte; `reason` explains a refusal, if it is known."""

    requests: tuple[Asked, ...]
    ended: Ended
    reason: str = ""


def fields_of(pairs: Iterable[tuple[str, str]]) -> Fields:
    """Return header fields regardless of the case and order of their names; values of one name keep their order.

    `Connection` is left out, because its effect shows in the requests that follow.
    """
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if name.lower() != "connection":
            found.setdefault(name.lower(), []).append(value)
    return frozenset((name, tuple(values)) for name, values in found.items())
