"""Transitions that the service makes itself, without a route for the action: those of imports and files."""

from __future__ import annotations

from config.database import Filter
from handlers.data.store import Store
from handlers.schema.values import Row


async def try_transition(store: Store[Row], filter: Filter, action: str, **values: object) -> Row | None:
    """Move the matching record to the state that the action leads to, and set further `values`, with one command.

    Returns None if no record matches, or its state does not allow the action. It writes no new version or audit stamp.
    """
    machine = store.collection.machine
    changes = {**values, machine.field: machine.after(action)}
    return await store.update_unversioned({**filter, **machine.allows(action)}, {"$set": changes})
