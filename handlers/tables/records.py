"""Collections of imports: their options, progress and errors, and the rows that are not written yet."""

from __future__ import annotations

from handlers.data.collection import Collection
from handlers.data.index import Index
from handlers.data.states import StateMachine, Transition
from handlers.schema.fields import Field, anything, array, boolean, choice, integer, obj, text, timestamp
from handlers.schema.messages import Message

MAX_FAULTS = 1000
_COUNT = integer(minimum=0, read_only=True, default=0, nullable=False, history=False)
FAULT = obj(
    "ImportFault",
    {
        "row": integer(
            label=("行号", "Row"),
            minimum=1,
            nullable=False,
            description="As in a spreadsheet; the header is row 1.",
        ),
        "column": text(
            label=("列", "Column"), max_length=100, nullable=False, description="The header of the column in the file."
        ),
        "rule": text(label=("规则", "Rule"), max_length=50, nullable=False),
        "message": text(label=("错误信息", "Message"), nullable=False),
    },
    nullable=False,
)

_OPTIONS = {
    "file_name": text(label=("文件名", "File name"), max_length=255, read_only=True),
    "dry_run": boolean(label=("试运行", "Dry run"), default=False, read_only=True, nullable=False),
    "atomic": boolean(label=("全部成功才导入", "All or nothing"), default=False, read_only=True, nullable=False),
}
_PROGRESS = {
    "total": _COUNT.but(label=("总行数", "Total rows")),
    "done": _COUNT.but(label=("已处理行数", "Rows processed"), description="Rows processed so far."),
    "created": _COUNT.but(label=("新增数", "Created"), description="In a dry run, the records that would be created."),
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
        description=f"The errors found, at most the first {MAX_FAULTS}.",
    ),
    "warnings": array(
        FAULT,
        label=("提示明细", "Warnings"),
        max_items=MAX_FAULTS,
        read_only=True,
        default=[],
        nullable=False,
        history=False,
        description=f"Rows that look like duplicates of others, or documents that look like lines of the one before, at most the "
        f"first {MAX_FAULTS}. They are written.",
    ),
    "finished_at": timestamp(label=("完成时间", "Finished at"), read_only=True),
}
_KEPT_SECONDS, _QUEUED_SECONDS = 90 * 86_400, 7 * 86_400


def _states(name: str) -> StateMachine:
    return StateMachine(
        name,
        "reading",
        states={
            "reading": ("读取中", "Reading"),
            "running": ("导入中", "Running"),
            "finished": ("已完成", "Finished"),
            "failed": ("失败", "Failed"),
        },
        transitions={
            "run": Transition("reading", "running"),
            "finish": Transition("running", "finished"),
            "fail": Transition(("reading", "running"), "failed"),
            # its file was not read to the end
            "give-up": Transition("reading", "failed"),
        },
    )


def _status(machine: StateMachine) -> Field:
    return machine.choice(label=("导入状态", "Status"), filter=True)


_IMPORT = _states("core_import")

TABLE_IMPORTS = Collection(
    name="core_imports",
    title="TableImport",
    noun=Message("导入", "import"),
    scoped=True,
    fields={
        **_OPTIONS,
        "collection": text(
            label=("数据表", "Collection"),
            max_length=100,
            read_only=True,
            nullable=False,
            description="The collection that the rows belong to.",
        ),
        "status": _status(_IMPORT),
        **_PROGRESS,
        "ignored": array(
            text(max_length=100),
            label=("忽略的列", "Ignored columns"),
            max_items=200,
            read_only=True,
            default=[],
            nullable=False,
            description="Columns of the file that are ignored because only the service writes them.",
        ),
    },
    indexes=(
        Index("collection", "-created_at"),
        Index("status"),
        Index("created_at", expire_seconds=_KEPT_SECONDS),
    ),
    internal=("headers",),
    states=_IMPORT,
)


def imports_of(name: str, title: str, *, noun: tuple[str, str]) -> Collection:
    """Return a collection of imports for one kind of record whose addresses and schemas are not those of the core."""
    states = _states(name.removesuffix("s"))
    return Collection(
        name=name,
        title=title,
        noun=Message(*noun),
        scoped=True,
        fields={**_OPTIONS, "status": _status(states), **_PROGRESS},
        indexes=(Index("status"), Index("created_at", expire_seconds=_KEPT_SECONDS)),
        internal=("headers",),
        states=states,
    )


def import_rows_of(name: str, title: str, *, noun: tuple[str, str]) -> Collection:
    """Return a collection for the rows of imports that are not written yet, and for a while those that cannot be."""
    return Collection(
        name=name,
        title=title,
        noun=Message(*noun),
        plain=True,
        default_sort="id",
        fields={
            "import_id": anything(label=("导入", "Import")),
            "at": timestamp(label=("时间", "At")),
            "faulty": boolean(label=("有误", "Faulty"), description="They are kept to be corrected, and not written."),
            "rows": array(
                anything(),
                label=("行", "Rows"),
                max_items=10_000,
                description="The line number and the cells of each row.",
            ),
        },
        indexes=(Index("import_id", "id"), Index("at", expire_seconds=_QUEUED_SECONDS)),
    )


TABLE_IMPORT_ROWS = import_rows_of("core_import_rows", "TableImportRows", noun=("导入的行", "imported rows"))


def summary_of(imports: Collection) -> Field:
    """Return the shape of an import in lists: without what is said of rows."""
    fields = {name: field for name, field in (imports.read.fields or {}).items() if name not in ("errors", "warnings")}
    return obj(f"{imports.title}Summary", fields, nullable=False)


def form_of(title: str) -> Field:
    """Return the form that starts an import."""
    return obj(
        f"{title}Form",
        {
            "file": text(
                label=("文件", "File"),
                required=True,
                format="binary",
                description="CSV (UTF-8 or GB 18030) or XLSX; headers are field names, or labels in either language.",
            ),
            "dry_run": boolean(
                label=("试运行", "Dry run"), default=False, description="Check and count the rows, but write nothing."
            ),
            "atomic": boolean(
                label=("全部成功才导入", "All or nothing"),
                default=False,
                description="Import all rows or none; for at most 5,000 rows.",
            ),
            "headers": choice(
                "names",
                "labels",
                label=("表头", "Headers"),
                default="labels",
                description="`names` refuses headers that are not field names; `labels` accepts both names and labels.",
            ),
        },
        nullable=False,
    )
