"""The labels of dictionaries, with the edits of administrators, for tables."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Database, Message
from plugins.system.records import DICTIONARIES


class StoredLabels:
    """The port `DictionaryLabels` of the core."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def labels_of(self, type: str) -> Mapping[str, Message]:
        """Return the label of each value of a dictionary, disabled ones too; empty without such a dictionary."""
        record = await self._database.store(DICTIONARIES).find_one({"type": type})
        items = sorted(record["items"], key=lambda item: int(item["sort"])) if record else []
        return {item["value"]: Message(item["label"], item.get("label_en") or item["label"]) for item in items}
