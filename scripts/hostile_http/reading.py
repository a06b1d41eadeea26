"""What somebody found in the bytes of a connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Fields = frozenset[tuple[str, tuple[str, ...]]]
Ended = Literal["refused", "closed", "waiting"]


@dataclass(frozen=True)
class Asked:
    """A request: its `body` is None where it has not ended, or was not accepted."""

    method: str
    target: str
    version: str
    fields: Fields
    body: bytes | None

    def same_head(self, other: Asked) -> bool:
        """Whether everything but the body is the same."""
        mine = (self.method, self.target, self.version, self.fields)
        return mine == (other.method, other.target, other.version, other.fields)


@dataclass(frozen=True)
class Reading:
    """The requests of a connection, and how it stands after the last byte; `reason` of a refusal, where it is known."""

    requests: tuple[Asked, ...]
    ended: Ended
    reason: str = ""


def fields_of(pairs: Iterable[tuple[str, str]]) -> Fields:
    """Header fields without the case and order of their names; values of one name keep their order.

    `Connection` is left out: what it says shows in the requests that follow.
    """
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if name.lower() != "connection":
            found.setdefault(name.lower(), []).append(value)
    return frozenset((name, tuple(values)) for name, values in found.items())
