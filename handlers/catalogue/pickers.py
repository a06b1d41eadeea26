"""Pickers: the records that a form may refer to, for everybody who may send such a form."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from config.database import Document, Filter
from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import MAX_PAGE_SIZE, Collection, named
from handlers.data.references.record_names import name_of
from handlers.data.store import Store
from handlers.lifecycle import refusal
from handlers.ports import Authorizer
from handlers.request import Request
from handlers.route import SIGNED_IN, Refusal, Route, route
from handlers.schema.errors import FORBIDDEN, NOT_FOUND, ApiError, invalid
from handlers.schema.fields import anything, array, boolean, fields_in, integer, obj, text
from handlers.schema.messages import FOR_WRITERS, NOT_REFERRED
from handlers.schema.naming import MAX_NAME
from handlers.schema.values import Query, Record, RecordId


class Pickers:
    """The collections that bodies refer to, and the routes that take these bodies."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._collections = named(catalogue.collections.values())
        self._writers: dict[str, list[Route]] = defaultdict(list)
        for one in catalogue.routes:
            for collection in self._referred(one):
                self._writers[collection].append(one)

    def _referred(self, route: Route) -> set[str]:
        shapes = [shape for shape in (route.body, route.form) if shape is not None]
        fields = (field for shape in shapes for _, field in fields_in(shape) if not field.read_only)
        return {self._collections[field.ref].name for field in fields if field.ref in self._collections}

    @property
    def collections(self) -> Sequence[str]:
        """The names of the collections with a picker."""
        return sorted(self._writers)

    def collection(self, name: str) -> Collection:
        """Return the collection with this name or alias. Raises 40400 if no body refers to it."""
        collection = self._collections.get(name)
        if collection is None or collection.name not in self._writers:
            raise ApiError(NOT_FOUND)
        return collection

    def writers(self, collection: Collection) -> Sequence[Route]:
        """Return the routes whose body refers to the collection."""
        return self._writers[collection.name]


async def list_options(req: Request) -> Record:
    """Return the records of a collection that the caller may choose in a form.

    Raises 40300 if the caller may use no route whose body refers to the collection.
    """
    pickers = req.part(Pickers)
    collection = pickers.collection(req.path["collection"])
    authorizer = req.part(Authorizer)
    for writer in pickers.writers(collection):
        if await refusal(req.actor, writer, authorizer) is None:
            break
    else:
        raise ApiError(FORBIDDEN, FOR_WRITERS)
    store = req.store(collection)
    if req.query.get("ids") is not None:
        return {"items": [_option(collection, row) for row in await _by_ids(store, req.query)], "next_cursor": None}
    page = await store.page(*_page_query(store, req.query), fields=_read(collection), shown=_shown(collection))
    return {"items": [_option(collection, row) for row in page.items], "next_cursor": page.next_cursor}


async def _by_ids(store: Store, query: Query) -> list[Document]:
    """Return the records with the ids in the query that the caller sees and `q`, if given, finds, in this order."""
    collection, wanted = store.collection, list(dict.fromkeys(_ids(store.collection, query["ids"])))
    matching = {"$and": [{"_id": {"$in": wanted}}, *filter(None, [_searched(store, query.get("q"))])]}
    rows = await store.find(matching, fields=_read(collection), limit=len(wanted))
    found = {row["id"]: row for row in rows}
    return [found[id] for id in wanted if id in found]


def _ids(collection: Collection, given: Iterable[str]) -> Iterable[RecordId]:
    for id in given:
        try:
            yield collection.parse_id(id)
        except ApiError as error:
            raise invalid("ids", "type") from error


def _page_query(store: Store, query: Query) -> tuple[Mapping[str, object], Filter]:
    """Return the list query and the further filter for a page of the picker."""
    collection, shown = store.collection, _shown(store.collection)
    sort = next((name for name in shown if name in collection.sortable), "id")
    asked = {"page": 1, "page_size": query["page_size"], "cursor": query.get("cursor"), "sort": sort}
    # the list's own search, where it can be used, chooses an index by how many records it finds
    listed = set(shown) <= set(collection.searchable)
    searched = {"q": query.get("q")} if listed else {}
    return {**asked, **searched, "with_total": False}, {} if listed else _searched(store, query.get("q"))


def _searched(store: Store, q: str | None) -> Filter:
    """Return the filter for the records whose label or code `q` finds.

    A field that lists do not search must begin with `q`, if it is a text, or equal `q`, if it is an integer.
    """
    collection, wanted = store.collection, (q or "").strip()
    if not wanted:
        return {}
    shown = _shown(collection)
    begun = {"$regex": f"^{re.escape(wanted)}", "$options": "i"}
    unsearched = [name for name in shown if name not in collection.searchable]
    either: list[Filter] = [{name: begun} for name in unsearched if collection.fields[name].kind == "text"]
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 16:
        either += [{name: int(wanted)} for name in unsearched if collection.fields[name].kind == "integer"]
    if len(unsearched) < len(shown):
        either.append(store.search(wanted, shown))
    return {"$or": either} if either else {"_id": {"$in": []}}


def _shown(collection: Collection) -> tuple[str, ...]:
    """Return the fields by which records are found and sorted: only those that the picker shows."""
    return tuple(dict.fromkeys(filter(None, (collection.label_field, collection.code_field))))


def _read(collection: Collection) -> tuple[str, ...]:
    disabled = collection.disabled_value
    return (*_shown(collection), *((disabled[0],) if disabled else ()))


def _option(collection: Collection, row: Document) -> Record:
    code, disabled = row.get(collection.code_field), collection.disabled_value
    return {
        "id": row["id"],
        "name": name_of(collection, row),
        "code": str(code) if code is not None else None,
        "disabled": disabled is not None and row.get(disabled[0]) == disabled[1],
    }


_OPTION = obj(
    "PickerOption",
    {
        "id": anything(nullable=False, description="An integer or a string, as in the records of the collection."),
        "name": text(max_length=MAX_NAME),
        "code": text(max_length=MAX_NAME),
        "disabled": boolean(
            nullable=False, description="True if it can no longer be chosen; it is still shown where it was."
        ),
    },
    nullable=False,
)
_QUERY = {
    "q": text(max_length=100, nullable=False, example="a", description="Searches name and code, as lists do."),
    "ids": array(
        text(max_length=100, min_length=1, example="65f0c0ffee65f0c0ffee65f0"),
        min_items=1,
        max_items=MAX_PAGE_SIZE,
        nullable=False,
        description="Returns the records with these IDs, in this order, instead of a page. Records that the caller "
        "cannot see are left out.",
    ),
    "page_size": integer(minimum=1, maximum=MAX_PAGE_SIZE, default=20, example=20),
    "cursor": text(max_length=2000, nullable=False, description="`next_cursor` of the previous page."),
}
PICKER_ROUTE = route(
    "GET /api/v1/meta/options/{collection}",
    list_options,
    summary="List the records that a form may refer to",
    access=SIGNED_IN,
    tag="meta",
    query=_QUERY,
    returns=obj(
        "PickerPage",
        {
            "items": array(_OPTION, max_items=MAX_PAGE_SIZE, nullable=False),
            "next_cursor": text(
                max_length=2000, description="Pass it as `cursor` to get the next page; null on the last page."
            ),
        },
        nullable=False,
    ),
    refusals=(Refusal(FORBIDDEN, FOR_WRITERS), Refusal(NOT_FOUND, hint=NOT_REFERRED)),
    description="`collection` is the name of a collection, or `users` or `departments`. Open to everyone who may "
    "send a request that refers to it. Returns the records within the caller's data scope, or all if it does not "
    "apply to them.",
)
