"""The site configuration: one record."""

from __future__ import annotations

from typing import Any

from plugins.api import INVALID, STALE, CachedSnapshot, Database, Request, Route, route
from plugins.cms.records import SITE

_ID = "site"


class Site:
    """The current configuration on this instance; it is reloaded after a change on any instance."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._record = CachedSnapshot(self._load)
        database.changes.listen(SITE.name, self._record.invalidate)

    async def _load(self) -> dict[str, Any]:
        return await self._database.store(SITE).find_one({"_id": _ID}) or {**SITE.blank, **SITE.defaults}

    async def current(self) -> dict[str, Any]:
        """Return the record. Do not change it: it is shared."""
        return await self._record.current()

    async def prepare(self) -> None:
        """Create the record unless it exists."""
        store = self._database.store(SITE)
        if await store.find_one({"_id": _ID}) is None:
            await store.create({}, id=_ID)


async def read(req: Request) -> dict[str, Any]:
    """Return the configuration with its version."""
    return await req.store(SITE).get(_ID)


async def update(req: Request) -> dict[str, Any]:
    """Change the configuration."""
    values = dict(req.body)
    version = values.pop("version")
    return await req.store(SITE).update(_ID, values, version=version)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/cms/manage/site-config",
        read,
        summary="Read the site's configuration",
        access="cms:site:read",
        returns=SITE.read,
    ),
    route(
        "PATCH /api/v1/cms/manage/site-config",
        update,
        summary="Change the site's configuration",
        access="cms:site:update",
        body=SITE.update,
        returns=SITE.read,
        errors=(STALE, INVALID),
    ),
)
