"""References in tables: cells name records by their code or name, which another installation understands too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from handlers.data.collection import Collection, order_field
from handlers.data.lists.normalizing import sort_key
from handlers.data.store import Store
from handlers.schema.errors import ApiError

_AT_ONCE = 500
_REMEMBERED = 20_000  # texts of an export; beyond this number they are looked up again


class Callings:
    """What the records of one collection are called in the cells of an export."""

    def __init__(self, store: Store, *, by_name: bool) -> None:
        self._store = store
        keys = key_fields(store.collection)
        self._order = [*reversed(keys)] if by_name else keys
        self._texts: dict[Any, str] = {}

    async def load(self, ids: Iterable[Any]) -> Mapping[Any, str]:
        """Return the text of each record: its code or name, as preferred, or its id if these fit several records."""
        if len(self._texts) > _REMEMBERED:
            self._texts.clear()
        missing = list(dict.fromkeys(id for id in ids if id is not None and id not in self._texts))
        for start in range(0, len(missing), _AT_ONCE):
            await self._load(missing[start : start + _AT_ONCE])
        return self._texts

    async def _load(self, ids: Sequence[Any]) -> None:
        rows = await self._store.find({"_id": {"$in": list(ids)}}, fields=self._order) if self._order else []
        texts = {str(row[name]) for row in rows for name in self._order if row.get(name)}
        fitting = await find_called(self._store, texts)
        for row in rows:
            names = (str(row[name]) for name in self._order if row.get(name))
            self._texts[row["id"]] = next((text for text in names if fitting.get(text) == {row["id"]}), str(row["id"]))
        for id in ids:
            self._texts.setdefault(id, str(id))


def key_fields(collection: Collection) -> list[str]:
    """Return the fields by which cells call a record: its code, then its name."""
    return list(dict.fromkeys(name for name in (collection.code_field, collection.label_field) if name))


async def find_called(store: Store, texts: Iterable[str]) -> Mapping[str, set[Any]]:
    """Return the ids of the visible records that have one of these texts as code or name, by the text."""
    found: defaultdict[str, set[Any]] = defaultdict(set)
    wanted = sorted(set(texts))
    for name in key_fields(store.collection):
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            for row in await store.find(_filter(store.collection, name, some), fields=[name]):
                found[row[name]].add(row["id"])
    return found


def _filter(collection: Collection, name: str, texts: Sequence[str]) -> dict[str, Any]:
    filter: dict[str, Any] = {name: {"$in": list(texts)}}
    if name in collection.stored_orders:
        person = collection.fields[name].person
        # names are indexed by their sort keys, not by their spelling
        return {order_field(name): {"$in": [sort_key(text, person) for text in texts]}, **filter}
    return filter


async def resolve(store: Store, texts: Iterable[str]) -> Mapping[str, set[Any]]:
    """Return the ids of the records that each of these texts may mean.

    Visible records are found by code or name. Any other text may be an id, which the handler that writes the row
    checks.
    """
    wanted = set(texts)
    found = dict(await find_called(store, wanted))
    return found | {text: {id} for text in wanted - set(found) if (id := _parse_id(store.collection, text)) is not None}


def _parse_id(collection: Collection, text: str) -> Any:
    try:
        return collection.parse_id(text)
    except ApiError:
        return None
