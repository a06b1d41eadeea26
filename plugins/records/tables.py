"""`tables`: routes that export and import a collection as CSV and XLSX, as plain `Route` values, as `crud` does.

An import creates and changes records through the routes of `crud`, so that the plugin's own handlers and rules apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.request import Request
from handlers.route import Handler, Refusal, Route, RouteOptions, route
from handlers.schema.errors import MEDIA_TYPE, NOT_FOUND, TOO_LARGE
from handlers.schema.fields import Field, choice
from handlers.schema.messages import Message
from handlers.schema.values import Record
from handlers.service import Service
from handlers.tables.columns import TableColumn
from handlers.tables.documents import DocumentWriter
from handlers.tables.exporting import MEDIA
from handlers.tables.handlers import Export, FaultyRows, ListImports, ReadImport, StartImport, Template, columns_of
from handlers.tables.records import TABLE_IMPORTS, form_of, summary_of
from handlers.tables.rows import RecordWriter
from handlers.tables.table import ImportLimits, RowWriter, Table, Tell
from plugins.records.shared_events import NOTIFY, NOTIFY_PROGRESS

ACTIONS = ("export", "import")
DONE = Message(
    "{title}导入完成：新增 {created}，更新 {updated}，失败 {failed}",
    "{title} imported: {created} new, {updated} changed, {failed} failed",
)
_OF_OTHERS = Message("该导入不属于此数据表", "The import belongs to another kind of record")
_NONE_KEPT = Message(
    "该导入不属于此数据表，或没有可下载的有误行（保留七天）",
    "The import belongs to another kind of record, or has no faulty rows, which are kept for seven days",
)
_KIND = "import_progress"
_PAGING = ("page", "page_size", "with_total", "cursor", "sum")
_FORM, _SUMMARY = form_of(TABLE_IMPORTS.title), summary_of(TABLE_IMPORTS)
_FORMAT = choice("csv", "xlsx", label=("格式", "Format"), default="csv", nullable=False, example="csv")
_HEADERS = choice(
    "names",
    "labels",
    label=("表头", "Headers"),
    default="names",
    nullable=False,
    example="labels",
    description="`labels`: headers and values as people read them, in the caller's language.",
)


class TableOptions(TypedDict, total=False):
    """What differs from other tables; `Table` documents each option."""

    writer: Callable[[Service, Table, Sequence[TableColumn]], RowWriter]
    tell: Tell
    imports: Collection
    rows: Collection
    limits: Callable[[Service], ImportLimits]
    lister: Handler
    query: Mapping[str, Field]
    lines: str
    strict: bool
    plain_ids: bool


def tables(
    collection: Collection,
    *,
    at: str,
    resource: str,
    only: Sequence[str] = ACTIONS,
    **options: Unpack[TableOptions],
) -> tuple[Route, ...]:
    """Return the routes that export and import records of `collection`, whose list has the path `at`.

    Their permissions are `<resource>:export` and `<resource>:import`. `at/export` streams what the caller sees, with
    the filters of the list; `at/template` is an empty table, `at/import` takes a filled one, and `at/imports` reports
    its outcome, with the faulty rows as a table. `only` leaves one of the two actions out: records that are not created by one body, such as documents
    of several steps, can only be exported. Of records with `lines`, each is a row.
    """
    imports = options.get("imports", TABLE_IMPORTS)
    own = imports is not TABLE_IMPORTS
    noun = at.rpartition("/")[2]
    writer = DocumentWriter if options.get("lines") else RecordWriter
    given: TableOptions = {"writer": writer, "tell": ImportNotices(), **options}
    table = Table(collection, resource, noun, summary=summary_of(imports) if own else _SUMMARY, **given)
    made = {
        "export": (_declare_export(table, at, resource),),
        "import": tuple(_declare_import(table, at, resource, form_of(imports.title) if own else _FORM)),
    }
    return tuple(one for action in ACTIONS if action in only for one in made[action])


def report_list(
    rows: Collection, handler: Handler, *, at: str, resource: str, summary: str, **options: Unpack[RouteOptions]
) -> tuple[Route, ...]:
    """Return the routes that list `rows`, which a report computes, at the path `at`, and export them as a table.

    `handler` returns a page of them. Their permissions are `<resource>:list` and `<resource>:export`; `options` are those
    of `route`, for the list.
    """
    given: RouteOptions = {"returns": rows.read, "paged": True, **options}
    listing = route(f"GET {at}", handler, summary=summary, access=f"{resource}:list", **given)
    query = options["query"]
    return (listing, *tables(rows, at=at, resource=resource, only=("export",), lister=handler, query=query))


def _declare_export(table: Table, at: str, resource: str) -> Route:
    filters = {
        name: field for name, field in (table.query or table.collection.list_query).items() if name not in _PAGING
    }
    return route(
        f"GET {at}/export",
        Export(table),
        summary=f"Export {_words(at)} as a table",
        access=f"{resource}:export",
        query={"format": _FORMAT, "headers": _HEADERS, "fields": columns_of(table), **filters},
        bare=", ".join(MEDIA.values()),
    )


def _declare_import(table: Table, at: str, resource: str, form: Field) -> Iterator[Route]:
    access = f"{resource}:import"
    yield route(
        f"GET {at}/template",
        Template(table),
        summary=f"Download an import template for {_words(at)}",
        access=access,
        query={"format": _FORMAT.but(default="xlsx", example="xlsx"), "headers": _HEADERS.but(default="labels")},
        bare=", ".join(MEDIA.values()),
    )
    yield route(
        f"POST {at}/import",
        StartImport(table),
        summary=f"Import {_words(at)} from a table",
        access=access,
        streamed=True,
        form=form,
        returns=table.imports.read,
        errors=(MEDIA_TYPE, TOO_LARGE),
    )
    yield route(
        f"GET {at}/imports",
        ListImports(table),
        summary="List imports",
        access=access,
        paged=True,
        query=table.imports.list_query,
        returns=table.summary,
    )
    yield route(
        f"GET {at}/imports/{{id}}",
        ReadImport(table),
        summary="Read the progress of an import",
        access=access,
        record=table.imports,
        refusals=(Refusal(NOT_FOUND, hint=_OF_OTHERS),) if table.of_imports else (),
    )
    yield route(
        f"GET {at}/imports/{{id}}/faulty-rows",
        FaultyRows(table),
        summary="Download the faulty rows of an import",
        description="As they were read, so that they can be corrected and imported; cells that are too long are cut. They are "
        "kept for seven days; 40400 after that, where there are none, and for an import of all or nothing.",
        access=access,
        record=table.imports,
        query={"format": _FORMAT},
        bare=", ".join(MEDIA.values()),
        refusals=(Refusal(NOT_FOUND, hint=_NONE_KEPT),),
    )


def _words(at: str) -> str:
    return at.rpartition("/")[2].replace("-", " ")


class ImportNotices:
    """Informs the person behind a large import of its progress.

    It does so through the plugin that handles notifications, if one is loaded.
    """

    async def progress(self, req: Request, table: Table, record: Record, *, over: bool) -> None:
        """Push the progress to the person's clients."""
        counts = {name: record[name] for name in ("done", "total", "created", "updated", "unchanged", "failed")}
        data = {"import_id": str(record["id"]), **counts}
        await req.emit(
            NOTIFY_PROGRESS,
            user_ids=[record["creator_id"]],
            kind=_KIND,
            key=f"import:{record['id']}",
            data=None if over else data,
        )

    async def finished(self, req: Request, table: Table, record: Record, *, notify: bool) -> None:
        """Send a message, if the person did not wait for the end."""
        if not notify:
            return
        menu = next((menu for menu in req.part(Catalogue).menus if menu.resource == table.resource), None)
        title = menu.title if menu is not None else Message(table.file_name, table.file_name)
        counts = {name: record[name] for name in ("created", "updated", "failed")}
        await req.emit(
            NOTIFY,
            user_ids=[record["creator_id"]],
            kind=_KIND,
            title=Message(DONE.zh.format(title=title.zh, **counts), DONE.en.format(title=title.en, **counts)),
            link=menu.path if menu is not None else None,
            data={"import_id": str(record["id"])},
            key=f"import:{record['id']}",
        )
        await self.progress(req, table, record, over=True)
