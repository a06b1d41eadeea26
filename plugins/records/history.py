"""What `crud` adds for the life of a record: its history, the list of deleted records, and restoring them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handlers.access.requests import missing_permission
from handlers.data.collection import THE_USERS, Collection
from handlers.data.history.history import CHANGES, Change
from handlers.data.history.restoring import restore
from handlers.data.lists.filters import Page, rows_before
from handlers.data.references.record_names import RecordNames
from handlers.lifecycle import refusal
from handlers.ports import Authorizer
from handlers.request import Request
from handlers.route import Handler, Refusal, Route
from handlers.schema.envelope import project
from handlers.schema.errors import FORBIDDEN, NOT_FOUND, ApiError
from handlers.schema.fields import anything, array, boolean, integer, obj, text, timestamp
from handlers.schema.messages import Message
from handlers.schema.naming import References, add_names, collect
from handlers.schema.values import Record

_FOR_RESTORERS = Message(
    "查看已删除的记录需要有恢复权限", "You need the permission to restore records in order to see deleted ones"
)
DELETED_REFUSED = Refusal(FORBIDDEN, _FOR_RESTORERS)
NOT_DELETED = Refusal(
    NOT_FOUND,
    hint=Message("没有该已删除的记录，或您无权查看", "There is no deleted record with this ID, or you may not see it"),
)
DELETED = boolean(
    default=False,
    nullable=False,
    label=("已删除", "Deleted"),
    description="`true` lists the deleted records; this needs the permission to restore them.",
)

_NAME = text(description="What the value refers to is called now, several names with commas; null for other values.")
_FIELD_CHANGE = obj(
    "FieldChange",
    {
        "field": text(label=("字段", "Field"), nullable=False),
        "label": text(label=("字段名称", "Label"), nullable=False, description="In the caller's language."),
        "before": anything(label=("变更前", "Before")),
        "after": anything(label=("变更后", "After")),
        "before_name": _NAME.but(label=("变更前名称", "Name before")),
        "after_name": _NAME.but(label=("变更后名称", "Name after")),
    },
    nullable=False,
)
RECORD_CHANGE = obj(
    "RecordChange",
    {
        "at": timestamp(label=("时间", "Time"), nullable=False),
        "user_id": integer(
            label=("操作人", "User"), minimum=0, nullable=False, ref=THE_USERS, description="0 is the service itself."
        ),
        "action": text(
            label=("操作", "Action"),
            nullable=False,
            example="update",
            description="`create`, `update`, `delete`, `restore`, or the last part of the path of an action.",
        ),
        "request_id": text(label=("请求编号", "Request ID")),
        "version": integer(
            label=("版本", "Version"),
            minimum=1,
            nullable=False,
            description="The version of the record after the change.",
        ),
        "changes": array(_FIELD_CHANGE, label=("变更内容", "Changes"), max_items=1000, nullable=False),
    },
    nullable=False,
)
HISTORY_QUERY = {
    **{name: CHANGES.list_query[name] for name in ("page", "page_size", "with_total")},
    "cursor": CHANGES.list_query["cursor"].but(example="20"),
}


def historian(collection: Collection, read: Handler, restoring: Route | None) -> Handler:
    """Make a handler that returns a page of the changes of a record, newest first, to whoever may `read` it.

    Whoever may use the route `restoring` may also read the history of a deleted record.
    """

    async def list_changes(req: Request) -> Page:
        record, known = await _find(req, collection, read, restoring), req.service.database.current(collection)
        start, size = rows_before(req.query), req.query["page_size"]
        # a cursor is the number of a change, so that it does not move when changes are added
        first = {"newest": start} if req.query.get("cursor") is not None else {"skip": start}
        changes, total = await req.service.database.history.page(known, record["id"], size, **first)
        items = [_entry(req, known, record, change) for change in changes]
        await _add_names(req, known, items)
        return Page(
            items=items,
            total=total if req.query["with_total"] else None,
            page=req.query["page"],
            page_size=size,
            next_cursor=str(changes[-1].n - 1) if changes and changes[-1].n else None,
        )

    return list_changes


async def _find(req: Request, collection: Collection, read: Handler, restoring: Route | None) -> Record:
    try:
        record: Any = await read(req)
    except ApiError as error:
        if error.kind is not NOT_FOUND or restoring is None or await _refusal(req, restoring):
            raise
        req.deleted = collection
        record = await read(req)
    return dict(record)


async def _refusal(req: Request, needed: Route) -> bool:
    return await refusal(req.actor, needed, req.part(Authorizer)) is not None


async def _add_names(req: Request, collection: Collection, entries: Sequence[Record]) -> None:
    """Add the names beside the references, and beside those within the values, such as those of lines."""
    shapes = {name: obj(None, {name: field}) for name, field in collection.recorded.items()}
    changes = [(change, shapes[change["field"]]) for entry in entries for change in entry["changes"]]
    values = [(shape, [{one["field"]: one["before"]}, {one["field"]: one["after"]}]) for one, shape in changes]
    found = References(set)
    for shape, both in values:
        collect(shape, both, found)
    names = await req.part(RecordNames).look_up(found, req.language)
    for (change, _), (shape, both) in zip(changes, values, strict=True):
        add_names(shape, both, names)
        for sibling in shape.siblings:
            named = [one[sibling.name] for one in both]
            change |= zip(("before_name", "after_name"), map(_joined, named), strict=True)


def _joined(name: str | list[str | None] | None) -> str | None:
    return ", ".join(filter(None, name)) if isinstance(name, list) else name


def _entry(req: Request, collection: Collection, record: Record, change: Change) -> Record:
    # what the response with the record leaves out, the history leaves out too
    shown = [name for name in collection.recorded if name in change.after and name in record]
    return {
        "at": change.at,
        "user_id": change.user_id,
        "action": change.action,
        "request_id": change.request_id,
        "version": change.version,
        "changes": [
            {
                "field": name,
                "label": label.text(req.language) if (label := field.label) else name,
                "before": project(field, change.before[name]),
                "after": project(field, change.after[name]),
            }
            for name in shown
            for field in (collection.recorded[name],)
        ],
    }


def lister_of_deleted(collection: Collection, handler: Handler, restoring: Route) -> Handler:
    """Make a list handler whose parameter `deleted` lists the deleted records, for whoever may use `restoring`."""

    async def list_records(req: Request) -> object:
        if req.query["deleted"]:
            if await _refusal(req, restoring):
                raise missing_permission(req, restoring.access, _FOR_RESTORERS)
            req.deleted = collection
        return await handler(req)

    return list_records


def restorer(collection: Collection) -> Handler:
    """Make a handler that restores a deleted record, and what was deleted with it."""

    async def restore_record(req: Request) -> Record:
        database = req.service.database
        return await req.transaction(lambda: restore(database, req.store(collection), req.path["id"]))

    return restore_record
