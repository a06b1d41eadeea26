"""Collections of imports: their options, progress and errors, and the rows that are not written yet."""

from __future__ import annotations

from plugins.api import Collection, Index, anything, array, boolean, choice, integer, obj, text, timestamp

MAX_FAULTS = 1000
STATES = ("reading", "running", "finished", "failed")
_COUNT = integer(minimum=0, read_only=True, default=0, nullable=False)
FAULT = obj(
    "ImportFault",
    {
        "row": integer(minimum=1, nullable=False, description="As a spreadsheet numbers it; the header is row 1."),
        "column": text(max_length=100, nullable=False),
        "rule": text(max_length=50, nullable=False),
        "message": text(nullable=False),
    },
    nullable=False,
)

IMPORTS = Collection(
    name="crm_imports",
    title="CustomerImport",
    scoped=True,
    fields={
        "file_name": text(max_length=255, read_only=True),
        "dry_run": boolean(default=False, read_only=True, nullable=False),
        "atomic": boolean(default=False, read_only=True, nullable=False),
        "status": choice(*STATES, default="reading", read_only=True, nullable=False, filter=True),
        "total": _COUNT,
        "done": _COUNT.but(description="Rows looked at."),
        "created": _COUNT.but(description="Of a dry run: that would be."),
        "updated": _COUNT,
        "unchanged": _COUNT,
        "failed": _COUNT,
        "errors": array(
            FAULT,
            max_items=MAX_FAULTS,
            read_only=True,
            default=[],
            nullable=False,
            description=f"What was wrong, the first {MAX_FAULTS}.",
        ),
        "finished_at": timestamp(read_only=True),
    },
    indexes=(Index("status"), Index("created_at", expire_seconds=90 * 86_400)),
    internal=("headers",),
)

IMPORT_SUMMARY = obj(
    "CustomerImportSummary",
    {name: field for name, field in (IMPORTS.read.fields or {}).items() if name != "errors"},
    nullable=False,
)

IMPORT_ROWS = Collection(
    name="crm_import_rows",
    title="CustomerImportRows",
    plain=True,
    default_sort="id",
    fields={
        "import_id": anything(),
        "at": timestamp(),
        "rows": array(anything(), max_items=10_000, description="Line number and cells of each."),
    },
    indexes=(Index("import_id", "id"), Index("at", expire_seconds=7 * 86_400)),
)

FORM = obj(
    "CustomerImportForm",
    {
        "file": text(
            required=True, format="binary", description="CSV (UTF-8 or GB 18030) or XLSX; headers are field names."
        ),
        "dry_run": boolean(default=False, description="Check and count; write nothing."),
        "atomic": boolean(default=False, description="All rows or none; up to 5,000."),
    },
    nullable=False,
)
