"""Collections of imports: their options, progress and errors, and the rows that are not written yet."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, anything, array, boolean, choice, integer, obj, text, timestamp

MAX_FAULTS = 1000
STATES = ("reading", "running", "finished", "failed")
_COUNT = integer(minimum=0, read_only=True, default=0, nullable=False, history=False)
FAULT = obj(
    "ImportFault",
    {
        "row": integer(
            label=("行号", "Row"),
            minimum=1,
            nullable=False,
            description="As a spreadsheet numbers it; the header is row 1.",
        ),
        "column": text(label=("列", "Column"), max_length=100, nullable=False),
        "rule": text(label=("规则", "Rule"), max_length=50, nullable=False),
        "message": text(label=("错误信息", "Message"), nullable=False),
    },
    nullable=False,
)

IMPORTS = Collection(
    name="crm_imports",
    title="CustomerImport",
    noun=Message("客户导入", "customer import"),
    scoped=True,
    fields={
        "file_name": text(label=("文件名", "File name"), max_length=255, read_only=True),
        "dry_run": boolean(label=("试运行", "Dry run"), default=False, read_only=True, nullable=False),
        "atomic": boolean(label=("全部成功才导入", "All or nothing"), default=False, read_only=True, nullable=False),
        "status": choice(
            *STATES, label=("导入状态", "Status"), default="reading", read_only=True, nullable=False, filter=True
        ),
        "total": _COUNT.but(label=("总行数", "Total rows")),
        "done": _COUNT.but(label=("已处理行数", "Rows done"), description="Rows looked at."),
        "created": _COUNT.but(label=("新增数", "Created"), description="Of a dry run: that would be."),
        "updated": _COUNT.but(label=("更新数", "Updated")),
        "unchanged": _COUNT.but(label=("未变化数", "Unchanged")),
        "failed": _COUNT.but(label=("失败数", "Failed")),
        "errors": array(
            FAULT,
            label=("错误明细", "Errors"),
            max_items=MAX_FAULTS,
            read_only=True,
            default=[],
            nullable=False,
            history=False,
            description=f"What was wrong, the first {MAX_FAULTS}.",
        ),
        "finished_at": timestamp(label=("完成时间", "Finished at"), read_only=True),
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
