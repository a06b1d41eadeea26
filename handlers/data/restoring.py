"""Undoes soft deletes."""

from __future__ import annotations

from config.database import Document
from handlers.data.context import DataContext
from handlers.data.references import References
from handlers.data.scope import ALL_ROWS
from handlers.data.store import Store
from handlers.schema.values import Operators, RecordId

_RESTORED: Operators = {"$set": {"deleted": False}, "$unset": {"deleted_at": ""}}


async def restore(context: DataContext, store: Store, id: RecordId) -> Document:
    """Restore the record with this `id`, and what refers to it and was deleted by the same request; return the record.

    Call it in a transaction. 40400 where the store's actor sees no deleted record, 40900 where a unique key was taken
    meanwhile, 40901 where a record that it refers to is gone.
    """
    record = await store.deleted.get(id)
    await References(context, store.collection, store.scope).check_restored(record)
    restored = await store.deleted.update(id, {}, operators=_RESTORED)
    for collection, field in store.collection.referring(context.collections.values()):
        others = Store(context, collection, store.actor, ALL_ROWS, restored["updated_at"], True)
        await others.update_many({field: restored["id"], "deleted_at": record["deleted_at"]}, _RESTORED)
    return restored
