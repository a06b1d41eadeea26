"""`Table`: what exports and imports need to know about a collection. `plugins.records.tables` makes routes from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.request import Request
from handlers.route import Handler
from handlers.schema.fields import Field
from handlers.schema.values import Record
from handlers.service import Service
from handlers.tables.columns import ID, Columns, TableColumn
from handlers.tables.records import TABLE_IMPORT_ROWS, TABLE_IMPORTS
from handlers.tables.report import ImportReport, TableRows


@dataclass(frozen=True)
class ImportLimits:
    """Limits of an import: bytes of its file, and the number of rows up to which the response waits for its end."""

    bytes: int
    waits_rows: int


class RowWriter(Protocol):
    """Writes the rows of one import, `rows_at_once` in a transaction, or checks `checks_at_once` of them."""

    rows_at_once: int
    checks_at_once: int

    async def write(self, req: Request, rows: TableRows, *, dry_run: bool) -> ImportReport:
        """Write these rows in the transaction of the caller, which is rolled back for a dry run.

        Counts rows that cannot be written in the report. Raises `RowFailed` if a row fails too late to continue.
        """


class Tell(Protocol):
    """Keeps the person behind an import informed of its progress."""

    async def progress(self, req: Request, table: Table, record: Record, *, over: bool) -> None:
        """Report that some rows were written, or all if `over`."""

    async def finished(self, req: Request, table: Table, record: Record, *, notify: bool) -> None:
        """Report that all rows were written; `notify` if the person does not wait for the response."""


def core_limits(service: Service) -> ImportLimits:
    """Return the limits that the settings of the service give."""
    return ImportLimits(service.settings.import_bytes, service.settings.import_waits_rows)


@dataclass(frozen=True)
class Table:
    """The tables of `collection`.

    `resource` is that of its permissions; the file names of exports begin with `file_name`. `imports` and `rows` store
    imports; `summary` is the shape of an import in lists. `lister` and `query` are the handler and the parameters of
    the list, if they are not those of `crud`. `lines` names a list of objects: each is a row, and its fields are
    columns. `writer` makes the `RowWriter` of an import. `strict`: only columns that clients write are imported, and
    exported by default. `plain_ids`: when headers are names, references are ids.
    """

    collection: Collection
    resource: str
    file_name: str
    writer: Callable[[Service, Table, Sequence[TableColumn]], RowWriter]
    tell: Tell
    summary: Field
    imports: Collection = TABLE_IMPORTS
    rows: Collection = TABLE_IMPORT_ROWS
    limits: Callable[[Service], ImportLimits] = core_limits
    lister: Handler | None = None
    query: Mapping[str, Field] | None = None
    lines: str = ""
    strict: bool = False
    plain_ids: bool = False

    def current(self, database: Database) -> Table:
        """Return the table with the own fields that its collection has now."""
        collection = database.current(self.collection)
        return self if collection is self.collection else replace(self, collection=collection)

    @cached_property
    def columns(self) -> Columns:
        """The columns of the tables."""
        return Columns(self.collection, strict=self.strict, lines=self.lines)

    @cached_property
    def shown(self) -> tuple[TableColumn, ...]:
        """The columns of an export that does not name any."""
        readable = () if self.strict else [one for one in self.columns.all if not one.writable]
        extra = [one for one in readable if not one.as_json and one.name not in (ID, "updated_at", "updater_id")]
        return (self.columns.by_name[ID], *self.columns.writable, *extra)

    @property
    def below_itself(self) -> bool:
        """Whether records refer to others of the collection, as in a tree."""
        return self.collection.name in self.collection.references.values()

    @property
    def of_imports(self) -> Mapping[str, Any]:
        """The filter of the imports into this collection."""
        return {"collection": self.collection.name} if "collection" in self.imports.fields else {}
