"""Transitions of records that nobody asks for by a route: those of imports and files."""

from __future__ import annotations

from config.database import Filter
from handlers.data.store import Store
from handlers.schema.values import Record


async def try_transition(store: Store, filter: Filter, action: str, **values: object) -> Record | None:
    """Take the record that matches to the state that the action leads to, with further values, in one command.

    Returns None where none matches, or its state does not allow the action. Without new version or audit stamp.
    """
    machine = store.collection.machine
    changes = {**values, machine.field: machine.after(action)}
    return await store.update_unversioned({**filter, **machine.allows(action)}, {"$set": changes})
