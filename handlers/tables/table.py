"""`Table`: what exports and imports need to know of a collection. `plugins.tables` makes routes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from handlers.data.collection import Collection
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
    """Limits of an import: bytes of its file, and the rows up to which the response waits for its end."""

    bytes: int
    waits_rows: int


class RowWriter(Protocol):
    """Writes the rows of one import, `rows_at_once` in a transaction, and checks `checks_at_once`."""

    rows_at_once: int
    checks_at_once: int

    async def write(self, req: Request, rows: TableRows, *, dry_run: bool) -> ImportReport:
        """Write these rows, in the transaction of the caller, which is rolled back for a dry run.

        Reports rows that cannot be written. Raises `RowFailed` where it finds out too late to go on.
        """


class Tell(Protocol):
    """Tells the person behind an import how far it is."""

    async def progress(self, req: Request, table: Table, record: Record, *, over: bool) -> None:
        """Some rows were written, or all."""

    async def finished(self, req: Request, table: Table, record: Record, *, notify: bool) -> None:
        """All rows were written; `notify` where the person does not wait for the response."""


def core_limits(service: Service) -> ImportLimits:
    """The limits that the settings of the service give."""
    return ImportLimits(service.settings.import_bytes, service.settings.import_waits_rows)


@dataclass(frozen=True)
class Table:
    """The tables of `collection`.

    `resource` is that of its permissions, `file_name` begins the names of exports. `imports` and `rows` store imports;
    `summary` is an import as lists show it. `lister` and `query` are the handler and the parameters of the list, where
    these are not those of `crud`. `lines` is a list of objects whose parts are columns: each is a row. `writer` makes
    what writes rows. `strict`: only columns that clients write are imported, and exported by themselves.
    `plain_ids`: with names as headers, references are ids.
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

    @cached_property
    def columns(self) -> Columns:
        """Its columns."""
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
