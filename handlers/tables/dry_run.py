"""Counts the rows of a dry run as the import would: a row that names a record of a row above it changes that record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DryRun:
    """The codes of the records that rows of a dry run would have created or changed, for the rows below them.

    Of each row only a hash is kept, because a file may have a hundred thousand.
    """

    def __init__(self, code: str) -> None:
        """`code` is the field by which rows name a record; empty if there is none."""
        self._code = code
        self._rows: dict[Any, int] = {}  # by code, the hash of the last row
        self._batch: dict[Any, int] = {}

    def begin(self) -> None:
        """Begin a batch of rows. A batch that has not ended is forgotten, because its rows are checked again."""
        self._batch = {}

    def end(self) -> None:
        """End the batch."""
        self._rows |= self._batch

    def outcome(self, row: Mapping[str, Any], outcome: str) -> str:
        """Note a row, and return its outcome: `created` may be wrong, as the records of rows above do not exist."""
        code = row.get(self._code)
        if code is None:
            return outcome
        above = self._batch.get(code, self._rows.get(code))
        self._batch[code] = this = hash(repr(sorted(row.items())))
        if above is None or outcome != "created":
            return outcome
        return "unchanged" if this == above else "updated"
