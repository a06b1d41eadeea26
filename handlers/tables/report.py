"""The outcome of some rows of an import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from handlers.schema.errors import DUPLICATE, ApiError, FieldError, ValidationFailed
from handlers.schema.messages import RULES, Language, Message
from handlers.schema.values import Record
from handlers.tables.columns import TableColumn
from handlers.tables.conversion import locate_errors
from handlers.tables.records import MAX_FAULTS

TableRow = tuple[int, list[str]]
TableRows = Sequence[TableRow]


def rows_of(row: tuple[int, Any]) -> list[TableRow]:
    """Return the rows of a document, or a row that is none."""
    number, cells = row
    return cells if cells and not isinstance(cells[0], str) else [(number, cells)]


class FaultsOfRows(ValidationFailed):
    """The faults of a document, which has several rows: for each its row, its column and the rule."""

    def __init__(self, faults: Sequence[tuple[int, str, str]]) -> None:
        super().__init__([FieldError(column, rule) for _, column, rule in faults])
        self.faults = faults


@dataclass
class ImportReport:
    """Counts, errors and warnings of some rows."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[Record] = field(default_factory=list)
    warnings: list[Record] = field(default_factory=list)

    def add_failure(self, row: int, error: ApiError, columns: Sequence[TableColumn]) -> None:
        """Count a row as failed, and add the errors of its columns, or the message of a refusal."""
        self.counts["failed"] += 1
        if isinstance(error, FaultsOfRows):
            self.errors += [{"row": number, "column": name, "rule": rule} for number, name, rule in error.faults]
        elif isinstance(error, ValidationFailed):
            found = locate_errors(error, columns)
            self.errors += [{"row": row, "column": name, "rule": rule} for name, rule in found]
        elif error.kind is DUPLICATE and isinstance(error.data, dict):
            self.errors.append({"row": row, "column": error.data["field"], "rule": "duplicate"})
        else:
            texts = {"zh": error.reason.zh, "en": error.reason.en}
            self.errors.append({"row": row, "column": "", "rule": error.kind.name, **texts})

    def add_warning(self, row: int, column: str, rule: str, message: Message) -> None:
        """Say something about a row that is written all the same."""
        self.warnings.append({"row": row, "column": column, "rule": rule, "zh": message.zh, "en": message.en})

    def add(self, other: ImportReport) -> None:
        """Add what is said of other rows."""
        self.counts.update(other.counts)
        self.errors += other.errors
        self.warnings += other.warnings

    def find_faulty(self, rows: Sequence[tuple[int, Any]]) -> list[TableRow]:
        """Return those of these rows that have errors; of documents, all rows of one with an error."""
        faulty = {one["row"] for one in self.errors}
        documents: list[list[TableRow]] = [rows_of(one) for one in rows]
        return [row for document in documents if any(number in faulty for number, _ in document) for row in document]

    def change(self, columns: Sequence[TableColumn], headers: Sequence[str]) -> Record:
        """Return the update operators for the import's record; columns are called by their headers."""
        shown = dict(zip((column.name for column in columns), headers, strict=True))
        found = {
            name: [{**one, "column": shown.get(one["column"], one["column"])} for one in faults]
            for name, faults in (("errors", self.errors), ("warnings", self.warnings))
        }
        pushed = {name: {"$each": faults, "$slice": MAX_FAULTS} for name, faults in found.items() if faults}
        return {"$inc": dict(self.counts), **({"$push": pushed} if pushed else {})}


def in_language(error: Record, language: Language) -> Record:
    """Return an error of a row with its message in a language."""
    message: Any = error.get(language) or RULES.get(error["rule"], RULES["invalid"]).text(language)
    return {**error, "message": message}


class RowFailed(Exception):
    """A row cannot be written. The transaction, in which the rows before it were written, ends with this exception."""

    def __init__(self, place: int, error: ApiError) -> None:
        super().__init__(f"row {place}: {error}")
        self.place = place
        self.error = error
