"""The columns of a collection's tables, and how the headers of a file name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from handlers.data.collection import Collection
from handlers.schema.errors import FieldError, ValidationFailed
from handlers.schema.fields import Field
from handlers.schema.messages import Language, Message
from handlers.schema.values import RecordId
from handlers.tables.archives import MAX_CELL
from handlers.tables.cells import header_key

ID = "id"
_AUDIT = ("created_at", "updated_at", "creator_id", "updater_id")
_LIST_CELL, _NAME_CELL, _SHORT_CELL = 4000, 500, 100
_JSON_CELL = 32_000  # a spreadsheet keeps 32,767 characters of a cell


@dataclass(frozen=True)
class TableColumn:
    """One column: `name` is the field's, with a dot for a part of an object; `label` is what people call it."""

    name: str
    field: Field
    label: Message
    writable: bool
    required: bool

    @cached_property
    def ref(self) -> str | None:
        """The collection that the column refers to, if any."""
        return self.field.ref or (self.field.items.ref if self.field.items is not None else None)

    @cached_property
    def as_json(self) -> bool:
        """Whether a cell holds JSON, because the value itself has parts."""
        return self.field.kind in ("object", "mapping", "any") or (
            self.field.items is not None and self.field.items.kind in ("object", "array", "mapping", "any")
        )

    @cached_property
    def width(self) -> int:
        """The maximum number of characters of a cell; a row with a longer cell is refused."""
        if self.as_json:
            return _JSON_CELL
        if self.field.kind == "array":
            return _LIST_CELL
        if self.ref is not None:
            return _NAME_CELL
        if self.field.kind == "text":
            # the label of a value may be longer than the value
            most = int(self.field.rules.get("maxLength", _NAME_CELL))
            return max(most, _SHORT_CELL) if "enum" in self.field.rules or self.field.dictionary else most
        return _SHORT_CELL

    def as_id(self, id: RecordId) -> RecordId:
        """Return an id as a body contains it."""
        return id if isinstance(id, int) else str(id)

    def header(self, language: Language | None) -> str:
        """Return the header: the name, or the label in a language."""
        return self.name if language is None else self.label.text(language)


class Columns:
    """The columns of `collection`: its id, the fields that clients write, then those that they only read.

    An import ignores the read-only ones, so that an export can be imported again; if it is `strict`, it refuses them.
    `lines` names a list of objects whose fields are columns; the column `document` then says to which document a row
    belongs, whoever numbers the documents.
    """

    def __init__(self, collection: Collection, *, strict: bool = False, lines: str = "") -> None:
        self.document = collection.code_field if lines else ""
        self.all = tuple(_unambiguous(list(_list_columns(collection, lines, self.document))))
        self._imported = [one for one in self.all if one.writable or one.name == ID or not strict]
        self.by_name: Mapping[str, TableColumn] = {column.name: column for column in self.all}

    @cached_property
    def writable(self) -> tuple[TableColumn, ...]:
        """The columns that an import writes."""
        return tuple(column for column in self.all if column.writable)

    @cached_property
    def keyed(self) -> Mapping[str, TableColumn]:
        """Columns by every header that an import accepts: names, and labels in both languages."""
        labels = {header_key(text): column for column in self._imported for text in column.label}
        return {**labels, **self.names}

    @cached_property
    def names(self) -> Mapping[str, TableColumn]:
        """Columns by their names as headers."""
        return {header_key(column.name): column for column in self._imported}

    @cached_property
    def of_document(self) -> tuple[str, ...]:
        """The headers of the column that says to which document a row belongs."""
        return tuple(key for key, column in self.keyed.items() if column.name == self.document)

    def widths(self, *, names_only: bool) -> dict[str, int]:
        """Return the maximum number of characters of a cell by header, for the reader of the file."""
        return {key: column.width for key, column in (self.names if names_only else self.keyed).items()}

    def match(self, headers: Sequence[str], *, names_only: bool = False) -> list[TableColumn]:
        """Return the columns of these headers. Raises 40001 for unknown headers, and for two headers of one column."""
        known = self.names if names_only else self.keyed
        found = [known.get(header_key(header)) for header in headers]
        times = Counter(column.name for column in found if column is not None)
        faults: dict[str, str] = {}
        for header, column in zip(headers, found, strict=True):
            if column is None:
                faults[header or "file"] = "unknown"
            elif times[column.name] > 1:
                faults[header] = "duplicate"
        if faults:
            raise ValidationFailed([FieldError(header, rule) for header, rule in faults.items()])
        return [column for column in found if column is not None]


def _list_columns(collection: Collection, lines: str, document: str) -> Iterator[TableColumn]:
    yield TableColumn(ID, collection.id_field, Message("ID", "ID"), writable=False, required=False)
    shown = {name: field for name, field in collection.fields.items() if _fits(field)}
    if lines in collection.fields:
        of_line = collection.fields[lines].items
        shown[lines] = collection.fields[lines].but(
            kind="object", fields=of_line.fields if of_line else None, items=None
        )
    if document:
        field = shown.pop(document)
        label = field.label or Message(document, document)
        yield TableColumn(document, field, label, writable=True, required=field.required)
    for name, field in shown.items():
        if not field.read_only:
            yield from _columns_of(name, field)
    audit = {name: field for name, field in collection.audit_fields.items() if name in _AUDIT}
    for name, field in {**shown, **audit}.items():
        if field.read_only:
            yield from _columns_of(name, field)


def _fits(field: Field) -> bool:
    """Return whether clients may read the field and every value of it fits into a cell."""
    too_long = field.kind == "text" and int(field.rules.get("maxLength", 0)) > MAX_CELL
    return not (field.write_only or field.secret or too_long)


def _columns_of(name: str, field: Field) -> Iterator[TableColumn]:
    label = field.label or Message(name, name)
    parts = field.fields or {}
    for part, child in parts.items():
        inner = child.label or Message(part, part)
        both = Message(f"{label.zh}（{inner.zh}）", f"{label.en} ({inner.en})")
        required = field.required and child.required
        writable = not (field.read_only or child.read_only)
        yield TableColumn(f"{name}.{part}", child, both, writable=writable, required=required)
    if not parts:
        yield TableColumn(name, field, label, writable=not field.read_only, required=field.required)


def _unambiguous(columns: Sequence[TableColumn]) -> Iterator[TableColumn]:
    """Yield the columns; a label that is also a header of another column gets the column's name appended."""
    taken = Counter(header_key(text) for one in columns for text in {one.name, *one.label})
    for column in columns:
        own = Counter(header_key(text) for text in {column.name, *column.label})
        texts = [
            text if taken[header_key(text)] == own[header_key(text)] else f"{text} ({column.name})"
            for text in column.label
        ]
        yield replace(column, label=Message(*texts))
