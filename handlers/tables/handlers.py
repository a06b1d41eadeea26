"""The handlers of a collection's tables. Each is an object with its table, so that a route leads to the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from handlers.data.collection import Collection
from handlers.data.lists.filters import Page
from handlers.lifecycle import Response
from handlers.request import Request
from handlers.route import Route
from handlers.schema.fields import Field, array, choice
from handlers.schema.values import Record
from handlers.tables.exporting import export_table
from handlers.tables.receiving import export_faulty, list_imports, read_import, start_import
from handlers.tables.table import Table
from handlers.tables.template import make_template


@dataclass(frozen=True)
class Export:
    """Streams the records that the caller sees as a table."""

    table: Table

    async def __call__(self, req: Request) -> Response:
        """Handle a request."""
        return await export_table(req, self.table)


@dataclass(frozen=True)
class Template:
    """Makes an empty table to fill in."""

    table: Table

    async def __call__(self, req: Request) -> Response:
        """Handle a request."""
        return await make_template(req, self.table)


@dataclass(frozen=True)
class StartImport:
    """Imports a table."""

    table: Table

    async def __call__(self, req: Request) -> Record:
        """Handle a request."""
        return await start_import(req, self.table)


@dataclass(frozen=True)
class ListImports:
    """Lists the imports into the collection."""

    table: Table

    async def __call__(self, req: Request) -> Page:
        """Handle a request."""
        return await list_imports(req, self.table)


@dataclass(frozen=True)
class ReadImport:
    """Reads one import."""

    table: Table

    async def __call__(self, req: Request) -> Record:
        """Handle a request."""
        return await read_import(req, self.table)


@dataclass(frozen=True)
class FaultyRows:
    """Streams the rows of one import that have errors."""

    table: Table

    async def __call__(self, req: Request) -> Response:
        """Handle a request."""
        return await export_faulty(req, self.table)


def columns_of(table: Table) -> Field:
    """Return the parameter of an export that names columns."""
    named = choice(*table.columns.by_name, nullable=False)
    return array(
        named,
        label=("列", "Columns"),
        min_items=1,
        max_items=len(table.columns.all),
        unique=True,
        nullable=False,
        example=[table.shown[-1].name],
        description="The columns to export, in this order, separated by commas.",
    )


def with_columns(route: Route, collections: Mapping[str, Collection]) -> Route:
    """Return a route of tables with the columns of its collection as it is among these; other routes as they are."""
    handler = route.handler
    if not isinstance(handler, Export | Template | StartImport | ListImports | ReadImport | FaultyRows):
        return route
    collection = collections.get(handler.table.collection.name)
    if collection is None or collection.title != handler.table.collection.title:  # rows of another shape
        return route
    table = replace(handler.table, collection=collection)
    query = {**route.query, "fields": columns_of(table)} if isinstance(handler, Export) else route.query
    return replace(route, handler=replace(handler, table=table), query=query)


def imported_tables(routes: Iterable[Route]) -> list[Table]:
    """Return the tables that these routes import."""
    return [route.handler.table for route in routes if isinstance(route.handler, StartImport)]
