"""Which values of a dictionary are used by records: such items can be disabled, but not deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Request
from plugins.api.fields import fields_in
from plugins.api.records import Catalogue
from plugins.system.messages import ITEM_USED


async def refuse_lost(req: Request, type: str, before: Iterable[Mapping[str, Any]], after: Iterable[Any]) -> None:
    """Raise 40901 if a record has the value of an item that is in `before` but no longer in `after`."""
    lost = {item["value"] for item in before} - {item["value"] for item in after}
    for collection, path in _bound(req.part(Catalogue).collections.values(), type) if lost else ():
        found = await req.system_store(collection).find_one({path: {"$in": sorted(lost)}})
        if found is not None:
            value = next(one for one in _values_at(found, path.split(".")) if one in lost)
            raise ApiError(CONFLICT, ITEM_USED.filled(value=value))


def _bound(collections: Iterable[Collection], type: str) -> Iterator[tuple[Collection, str]]:
    """Yield each collection with a field that is bound to the dictionary, and the path of the field in queries."""
    for collection in collections:
        for path, field in fields_in(collection.read):
            if field.dictionary == type:
                yield collection, path.replace("[]", "")


def _values_at(value: Any, names: Sequence[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _values_at(one, names)
    elif not names:
        yield value
    elif isinstance(value, Mapping):
        yield from _values_at(value.get(names[0]), names[1:])
