"""Audits: declarations by which plugins have their stored sums compared with the entries behind these sums.

A check gets the records of a collection in pieces, in the order of their ids. A piece is read within one transaction,
so all of its reads see the same moment, and concurrent writes make no difference.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, overload

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.store import Store
from handlers.schema.messages import Message
from handlers.schema.money import exact
from handlers.schema.values import ReadOnlyRecord, Record, RecordId, Typed

_IS = Message(
    "{noun} {number}：{label}为 {found}，按明细应为 {expected}",
    "{noun} {number} ({id}): the {field} is {found}, its entries add up to {expected}",
)


@dataclass(frozen=True)
class Difference:
    """A difference between what a record says and what it should say by its entries.

    `about` names what differs, and so distinguishes the differences of one record. `number` is the code or label by
    which people know the record.
    """

    resource_id: str
    number: str
    about: str
    expected: str
    found: str
    message: Message


@dataclass(frozen=True)
class Remark:
    """A record that is worth counting although nothing differs, with its amount."""

    amount: Decimal


@dataclass(frozen=True)
class Piece:
    """Some records of an audit's collection, and the stores to compare them with, all as of one moment.

    `biz_types` are the collections of all business types.
    """

    database: Database
    biz_types: Mapping[str, Collection]
    records: Sequence[Record]

    @property
    def ids(self) -> list[RecordId]:
        """The ids of the records."""
        return [record["id"] for record in self.records]

    @overload
    def store(self, collection: Collection[Typed]) -> Store[Typed]: ...

    @overload
    def store(self, collection: Collection) -> Store: ...

    def store(self, collection: Collection) -> Store[Any]:
        """Return a store of all records of a collection that are not deleted."""
        return self.database.store(collection)

    async def sums(
        self, collection: Collection, by: str, field: str, where: Mapping[str, object] | None = None
    ) -> Mapping[RecordId, Decimal]:
        """Return the sum of `field` over the records of `collection` whose field `by` refers to a record of the piece.

        The result maps the id of each record of the piece to its sum, 0 if nothing refers to it. `where` is a further
        filter.
        """
        match = {"$match": {by: {"$in": self.ids}, **(where or {})}}
        group = {"$group": {"_id": f"${by}", "sum": {"$sum": f"${field}"}}}
        rows = await self.store(collection).aggregate([match, group])
        return dict.fromkeys(self.ids, Decimal(0)) | {row["_id"]: exact(row["sum"]) for row in rows}


Check = Callable[[Piece], AsyncIterator[Difference | Remark]]


@dataclass(frozen=True)
class Audit:
    """A check of the records of a collection.

    `name` begins with the name of the plugin: `inventory-stock`. `check` is an async generator that yields what it
    finds in a piece; it must not keep anything from one piece to the next. `remarks` is the title of what it counts
    besides differences.
    """

    name: str
    title: Message
    collection: Collection
    check: Check
    remarks: Message | None = None


@dataclass(frozen=True)
class Audited:
    """What an audit found in a piece. `last` is the id after which the next piece begins; None after the last piece."""

    count: int
    last: RecordId
    differences: tuple[Difference, ...]
    remarks: tuple[Remark, ...]


async def audit_piece(
    database: Database, biz_types: Mapping[str, Collection], audit: Audit, after: RecordId, size: int
) -> Audited:
    """Check the next `size` records after the id `after` (None: from the first one), as they are at one moment."""

    async def read() -> Audited:
        further = {} if after is None else {"_id": {"$gt": after}}
        records = await database.store(audit.collection).find(further, sort="id", limit=size)
        found = [one async for one in audit.check(Piece(database, biz_types, records))] if records else []
        return Audited(
            len(records),
            records[-1]["id"] if len(records) == size else None,
            tuple(one for one in found if isinstance(one, Difference)),
            tuple(one for one in found if isinstance(one, Remark)),
        )

    return await database.transaction(read)


def compare(
    collection: Collection, record: ReadOnlyRecord, expected: Mapping[str, Decimal | int]
) -> Iterator[Difference]:
    """Yield a difference for each field of a record whose value is not the expected one."""
    for name, should in expected.items():
        found = record[name] if isinstance(should, int) else exact(record[name])
        if found != should:
            label = collection.fields[name].label
            values = {"found": _shown(found), "expected": _shown(should), "id": record["id"], "field": name}
            yield difference(collection, record, name, _IS, label=label.zh if label else name, **values)


def difference(
    collection: Collection, record: ReadOnlyRecord, about: str, sentence: Message, **values: object
) -> Difference:
    """Return a difference of a record; `about` names what differs.

    `sentence` may contain the placeholders `noun`, `number`, `id`, `expected`, `found` and the names in `values`.
    """
    number = str(record.get(collection.code_field or collection.label_field) or record["id"])
    given = {"number": number, "id": record["id"], "expected": "", "found": "", **values}
    message = Message(
        sentence.zh.format(noun=collection.noun.zh, **given), sentence.en.format(noun=collection.noun.en, **given)
    )
    return Difference(
        str(record["id"]), str(given["number"]), about, str(given["expected"]), str(given["found"]), message
    )


def _shown(value: Decimal | int) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
