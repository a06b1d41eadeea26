"""`crud`: routes that list, read, create, update and delete records, as plain `Route` values that you can print.

A plugin may replace the handler of each, and leave actions out with `only`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypedDict, Unpack, cast

from handlers.data.collection import Collection
from handlers.data.lists.filters import Page
from handlers.data.visible.visibility import decisive_fields
from handlers.events import Event
from handlers.request import Request
from handlers.route import Handler, Refusal, Route, RouteOptions, conflicts, route
from handlers.schema.errors import DUPLICATE, STALE, ErrorKind
from handlers.schema.fields import NOTHING, integer
from handlers.schema.messages import REFERENCES_GONE
from handlers.schema.values import Record
from plugins.records.always_editable import notes_of
from plugins.records.history import (
    DELETED,
    DELETED_REFUSED,
    HISTORY_QUERY,
    NOT_DELETED,
    RECORD_CHANGE,
    historian,
    lister_of_deleted,
    restorer,
)
from plugins.records.lifecycles import Find
from plugins.records.transitions import find_visible
from plugins.records.wording import noun_of, plural_of, with_article

ACTIONS = ("list", "read", "create", "update", "delete")
_VERSION = integer(
    minimum=1,
    nullable=False,
    description="The version that was read; if the record has changed since, the response is 40902.",
)
_FURTHER = {"history": "read", "restore": "delete"}  # each is made together with this action, unless it is left out

FINAL = "The deletion is final: there is no restoring."


class CrudHandlers(TypedDict, total=False):
    """Handlers of a plugin, by the action whose handler they replace."""

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
    always: Sequence[str] = (),
    find: Find = find_visible,
    refusals: tuple[Refusal, ...] = (),
    refusals_of: Mapping[str, tuple[Refusal, ...]] | None = None,
    errors: tuple[ErrorKind, ...] = (),
    events: tuple[Event | str, ...] = (),
    **handlers: Unpack[CrudHandlers],
) -> tuple[Route, ...]:
    """Return the routes of `collection` under the path `at`, each with the permission `<resource>:<action>`.

    The paths are `at` (list, create) and `at` with `/{id}` (read, update, delete), `/{id}/history` (made with read) and
    `/{id}/restore` (made with delete, for holders of `<resource>:restore`, to whom `?deleted=true` of the list shows
    the deleted records); `without` leaves these two out. `resource` is `<module>:<entity>`; `noun` and `plural` name
    records in summaries, by default as the collection does; `handlers` replace those of actions, by name. `always` are
    fields that may change at any time: `PATCH` of `/{id}/notes`, with the permission to update, changes only these,
    even if the record can no longer be edited; `find` gets the record for it, by default any in the data scope.
    `refusals` belong to the actions that write, `refusals_of` to the action of that name; `errors` are further errors
    of `create` and `update`; `events` are events of the actions that write, whose listeners may refuse the request too.
    Raises ValueError for handlers or refusals of an action that is not in `only`.
    """
    actions = _actions(collection, only, without, {*handlers, *(refusals_of or {})})
    called = noun or noun_of(collection)
    declared = _Crud(
        collection, at, resource, called, plural or plural_of(called), refusals, refusals_of or {}, errors, events
    )
    made = declared.routes(cast(Mapping[str, Handler], handlers))
    restore = made["restore"] if "restore" in actions else None
    made["history"] = history_of(collection, made["read"], restore, declared.one)
    if restore is not None:
        made["list"] = with_deleted(collection, made["list"], (restore,))
    else:
        made["delete"] = replace(made["delete"], description=FINAL)
    notes = (declared.notes(always, find),) if always else ()
    return (*(made[action] for action in (*ACTIONS, *_FURTHER) if action in actions), *notes)


def _actions(collection: Collection, only: Sequence[str], without: Sequence[str], named: Set[str]) -> Set[str]:
    """Return the actions to make routes for. Raises ValueError for a name that is not one of them."""
    followed = {} if collection.plain else _FURTHER
    actions = {*only, *(action for action, base in followed.items() if base in only and action not in without)}
    unknown = (set(only) - set(ACTIONS)) | (set(without) - set(_FURTHER)) | (named - actions)
    if unknown:
        raise ValueError(f"crud of {collection.name} makes no {', '.join(sorted(unknown))}")
    return actions


@dataclass(frozen=True)
class _Crud:
    """What the routes of one collection have in common."""

    collection: Collection
    at: str
    resource: str
    noun: str
    plural: str
    refusals: tuple[Refusal, ...]
    refusals_of: Mapping[str, tuple[Refusal, ...]]
    errors: tuple[ErrorKind, ...]
    events: tuple[Event | str, ...]

    @property
    def one(self) -> str:
        """The noun with its article."""
        return with_article(self.noun)

    def routes(self, handlers: Mapping[str, Handler]) -> dict[str, Route]:
        """Return the route of each action except `history`; `handlers` replace the usual ones."""
        collection, record = self.collection, f"{self.at}/{{id}}"
        created, updated = (DUPLICATE, *self.errors), (DUPLICATE, STALE, *self.errors)
        get = {name: handlers.get(name, make(collection)) for name, make in _HANDLERS.items()}
        return {
            "list": self._declare(
                "list", f"GET {self.at}", get["list"], f"List {self.plural}", paged=True, query=collection.list_query
            ),
            "read": self._declare("read", f"GET {record}", get["read"], f"Read {self.one}"),
            "create": self._declare_write(
                "create", f"POST {self.at}", get["create"], f"Create {self.one}", body=collection.create, errors=created
            ),
            "update": self._declare_write(
                "update", f"PATCH {record}", get["update"], f"Change {self.one}", body=collection.update, errors=updated
            ),
            "delete": with_version(
                collection,
                self._declare_write("delete", f"DELETE {record}", get["delete"], f"Delete {self.one}", returns=NOTHING),
            ),
            "restore": self._declare_write(
                "restore",
                f"POST {record}/restore",
                get["restore"],
                f"Restore {self.one}",
                refusals=(
                    *self.refusals,
                    NOT_DELETED,
                    *conflicts(REFERENCES_GONE),
                    *self.refusals_of.get("restore", ()),
                ),
                errors=created,
                # the data scope of the collection shows live records only
                collection="",
            ),
        }

    def notes(self, fields: Sequence[str], find: Find) -> Route:
        """Return the route of the fields that may always change."""
        access = f"{self.resource}:update"
        return notes_of(self.collection, fields, at=self.at, access=access, find=find, refusals=self.refusals)

    def _declare_write(
        self, action: str, endpoint: str, handler: Handler, summary: str, **own: Unpack[RouteOptions]
    ) -> Route:
        refusals = (*self.refusals, *self.refusals_of.get(action, ()))
        options: RouteOptions = {"refusals": refusals, "events": self.events, **own}
        return self._declare(action, endpoint, handler, summary, **options)

    def _declare(
        self, action: str, endpoint: str, handler: Handler, summary: str, **own: Unpack[RouteOptions]
    ) -> Route:
        options: RouteOptions = {"record": self.collection, **own}
        return route(endpoint, handler, summary=summary, access=f"{self.resource}:{action}", **options)


def history_of(collection: Collection, read: Route, restore: Route | None, one: str) -> Route:
    """Return the route that lists the changes of a record, for whoever may read it."""
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


def with_deleted(collection: Collection, listing: Route, made: Sequence[Route]) -> Route:
    """Return the list route with `?deleted=true`, for whoever may use the restoring among the routes that `crud` made."""
    restore = next(one for one in made if one.path == f"{listing.path}/{{id}}/restore")
    return replace(
        listing,
        handler=lister_of_deleted(collection, listing.handler, restore),
        query={**listing.query, "deleted": DELETED},
        refusals=(*listing.refusals, DELETED_REFUSED),
    )


def with_version(collection: Collection, deletion: Route) -> Route:
    """Return the route of a deletion with an optional `?version=`, the version that the client read."""
    if collection.plain:
        return deletion

    async def delete_version(req: Request) -> object:
        version = req.query.get("version")
        if version is None:
            return await deletion.handler(req)

        async def work() -> object:
            # a change by somebody else after this is a write conflict, and the work runs again
            record = await req.store(collection).get(req.path["id"])
            if record["version"] != version:
                raise await req.store(collection).stale(record["id"], version)
            return await deletion.handler(req)

        return await req.transaction(work)

    query = {**deletion.query, "version": _VERSION}
    return replace(deletion, handler=delete_version, query=query, errors=(*deletion.errors, STALE))


def lister(collection: Collection) -> Handler:
    """Make a handler that returns a page of `collection`."""

    async def list_records(req: Request) -> Page:
        store = req.store(collection)
        return await store.page(req.query, fields=_read_fields(store.collection))

    return list_records


def reader(collection: Collection) -> Handler:
    """Make a handler that returns one record."""

    async def read_record(req: Request) -> Record:
        store = req.store(collection)
        return await store.get(req.path["id"], fields=_read_fields(store.collection))

    return read_record


@lru_cache(maxsize=512)  # a few for each collection: every change of its own fields makes another one
def _read_fields(collection: Collection) -> tuple[str, ...]:
    """Return the fields to read for a response; reading those that none shows would cost as much as the others."""
    shown = (name for name in collection.read.response_fields if name != "id")
    return tuple(dict.fromkeys([*shown, *decisive_fields(collection)]))


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


_HANDLERS: Mapping[str, Callable[[Collection], Handler]] = {
    "list": lister,
    "read": reader,
    "create": creator,
    "update": updater,
    "delete": deleter,
    "restore": restorer,
}
