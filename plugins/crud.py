"""List, read, create, update and delete of a collection, as plain `Route` values that you can print.

Each can be replaced by a handler of your own; what is left out of `only` does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from handlers.data.collection import Collection
from handlers.data.listing import Page
from handlers.request import Request
from handlers.route import Handler, Refusal, Route, RouteOptions, route
from handlers.schema.errors import DUPLICATE, STALE, ErrorKind
from handlers.schema.fields import NOTHING

ACTIONS = ("list", "read", "create", "update", "delete")


class CrudHandlers(TypedDict, total=False):
    """Handlers of the author's own, by the action that they replace."""

    list: Handler
    read: Handler
    create: Handler
    update: Handler
    delete: Handler


def crud(
    collection: Collection,
    *,
    at: str,
    resource: str,
    noun: str,
    only: Sequence[str] = ACTIONS,
    plural: str | None = None,
    refusals: tuple[Refusal, ...] = (),
    refusals_of: Mapping[str, tuple[Refusal, ...]] | None = None,
    errors: tuple[ErrorKind, ...] = (),
    asks: tuple[str, ...] = (),
    **handlers: Unpack[CrudHandlers],
) -> tuple[Route, ...]:
    """The routes of `collection` under the path `at`, guarded by `<resource>:<action>`.

    `resource` is `<module>:<entity>`; `noun` names one record in summaries; `handlers` replace actions by name;
    `refusals` are those of the actions that write, `refusals_of` further ones of the action of that name;
    `errors` are further ones of `create` and `update`; `asks` are events of the actions that write, whose listeners
    may refuse too. Raises ValueError for an action that is not made.
    """
    further = refusals_of or {}
    unknown = (set(only) - set(ACTIONS)) | ({*handlers, *further} - set(only))
    if unknown:
        raise ValueError(f"crud of {collection.name} makes no {', '.join(sorted(unknown))}")
    many, one = plural or f"{noun}s", f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"

    def options(action: str, **own: Unpack[RouteOptions]) -> RouteOptions:
        shown: RouteOptions = {"record": collection, **own}
        if action in ("list", "read"):
            return shown
        return {**shown, "refusals": (*refusals, *further.get(action, ())), "asks": asks}

    made = {
        "list": route(
            f"GET {at}",
            handlers.get("list", lister(collection)),
            summary=f"List {many}",
            access=f"{resource}:list",
            **options("list", paged=True, query=collection.list_query),
        ),
        "read": route(
            f"GET {at}/{{id}}",
            handlers.get("read", reader(collection)),
            summary=f"Read {one}",
            access=f"{resource}:read",
            **options("read"),
        ),
        "create": route(
            f"POST {at}",
            handlers.get("create", creator(collection)),
            summary=f"Create {one}",
            access=f"{resource}:create",
            **options("create", body=collection.create, errors=(DUPLICATE, *errors)),
        ),
        "update": route(
            f"PATCH {at}/{{id}}",
            handlers.get("update", updater(collection)),
            summary=f"Change {one}",
            access=f"{resource}:update",
            **options("update", body=collection.update, errors=(DUPLICATE, STALE, *errors)),
        ),
        "delete": route(
            f"DELETE {at}/{{id}}",
            handlers.get("delete", deleter(collection)),
            summary=f"Delete {one}",
            access=f"{resource}:delete",
            **options("delete", returns=NOTHING),
        ),
    }
    return tuple(made[action] for action in ACTIONS if action in only)


def lister(collection: Collection) -> Handler:
    """A handler that answers a page of `collection`."""

    async def list_records(req: Request) -> Page:
        return await req.store(collection).page(req.query)

    return list_records


def reader(collection: Collection) -> Handler:
    """A handler that answers one record."""

    async def read_record(req: Request) -> dict[str, Any]:
        return await req.store(collection).get(req.path["id"])

    return read_record


def creator(collection: Collection) -> Handler:
    """A handler that creates a record from the body."""

    async def create_record(req: Request) -> dict[str, Any]:
        return await req.store(collection).create(req.body)

    return create_record


def updater(collection: Collection) -> Handler:
    """A handler that changes a record by the body, which carries `version`."""

    async def update_record(req: Request) -> dict[str, Any]:
        values = dict(req.body)
        version = values.pop("version")
        return await req.store(collection).update(req.path["id"], values, version=version)

    return update_record


def deleter(collection: Collection) -> Handler:
    """A handler that deletes a record softly."""

    async def delete_record(req: Request) -> None:
        await req.store(collection).delete(req.path["id"])

    return delete_record
