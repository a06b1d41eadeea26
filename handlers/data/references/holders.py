"""Holders: the records that refer to another one, and what its deletion does to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from config.database import Driver, Filter
from handlers.data.collection import Collection, named
from handlers.data.index import LIVE
from handlers.data.references.links import Link
from handlers.data.sync.locks import exclude_sharers
from handlers.schema.errors import CONFLICT, ApiError
from handlers.schema.fields import Field, OnDelete
from handlers.schema.messages import Message
from handlers.schema.values import Operators, RecordId

HELD = Message("仍被引用（{holders}），不能删除", "It is still in use ({holders}) and cannot be deleted")
TOO_MANY = Message(
    "关联的记录超过 {most} 条，请先分批删除", "More than {most} records belong to it; delete them in batches first"
)
HELD_BY_ABSENT = Message(
    "插件“{plugin}”未启用，但其记录仍引用它，不能删除：请先启用或清除该插件",
    "Records of the plugin {plugin} refer to it, and that plugin is not enabled: enable or purge the plugin first",
)
MOST_CASCADED = 20_000
_MOST_COUNTED = 1000


@dataclass(frozen=True)
class Holder:
    """A reference of `collection` that matters when its target is deleted: it restricts, cascades or is cleared."""

    collection: Collection
    link: Link

    def referring(self, ids: Sequence[RecordId]) -> dict[str, object]:
        """Return the filter for the live records that refer to one of these ids."""
        live = {} if self.collection.plain else LIVE
        return {**live, self.link.path: ids[0] if len(ids) == 1 else {"$in": list(ids)}}


Holders = Mapping[str, Sequence[Holder]]


def find_holders(collections: Iterable[Collection]) -> Holders:
    """Map the name of each collection to the references that matter when its records are deleted."""
    found: dict[str, list[Holder]] = defaultdict(list)
    known = named(collections)
    for collection in {one.name: one for one in known.values()}.values():
        for link in collection.acting_links:
            if link.target in known:
                found[known[link.target].name].append(Holder(collection, link))
    return dict(found)


def absent_holder(plugin: str, collection: str, path: str, target: str, plain: bool) -> Holder:
    """Return a reference of a plugin that is not loaded: whatever its rule, nobody could keep that, so it restricts."""
    field = Field(kind="any", rules={}, ref=target, on_delete="restrict", held=HELD_BY_ABSENT.filled(plugin=plugin))
    return Holder(Collection(collection, collection, {}, plain=plain), Link(path, field, (), False))


def refusals_to_delete(holders: Holders, collection: str) -> tuple[Message, ...]:
    """Return the messages with which deleting a record of `collection` may be refused because of its holders."""
    messages: list[Message] = [HELD_BY_ABSENT]
    waiting, visited = [collection], {collection}
    while waiting:
        for holder in holders.get(waiting.pop(), ()):
            if holder.link.on_delete == "restrict":
                messages.append(holder.link.held or HELD)
            elif holder.link.on_delete == "cascade":
                messages.append(TOO_MANY)
                if holder.collection.name not in visited:
                    visited.add(holder.collection.name)
                    waiting.append(holder.collection.name)
    return tuple(dict.fromkeys(messages))


class HolderStore(Protocol):
    """The part of a store that a deletion uses: all records of a collection, with audit stamps of whoever deletes."""

    async def update_many(self, filter: Filter, operators: Operators) -> int:
        """Change every record that matches; return how many."""


class Release:
    """Releases the holders of deleted records within the transaction: refuses the deletion, or deletes or clears them.

    A deletion locks the deleted records, and a write locks the records that it refers to. So when a record is deleted
    while another one starts to refer to it, one of the two transactions sees what the other has done.
    """

    def __init__(
        self, driver: Driver, holders: Holders, store_of: Callable[[Collection], HolderStore], now: datetime
    ) -> None:
        self._driver = driver
        self._holders = holders
        self._store_of = store_of
        self._now = now
        self._deleted: dict[str, set[RecordId]] = defaultdict(set)
        self._cascaded = 0

    async def run(self, collection: str, id: RecordId) -> None:
        """Release the holders of a record that the transaction has deleted. Raises 40901 if a holder restricts that."""
        await self._cascade(collection, [id])
        # after the cascade, so that records deleted with this one do not hold it
        await self._refuse_held()
        for holder, ids in self._affected("clear"):
            await self._clear(holder, ids)

    async def _cascade(self, collection: str, ids: Sequence[RecordId]) -> None:
        fresh = [id for id in ids if id not in self._deleted[collection]]
        holders = self._holders.get(collection, ())
        if not fresh or not holders:
            return
        self._deleted[collection].update(fresh)
        await exclude_sharers(self._driver, [(collection, id) for id in fresh])
        for holder in holders:
            if holder.link.on_delete == "cascade":
                await self._delete(holder, fresh)

    async def _delete(self, holder: Holder, ids: Sequence[RecordId]) -> None:
        name, referring = holder.collection.name, holder.referring(ids)
        below: list[RecordId] = []
        if self._holders.get(name):
            rows = await self._driver.find(name, referring, fields=["_id"], limit=MOST_CASCADED + 1)
            below = [row["_id"] for row in rows]
        deletion = {"$set": {"deleted": True, "deleted_at": self._now}}
        self._cascaded += await self._store_of(holder.collection).update_many(referring, deletion)
        if max(self._cascaded, len(below)) > MOST_CASCADED:
            raise ApiError(CONFLICT, TOO_MANY.filled(most=MOST_CASCADED))
        await self._cascade(name, below)

    async def _refuse_held(self) -> None:
        found: dict[str, tuple[Collection, int]] = {}
        messages: list[Message] = []
        for holder, ids in self._affected("restrict"):
            name = holder.collection.name
            count = await self._driver.count(name, holder.referring(ids), limit=_MOST_COUNTED)
            if count:
                found[name] = (holder.collection, max(count, found[name][1] if name in found else 0))
                messages.append(holder.link.held or HELD)
        if not found:
            return
        zh = "，".join(f"{_noun(one).zh} {_amount(count)}" for one, count in found.values())
        en = ", ".join(f"{_noun(one).en}: {_amount(count)}" for one, count in found.values())
        message = messages[0]
        if message == HELD:
            message = Message(HELD.zh.format(holders=zh), HELD.en.format(holders=en))
        held_by = [{"collection": name, "count": count} for name, (_, count) in found.items()]
        raise ApiError(CONFLICT, message, data={"held_by": held_by})

    async def _clear(self, holder: Holder, ids: Sequence[RecordId]) -> None:
        path = holder.link.path
        emptied = {"$pull": {path: {"$in": list(ids)}}} if holder.link.is_list else {"$set": {path: None}}
        await self._store_of(holder.collection).update_many(holder.referring(ids), emptied)

    def _affected(self, on_delete: OnDelete) -> Iterator[tuple[Holder, Sequence[RecordId]]]:
        """Yield each reference with this rule to deleted records, with the ids of those records."""
        for collection, ids in list(self._deleted.items()):
            for holder in self._holders.get(collection, ()):
                if holder.link.on_delete == on_delete:
                    yield holder, sorted(ids, key=str)


def _noun(collection: Collection) -> Message:
    return collection.noun if all(collection.noun) else Message(collection.title, collection.title)


def _amount(count: int) -> str:
    return f"{count}+" if count == _MOST_COUNTED else str(count)
