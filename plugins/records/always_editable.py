"""The route for fields of a record that may always change, such as `reference` and `remark`: `PATCH …/{id}/notes`."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.data.collection import Collection
from handlers.request import Request
from handlers.route import Handler, Refusal, Route, route
from handlers.schema.errors import STALE
from handlers.schema.fields import Field, obj
from handlers.schema.values import Record
from plugins.records.lifecycles import VERSION, Find
from plugins.records.wording import noun_of, with_article


def notes_of(
    collection: Collection, fields: Sequence[str], *, at: str, access: str, find: Find, refusals: tuple[Refusal, ...]
) -> Route:
    """Return the route that changes these `fields` of a record in any state, and nothing else.

    Raises ValueError for names that are not fields that clients write.
    """
    missing = [name for name in fields if name not in collection.fields or collection.fields[name].read_only]
    if missing:
        raise ValueError(f"crud of {collection.name}: {', '.join(missing)} cannot always be written by clients")
    return route(
        f"PATCH {at}/{{id}}/notes",
        _make_handler(collection, find),
        summary=f"Change {' and '.join(fields)} of {with_article(noun_of(collection))}",
        access=access,
        body=_body(collection, fields),
        record=collection,
        errors=(STALE,),
        refusals=refusals,
    )


def _make_handler(collection: Collection, find: Find) -> Handler:
    async def note(req: Request) -> Record:
        values = dict(req.body)
        record, version = await find(req, collection, req.path["id"]), values.pop("version", None)
        return await req.store(collection).update(record["id"], values, version=version)

    return note


def _body(collection: Collection, fields: Sequence[str]) -> Field:
    written = {name: collection.fields[name].but(required=False, default=None) for name in fields}
    return obj(f"{collection.title}Notes", {"version": VERSION, **written}, nullable=False)
