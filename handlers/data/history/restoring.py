"""Undoes soft deletes."""

from __future__ import annotations

from handlers.data.context import DataContext
from handlers.data.references.checks import References
from handlers.data.store import Store
from handlers.data.visible.scope import ALL_ROWS
from handlers.schema.values import Operators, RecordId, Row

_RESTORED: Operators = {"$set": {"deleted": False}, "$unset": {"deleted_at": ""}}


async def restore(context: DataContext, store: Store[Row], id: RecordId) -> Row:
    """Restore the record with this `id`, and records that refer to it and were deleted by the same request; return it.

    Call it in a transaction. Raises 40400 if the store's actor sees no such deleted record, 40900 if a unique key has
    been taken meanwhile, and 40901 if a record that it refers to is gone.
    """
    record = await store.deleted.get(id)
    await References(context, store.collection, store.scope).check_restored(record)
    restored = await store.deleted.update(id, {}, operators=_RESTORED)
    for collection, field in store.collection.referring(context.collections.values()):
        others = Store(context, collection, store.actor, ALL_ROWS, restored["updated_at"], True)
        await others.update_many({field: restored["id"], "deleted_at": record["deleted_at"]}, _RESTORED)
    return restored
