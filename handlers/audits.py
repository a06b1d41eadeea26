"""Audits: what plugins declare to have their stored sums compared with the entries that they are the sums of.

A check gets the records of a collection in pieces, in the order of their ids. A piece is read within one transaction,
so all of its reads see the same moment, and writes of others while it runs make no difference.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.store import Store
from handlers.schema.messages import Message
from handlers.schema.money import exact
from handlers.schema.values import ReadOnlyRecord, Record, RecordId

_IS = Message(
    "{noun} {number}：{label}为 {found}，按明细应为 {expected}",
    "{noun} {number} ({id}): the {field} is {found}, its entries add up to {expected}",
)


@dataclass(frozen=True)
class Difference:
    """What a record says, and what it should say by its entries.

    `about`: what differs, which distinguishes the differences of one record. `number`: what people call the record.
    """

    resource_id: str
    number: str
    about: str
    expected: str
    found: str
    message: Message


@dataclass(frozen=True)
class Remark:
    """A record that is worth counting and no difference, with its amount."""

    amount: Decimal


@dataclass(frozen=True)
class Piece:
    """Some records of the collection of an audit, and the stores to compare them with, all as of one moment.

    `biz_types`: the collections of all business types.
    """

    database: Database
    biz_types: Mapping[str, Collection]
    records: Sequence[Record]

    @property
    def ids(self) -> list[RecordId]:
        """The ids of the records."""
        return [record["id"] for record in self.records]

    def store(self, collection: Collection) -> Store:
        """All records of a collection that are not deleted."""
        return self.database.store(collection)

    async def sums(
        self, collection: Collection, by: str, field: str, where: Mapping[str, object] | None = None
    ) -> Mapping[RecordId, Decimal]:
        """The sums of `field` in a collection by the record of the piece that `by` refers to; 0 where nothing does."""
        match = {"$match": {by: {"$in": self.ids}, **(where or {})}}
        group = {"$group": {"_id": f"${by}", "sum": {"$sum": f"${field}"}}}
        rows = await self.store(collection).aggregate([match, group])
        return dict.fromkeys(self.ids, Decimal(0)) | {row["_id"]: exact(row["sum"]) for row in rows}


Check = Callable[[Piece], AsyncIterator[Difference | Remark]]


@dataclass(frozen=True)
class Audit:
    """A check of the records of a collection.

    `name` begins with that of the plugin: `inventory-stock`. `check` is an async generator over what is found in a
    piece; it must not keep anything from piece to piece. `remarks`: the title of what it counts besides differences.
    """

    name: str
    title: Message
    collection: Collection
    check: Check
    remarks: Message | None = None


@dataclass(frozen=True)
class Due:
    """What is owed for a record. `paid`: what of it was paid at the record itself; None where that is booked."""

    amount: Decimal
    paid: Decimal | None = None


@dataclass(frozen=True)
class Debt:
    """What the records of a business type owe, computed from their entries, to compare open items with.

    `compute` returns it by the id of the record; records that it leaves out owe nothing.
    """

    biz_type: str
    compute: Callable[[Piece], Awaitable[Mapping[RecordId, Due]]]


@dataclass(frozen=True)
class Audited:
    """What an audit found in a piece. `last`: the id with which the next one begins; None after the last piece."""

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
    """A difference for each field of a record that is not as expected."""
    for name, should in expected.items():
        found = record[name] if isinstance(should, int) else exact(record[name])
        if found != should:
            label = collection.fields[name].label
            values = {"found": _shown(found), "expected": _shown(should), "id": record["id"], "field": name}
            yield difference(collection, record, name, _IS, label=label.zh if label else name, **values)


def difference(
    collection: Collection, record: ReadOnlyRecord, about: str, sentence: Message, **values: object
) -> Difference:
    """A difference of a record in what it is `about`; the `sentence` may name `noun`, `number`, `id` and the values."""
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
