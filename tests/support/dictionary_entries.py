"""Entries that tests add to dictionaries which plugins declare: they go with the test, so that no other one meets them."""

from __future__ import annotations

from typing import Any

from plugins.boot.runtime import Running
from plugins.system.records import DICTIONARIES
from plugins.testing import Client, expect, unique

AT = "/api/v1/system/dictionaries"


class Entries:
    """Adds entries as an administrator does."""

    def __init__(self, admin: Client, server: Running) -> None:
        self._admin = admin
        self._store = server.service.database.store(DICTIONARIES)
        self._added: list[tuple[str, str]] = []

    async def add(self, type: str | None, value: str = "", label: str = "") -> str:
        """Give the dictionary a new value; return it."""
        value = value or unique("v")
        record = await dictionary(self._admin, type)
        self._added.append((record["type"], value))
        body = {"value": value, "label": label or f"label of {value}"}
        expect(await self._admin.post(f"{AT}/{record['id']}/items", body))
        return value

    async def take_away(self) -> None:
        """Remove what was added, though records may hold it: the API refuses that."""
        for type, value in self._added:
            await self._store.update_many({"type": type}, {"$pull": {"items": {"value": value}}})


async def dictionary(admin: Client, type: str | None) -> dict[str, Any]:
    """The dictionary of this type."""
    found: dict[str, Any] = expect(await admin.get(f"{AT}?types={type}"))["items"][0]
    return found
