"""The current dictionaries with the edits of administrators, for the core. A change on any instance reloads them."""

from __future__ import annotations

from plugins.api import Message
from plugins.api.data import CachedSnapshot, Database
from plugins.api.records import Dictionaries, Entries, Entry
from plugins.system.dictionaries import sort_items
from plugins.system.records import DICTIONARIES


def serve(dictionaries: Dictionaries, database: Database) -> None:
    """Let the core read the stored dictionaries."""

    async def load() -> Entries:
        return {
            record["type"]: {
                item["value"]: Entry(
                    Message(item["label"], item.get("label_en") or item["label"]),
                    item.get("color") or "",
                    item.get("status") != "disabled",
                )
                for item in sort_items(record)
            }
            for record in await database.store(DICTIONARIES).find()
        }

    snapshot = CachedSnapshot(load)
    database.changes.listen(DICTIONARIES.name, snapshot.invalidate)
    dictionaries.read_from(snapshot.current)
