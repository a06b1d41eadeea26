"""Counts the rows of a dry run as the import would, although the records of the rows above do not exist."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from handlers.data.index import Index
from handlers.schema.errors import FieldError, ValidationFailed
from handlers.schema.values import ReadOnlyRecord, Values


class DryRun:
    """The records that rows of a dry run would have created or changed, for the rows below them.

    A row that names a record of a row above changes that record; a row with a unique value of another one is refused.
    Of each row only hashes are kept, because a file may have a hundred thousand.
    """

    def __init__(self, code: str, indexes: Iterable[Index] = ()) -> None:
        """`code` is the field by which rows name a record; empty if there is none. `indexes`: of the collection."""
        self._code = code
        self._unique = [index for index in indexes if index.keys != (code,) and _is_checked(index)]
        # the first map of each is the batch
        self._rows: ChainMap[Any, int] = ChainMap({}, {})  # by code, the hash of the last row
        self._values: ChainMap[Any, int] = ChainMap({}, {})  # by unique index and record, the hash of its values
        self._holders: ChainMap[Any, Hashable] = ChainMap({}, {})  # by unique index and that hash, the last record

    def begin(self) -> None:
        """Begin a batch of rows. A batch that has not ended is forgotten, because its rows are checked again."""
        for noted in (self._rows, self._values, self._holders):
            noted.maps[0] = {}

    def end(self) -> None:
        """End the batch."""
        for noted in (self._rows, self._values, self._holders):
            noted.maps[1].update(noted.maps[0])

    def outcome(self, row: Values, outcome: str) -> str:
        """Note a row, and return its outcome: `created` may be wrong, as the records of rows above do not exist."""
        code = row.get(self._code)
        if code is None:
            return outcome
        above = self._rows.get(code)
        self._rows[code] = this = hash(repr(sorted(row.items())))
        if above is None or outcome != "created":
            return outcome
        return "unchanged" if this == above else "updated"

    def note(self, record: ReadOnlyRecord) -> None:
        """Note the record that a row would have created or changed.

        Raises `ValidationFailed` with the field whose unique value the record of a row above has.
        """
        this = record["id"] if record.get(self._code) is None else record[self._code]
        for index in self._unique:
            if any(record.get(name) is None for name in index.where or ()):
                continue  # the index does not cover the record
            values = hash(repr([record.get(name) for name in index.keys]))
            holder = self._holders.get((index.keys, values), this)
            if holder != this and self._values.get((index.keys, holder)) == values:
                raise ValidationFailed([FieldError(index.keys[-1], "duplicate")])
            self._holders[index.keys, values] = this
            self._values[index.keys, this] = values


def _is_checked(index: Index) -> bool:
    """Return whether the index is unique, and covers all records that have a value in the fields of its condition."""
    return index.unique and all(isinstance(one, Mapping) and "$type" in one for one in (index.where or {}).values())
