"""Limits of the worker processes that read and write tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from handlers.confined.pool import Confined, Lane

_LARGEST_FILE = 1 << 30


@dataclass(frozen=True)
class Lanes:
    """The lanes in which worker processes read tables for imports and write them for exports."""

    reading: Lane
    writing: Lane

    @classmethod
    def open(cls, confined: Confined) -> Self:
        """Open both lanes. One person may have two jobs in each; an export takes as long as reading its rows."""
        return cls(
            confined.lane(
                "tables.import", cpu_seconds=60, seconds=120, patience_seconds=15, each=2, file_bytes=_LARGEST_FILE
            ),
            confined.lane(
                "tables.export", cpu_seconds=300, seconds=900, patience_seconds=15, each=2, file_bytes=_LARGEST_FILE
            ),
        )
