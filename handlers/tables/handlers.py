"""The handlers of a collection's tables. Each is an object with its table, so that a route leads to the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from handlers.data.lists.filters import Page
from handlers.lifecycle import Response
from handlers.request import Request
from handlers.route import Route
from handlers.schema.values import Record
from handlers.tables.exporting import export_table
from handlers.tables.receiving import list_imports, read_import, start_import
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


def imported_tables(routes: Iterable[Route]) -> list[Table]:
    """Return the tables that these routes import."""
    return [route.handler.table for route in routes if isinstance(route.handler, StartImport)]
