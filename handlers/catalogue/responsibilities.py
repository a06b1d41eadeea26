"""Holdings: the records that people are responsible for, so that they can be counted, and handed over to somebody else.

A plugin declares them. `replace_person` moves most of them; where a new owner has further effects, the plugin moves
them itself, as if somebody changed them by hand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from config.database import Filter
from handlers.data.collection import Collection
from handlers.data.references.links import Link
from handlers.data.store import Store
from handlers.request import Request
from handlers.schema.messages import Message
from handlers.schema.values import Json, ReadOnlyRecord, Record


@dataclass(frozen=True)
class Move:
    """A move of records of a holding from one person to another, within one transaction.

    `req` is a request of whoever hands them over; the receiver (`to_id`) is an enabled user.
    """

    req: Request
    holding: Holding
    from_id: int
    to_id: int

    @property
    def store(self) -> Store[Any]:
        """A store of all records of the collection; writes carry the audit stamp of whoever hands them over."""
        return self.req.system_store(self.holding.collection)

    def replaced(self, record: ReadOnlyRecord) -> Record:
        """Return the changed field of a record: the receiver replaces the person, and lists have no duplicates."""
        name, *inner = self.holding.field.split(".")
        return {name: _replaced(record[name], inner, self.from_id, self.to_id)}


async def replace_person(move: Move, records: Sequence[ReadOnlyRecord]) -> None:
    """Put the receiver in place of the person in these records. For holdings where this has no further effects."""
    link = move.holding.link
    if link is not None and not link.nested and not link.is_list:
        ids = [record["id"] for record in records]
        await move.store.update_many({"_id": {"$in": ids}}, {"$set": {link.path: move.to_id}})
        return
    for record in records:
        await move.store.update(record["id"], move.replaced(record))


def _replaced(value: Json, names: Sequence[str], before: int, after: int) -> Json:
    if isinstance(value, list):
        items = [_replaced(one, names, before, after) for one in value]
        return items if names else list(dict.fromkeys(items))
    if names and isinstance(value, Mapping):
        name, *inner = names
        return {**value, name: _replaced(value.get(name), inner, before, after)}
    return after if not names and value == before else value


@dataclass(frozen=True)
class Holding:
    """Records of `collection` for which the person in `field` is responsible: `Holding(WAREHOUSES, "manager_id")`.

    `field` is the path of a reference to people, such as `nodes.approvers.users`. `where` returns the filter on the
    records that a person holds at a given time; by default these name the person and are in no final state. `move`
    gives some of them to another person, all or none; afterwards `where` finds none of them any more. `label` says what
    the person is for the record; by default it is the label of the field. `stays`: the record is about the person
    themselves, such as an employee's; it is not handed over, and does not prevent the deletion of the account.
    `decides`: the person decides on requests by it, or is copied; that counts as a right of theirs.
    """

    collection: Collection
    field: str
    move: Callable[[Move, Sequence[Any]], Awaitable[None]] = replace_person
    where: Callable[[int, datetime], Filter] | None = None
    label: Message | None = None
    stays: bool = False
    decides: bool = False

    @cached_property
    def link(self) -> Link | None:
        """The reference, or None if the field is not a reference."""
        return next((link for link in self.collection.links if link.path == self.field), None)

    @cached_property
    def name(self) -> Message:
        """What clients show: the noun of the record, and what the person is for it."""
        noun, part = self.collection.noun, self.label or self._field_label
        return Message(f"{noun.zh}（{part.zh}）", f"{noun.en} ({part.en.lower()})")

    @property
    def _field_label(self) -> Message:
        fields = (self.link.field, *reversed(self.link.arrays)) if self.link is not None else ()
        return next((field.label for field in fields if field.label is not None), Message(self.field, self.field))

    def filter(self, user_id: int, now: datetime) -> Filter:
        """Return the filter on the records that this person holds at the time `now`."""
        if self.where is not None:
            return self.where(user_id, now)
        machine = self.collection.states
        ended = {machine.field: {"$nin": sorted(machine.ended)}} if machine is not None and machine.ended else {}
        return {self.field: user_id, **ended}


def derived_holdings(collection: Collection, people: Container[str]) -> Iterator[Holding]:
    """Yield the holdings that follow from the owner and the keepers of a collection, if clients write these fields.

    `people` are the names by which a field refers to people. An owner that only the service writes follows the owner of
    another record.
    """
    for name in (collection.owner, collection.keepers):
        one = Holding(collection, name)
        if one.link is not None and one.link.target in people and not one.link.read_only:
            yield one
