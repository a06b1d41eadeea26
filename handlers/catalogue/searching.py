"""Search in all lists at once: what a caller may list and read is found by one query, with a bounded read of each list.

Each list answers through its own handler, so its permission, data scope, search keys and shown fields hold here too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.dictionaries import Dictionaries
from handlers.data.collection import Collection
from handlers.data.lists.filters import Page
from handlers.data.lists.normalizing import fold
from handlers.data.lists.search import search_key
from handlers.data.references.record_names import name_of
from handlers.lifecycle import refusal
from handlers.ports import Authorizer
from handlers.request import Request
from handlers.route import SIGNED_IN, Route, route
from handlers.schema.envelope import project
from handlers.schema.errors import ApiError, invalid
from handlers.schema.fields import anything, array, integer, obj, text
from handlers.schema.naming import MAX_NAME
from handlers.schema.values import Json, Query, Record

INCOMPLETE_HEADER = "X-Incomplete"
_AT_ONCE = 8  # lists that one process reads at the same time for all searches
_SECONDS = 2.0  # a list that takes longer is left out, and named in the header
_MOST = 50
_LONGEST = 80  # characters of a text that stands for a name, and of a hint


@dataclass(frozen=True)
class _Source:
    """A list that is searched, and the route that reads one of its records."""

    kind: str
    collection: Collection
    listing: Route
    reading: Route


class Searches:
    """The lists that have a search and whose records can be read, by kind, and how many are read at once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.sources: dict[str, _Source] = {}
        for one in _sources(catalogue):
            self.sources.setdefault(one.kind, one)
        self.slots = asyncio.Semaphore(_AT_ONCE)


def _sources(catalogue: Catalogue) -> Iterator[_Source]:
    kinds = {collection.name: kind for kind, collection in catalogue.biz_types.items()}
    named = {one.name: one for one in catalogue.routes}
    for one in catalogue.routes:
        collection, reading = catalogue.collections.get(one.collection), named.get(f"{one.name}/{{id}}")
        needs_more = any(field.required for field in one.query.values())
        if collection is None or reading is None or reading.collection != one.collection or needs_more:
            continue
        # what everybody may read without a permission, such as dictionaries, is no business record
        if one.method == "GET" and one.paged and one.guarded and not one.parameters and "q" in one.query:
            yield _Source(kinds.get(collection.name, collection.name), collection, one, reading)


async def search(req: Request) -> Sequence[Record]:
    """Return the records that `q` finds in the lists that the caller may list and read.

    Every kind gets an equal share of `page_size`; what one leaves goes to the others. Raises 40001 for unknown `kinds`.
    """
    searches, q = req.part(Searches), req.query["q"]
    wanted = req.query.get("kinds") or [*searches.sources]
    if not searches.sources.keys() >= set(wanted):
        raise invalid("kinds", "enum")
    if search_key(q) is None:
        return []  # without a letter or digit no index serves the search
    chosen = [one for one in searches.sources.values() if one.kind in wanted and await _may_use(req, one)]
    until = asyncio.get_running_loop().time() + _SECONDS
    found = await asyncio.gather(*(_found(req, one, searches.slots, until) for one in chosen))
    late = [one.kind for one, rows in zip(chosen, found, strict=True) if rows is None]
    if late:
        req.response_headers[INCOMPLETE_HEADER] = ",".join(late)
    return _shared_out([rows or [] for rows in found], req.query["page_size"])


async def _may_use(req: Request, source: _Source) -> bool:
    authorizer, both = req.part(Authorizer), (source.listing, source.reading)
    return not any([await refusal(req.actor, one, authorizer) for one in both])


async def _found(req: Request, source: _Source, slots: asyncio.Semaphore, until: float) -> Sequence[Record] | None:
    """Return what one list finds, names that begin with `q` first; None if it did not respond in time."""
    try:
        async with asyncio.timeout_at(until), slots:
            listed = await source.listing.handler(replace(req, route=source.listing, query=_query(req, source)))
    except TimeoutError:
        return None
    except ApiError:
        return []  # a list that refuses this caller has nothing for them
    rows = listed.items if isinstance(listed, Page) else []
    hits = [await _hit(req, source, project(source.listing.returns, row)) for row in rows]
    begun = fold(req.query["q"])
    return sorted(hits, key=lambda hit: not fold(str(hit["name"])).startswith(begun))


def _query(req: Request, source: _Source) -> Query:
    given = {"q": req.query["q"], "page_size": str(req.query["page_size"]), "with_total": "false"}
    return source.listing.check_query({name: [value] for name, value in given.items() if name in source.listing.query})


async def _hit(req: Request, source: _Source, row: Record) -> Record:
    collection = source.collection
    texts = [short for name in collection.searchable if (short := _short(row.get(name)))]
    name = name_of(collection, row) or next(iter(texts), collection.noun.text(req.language))
    code = _short(row.get(collection.code_field))
    second = next((one for one in (code, *texts) if one and one != _short(name)), None)
    hint = " · ".join(filter(None, (second, await _state(req, collection, row))))
    return {
        "kind": source.kind,
        "kind_name": collection.noun.text(req.language),
        "id": row["id"],
        "name": name,
        "hint": hint or None,
        "path": source.reading.path.replace("{id}", str(row["id"])),
    }


def _short(value: Json) -> str | None:
    return str(value)[:_LONGEST] if isinstance(value, str | int) and value != "" else None


async def _state(req: Request, collection: Collection, row: Mapping[str, Json]) -> str | None:
    """Return the label of the record's state, as administrators may have changed it; None if it has none."""
    machine = collection.states
    state = row.get(machine.field) if machine is not None else None
    if machine is None or not isinstance(state, str):
        return None
    field = collection.fields[machine.field]
    if field.dictionary:
        return await req.part(Dictionaries).label(field, state, req.language)
    return machine.states[state].text(req.language) if state in machine.states else state


def _shared_out(found: Sequence[Sequence[Record]], size: int) -> Sequence[Record]:
    """Return the first rows of each kind, `size` in all, grouped by kind."""
    order = sorted((place, kind) for kind, rows in enumerate(found) for place in range(len(rows)))[:size]
    return [found[kind][place] for kind, place in sorted((kind, place) for place, kind in order)]


_HIT = obj(
    "SearchHit",
    {
        "kind": text(nullable=False, example="AGREEMENT"),
        "kind_name": text(nullable=False, description="What one such record is called, in the caller's language."),
        "id": anything(nullable=False, description="An integer or a string, as in the records of the collection."),
        "name": text(max_length=MAX_NAME, nullable=False),
        "hint": text(description="What else tells the record from others: its code, a further text, its state."),
        "path": text(nullable=False, example="/api/v1/acme/agreements/65f0c0ffee65f0c0ffee65f0"),
    },
    nullable=False,
)
SEARCH_ROUTE = route(
    "GET /api/v1/meta/search",
    search,
    summary="Search in all lists",
    title=("全局搜索", "Search in all lists"),
    access=SIGNED_IN,
    tag="meta",
    query={
        "q": text(required=True, max_length=100, nullable=False, example="a", description="As in lists."),
        "kinds": array(
            text(max_length=64, min_length=1),
            max_items=50,
            nullable=False,
            example=[],
            description="Kinds to search, separated by commas; by default all. A kind is the business type as "
            "attachments name it or, without one, the name of the collection.",
        ),
        "page_size": integer(minimum=1, maximum=_MOST, default=20, example=20),
    },
    returns=array(_HIT, max_items=_MOST, nullable=False),
    description="Searches the lists that have a `q` and whose permission the caller has, as far as the caller may read "
    "the records too. Each kind gets an equal share of `page_size`, and what one leaves goes to the others. Lists that do "
    f"not respond within two seconds are left out; `{INCOMPLETE_HEADER}` names their kinds.",
)
