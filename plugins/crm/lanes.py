"""How much of the work on tables is done at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from plugins.api import Confined, Lane

_LARGEST_FILE = 1 << 30


@dataclass(frozen=True)
class Lanes:
    """Where tables are read for imports, and written for exports."""

    reading: Lane
    writing: Lane

    @classmethod
    def open(cls, confined: Confined) -> Self:
        """Open them. A person has two of each under way; an export lasts as long as its rows take to be read."""
        largest = {"each": 2, "file_bytes": _LARGEST_FILE}
        return cls(
            confined.lane("crm.import", cpu_seconds=60, seconds=120, patience_seconds=15, **largest),
            confined.lane("crm.export", cpu_seconds=300, seconds=900, patience_seconds=15, **largest),
        )
