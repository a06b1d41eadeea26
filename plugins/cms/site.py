"""The site configuration: one record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Database, Mirror, Request
from plugins.cms.records import SITE

_ID = "site"


class Site:
    """The configuration in force on this instance, read again after a change on any."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._record = Mirror(self._load)
        database.changes.listen(SITE.name, self._record.invalidate)

    async def _load(self) -> dict[str, Any]:
        return await self._database.store(SITE).find_one({"_id": _ID}) or {**SITE.blank, **SITE.defaults}

    async def current(self) -> dict[str, Any]:
        """The record; not to be changed."""
        return await self._record.current()

    async def prepare(self) -> None:
        """Make the record where there is none yet."""
        store = self._database.store(SITE)
        if await store.find_one({"_id": _ID}) is None:
            await store.create({}, id=_ID)

    async def after_reset(self, payload: Mapping[str, Any]) -> None:
        """The data of some modules were removed: begin anew with the defaults."""
        if "cms" in payload["modules"]:
            await self.prepare()


async def read(req: Request) -> dict[str, Any]:
    """The configuration with its version."""
    return await req.store(SITE).get(_ID)


async def update(req: Request) -> dict[str, Any]:
    """Change the configuration."""
    values = dict(req.body)
    version = values.pop("version")
    return await req.store(SITE).update(_ID, values, version=version)
