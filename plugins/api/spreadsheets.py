"""Spreadsheets: what an import needs that writes rows in its own way; `tables` makes the others."""

from __future__ import annotations

from handlers.tables.columns import (
    TableColumn as TableColumn,  # a column of a table
)
from handlers.tables.conversion import (
    parse_row as parse_row,  # the cells of a row as values
    row_body as row_body,  # these values as the body of a request that creates a record
)
from handlers.tables.dry_run import (
    DryRun as DryRun,  # counts rows of a dry run that name records of rows above them
)
from handlers.tables.exporting import (
    csv_response as csv_response,  # stream rows as a CSV file, without formulas
)
from handlers.tables.handlers import (
    imported_tables as imported_tables,  # the tables that some routes import
)
from handlers.tables.records import (
    import_rows_of as import_rows_of,  # a collection of rows that wait to be written
    imports_of as imports_of,  # a collection of imports
)
from handlers.tables.report import (
    ImportReport as ImportReport,  # the outcome of some rows
    TableRows as TableRows,  # rows of a table: their numbers and cells
)
from handlers.tables.rows import (
    RecordWriter as RecordWriter,  # writes rows through the routes that create and change records
    TableReferences as TableReferences,  # the records that cells refer to
)
from handlers.tables.running import (
    resume_imports as resume_imports,  # continue imports that another instance left
)
from handlers.tables.table import (
    ImportLimits as ImportLimits,  # limits of an import
    RowWriter as RowWriter,  # what writes the rows of an import
    Table as Table,  # the tables of a collection
)
from handlers.tables.values import (
    ValueLabels as ValueLabels,  # the labels of states, choices and dictionaries
    labels_of as labels_of,  # the labels of the values of one field
)
from plugins.records.tables import (
    ImportNotices as ImportNotices,  # notifies the person behind an import of its progress
)
