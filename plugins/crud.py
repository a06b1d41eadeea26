"""`crud`: list, read, create, update and delete of a collection, as plain `Route` values that you can print.

An author may replace the handler of each, and leave actions out with `only`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack, cast

from handlers.data.collection import Collection
from handlers.data.listing import Page
from handlers.events import Event
from handlers.request import Request
from handlers.route import Handler, Refusal, Route, RouteOptions, conflicts, route
from handlers.schema.errors import DUPLICATE, STALE, ErrorKind
from handlers.schema.fields import NOTHING
from handlers.schema.messages import REFERENCES_GONE
from handlers.schema.values import Record
from plugins.record_history import (
    DELETED,
    DELETED_REFUSED,
    HISTORY_QUERY,
    NOT_DELETED,
    RECORD_CHANGE,
    historian,
    lister_of_deleted,
    restorer,
)

ACTIONS = ("list", "read", "create", "update", "delete")
_FURTHER = {"history": "read", "restore": "delete"}  # made with these actions, unless they are left out


class CrudHandlers(TypedDict, total=False):
    """Handlers of the plugin, by the action whose handler they replace."""

    list: Handler
    read: Handler
    create: Handler
    update: Handler
    delete: Handler
    restore: Handler


def crud(
    collection: Collection,
    *,
    at: str,
    resource: str,
    noun: str | None = None,
    only: Sequence[str] = ACTIONS,
    without: Sequence[str] = (),
    plural: str | None = None,
    refusals: tuple[Refusal, ...] = (),
    refusals_of: Mapping[str, tuple[Refusal, ...]] | None = None,
    errors: tuple[ErrorKind, ...] = (),
    events: tuple[Event | str, ...] = (),
    **handlers: Unpack[CrudHandlers],
) -> tuple[Route, ...]:
    """The routes of `collection` under the path `at`, each with the permission `<resource>:<action>`.

    The paths are `at` (list, create) and `at` with `/{id}` (read, update, delete), `/{id}/history` (with read) and
    `/{id}/restore` (with delete, for holders of `<resource>:restore`, whom `?deleted=true` of the list shows the
    deleted records); `without` leaves these two out. `resource` is `<module>:<entity>`;
    `noun` names one record in summaries, where the collection's does not; `handlers` replace those of actions, by name.
    `refusals` belong to the actions that write, `refusals_of` to the action of that name; `errors` are further errors
    of `create` and `update`; `events` are events of the actions that write, whose listeners may refuse the request too.
    Raises ValueError for handlers or refusals of an action that is not in `only`.
    """
    further = refusals_of or {}
    followed = {} if collection.plain else _FURTHER
    actions = {*only, *(action for action, base in followed.items() if base in only and action not in without)}
    unknown = (set(only) - set(ACTIONS)) | (set(without) - set(_FURTHER)) | ({*handlers, *further} - actions)
    if unknown:
        raise ValueError(f"crud of {collection.name} makes no {', '.join(sorted(unknown))}")
    called = noun or collection.noun.en or collection.title
    many, one = plural or f"{called}s", f"{'an' if called[0] in 'aeio' else 'a'} {called}"
    given = cast(Mapping[str, Handler], handlers)

    def declare(action: str, endpoint: str, handler: Handler, summary: str, **own: Unpack[RouteOptions]) -> Route:
        options: RouteOptions = {"record": collection, **own}
        return route(endpoint, given.get(action, handler), summary=summary, access=f"{resource}:{action}", **options)

    def declare_write(action: str, endpoint: str, handler: Handler, summary: str, **own: Unpack[RouteOptions]) -> Route:
        options: RouteOptions = {"refusals": (*refusals, *further.get(action, ())), "events": events, **own}
        return declare(action, endpoint, handler, summary, **options)

    created, updated = (DUPLICATE, *errors), (DUPLICATE, STALE, *errors)
    record = f"{at}/{{id}}"
    made = {
        "list": declare(
            "list", f"GET {at}", lister(collection), f"List {many}", paged=True, query=collection.list_query
        ),
        "read": declare("read", f"GET {record}", reader(collection), f"Read {one}"),
        "create": declare_write(
            "create", f"POST {at}", creator(collection), f"Create {one}", body=collection.create, errors=created
        ),
        "update": declare_write(
            "update", f"PATCH {record}", updater(collection), f"Change {one}", body=collection.update, errors=updated
        ),
        "delete": declare_write("delete", f"DELETE {record}", deleter(collection), f"Delete {one}", returns=NOTHING),
        "restore": declare_write(
            "restore",
            f"POST {record}/restore",
            restorer(collection),
            f"Restore {one}",
            refusals=(*refusals, NOT_DELETED, *conflicts(REFERENCES_GONE), *further.get("restore", ())),
            errors=created,
            # nothing that the scope of live records could show
            collection="",
        ),
    }
    restore = made["restore"] if "restore" in actions else None
    made["history"] = _history(collection, made["read"], restore, one)
    if restore is not None:
        made["list"] = _with_deleted(collection, made["list"], restore)
    return tuple(made[action] for action in (*ACTIONS, *_FURTHER) if action in actions)


def _history(collection: Collection, read: Route, restore: Route | None, one: str) -> Route:
    """The route of the changes of a record, for whoever may read it."""
    return route(
        f"GET {read.path}/history",
        historian(collection, read.handler, restore),
        summary=f"List the changes of {one}",
        access=read.access,
        returns=RECORD_CHANGE,
        query=HISTORY_QUERY,
        paged=True,
        collection=collection.name,
    )


def _with_deleted(collection: Collection, listing: Route, restore: Route) -> Route:
    """The list route with `?deleted=true`, for whoever may restore."""
    return replace(
        listing,
        handler=lister_of_deleted(collection, listing.handler, restore),
        query={**listing.query, "deleted": DELETED},
        refusals=(*listing.refusals, DELETED_REFUSED),
    )


def lister(collection: Collection) -> Handler:
    """Make a handler that returns a page of `collection`."""

    async def list_records(req: Request) -> Page:
        return await req.store(collection).page(req.query)

    return list_records


def reader(collection: Collection) -> Handler:
    """Make a handler that returns one record."""

    async def read_record(req: Request) -> Record:
        return await req.store(collection).get(req.path["id"])

    return read_record


def creator(collection: Collection) -> Handler:
    """Make a handler that creates a record from the body."""

    async def create_record(req: Request) -> Record:
        return await req.store(collection).create(req.body)

    return create_record


def updater(collection: Collection) -> Handler:
    """Make a handler that updates a record from the body, which has its `version`."""

    async def update_record(req: Request) -> Record:
        values = dict(req.body)
        version = values.pop("version")
        return await req.store(collection).update(req.path["id"], values, version=version)

    return update_record


def deleter(collection: Collection) -> Handler:
    """Make a handler that soft-deletes a record."""

    async def delete_record(req: Request) -> None:
        await req.store(collection).delete(req.path["id"])

    return delete_record
