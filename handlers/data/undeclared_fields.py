"""Refuses writes of fields that a collection does not declare: they would be stored for ever and shown in no response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handlers.data.collection import Collection
from handlers.schema.values import Operators


def require_declared(collection: Collection, *updates: Operators | Sequence[Mapping[str, Any]] | None) -> None:
    """Raise ValueError if update operators write a field that no stored record has. The stages of a pipeline pass."""
    for update in updates:
        for operator, changes in update.items() if isinstance(update, Mapping) else ():
            # `$unset` takes away what an older version has stored
            if operator != "$unset" and not collection.stored.issuperset(changes):
                unknown = {path.partition(".")[0] for path in changes} - collection.stored
                if unknown:
                    names = ", ".join(sorted(unknown))
                    raise ValueError(f"{collection.name} has no field {names}: declare it in fields, or in internal")
