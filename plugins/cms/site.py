"""The site configuration: one record, and the settings of the platform that describe the site, such as its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plugins.api import Record, Request, Route, route
from plugins.api.data import CachedSnapshot, Database
from plugins.api.errors import INVALID, STALE
from plugins.cms.record_types import SiteConfig
from plugins.cms.records import SITE
from plugins.system.api import Configs, change_configs

_ID = "site"
# values that are stored in settings only, so that there is one of each: field or part of `contact` → key of the setting
_SETTINGS: Mapping[str, str] = {
    "name": "site_name",
    "logo": "site_logo",
    "description": "site_description",
    "icp": "icp_number",
    "copyright": "copyright",
}
_CONTACT: Mapping[str, str] = {"email": "contact_email", "phone": "contact_phone"}


class Site:
    """The current configuration on this instance; it is reloaded after a change on any instance."""

    def __init__(self, database: Database, configs: Configs) -> None:
        self._database = database
        self._configs = configs
        self._record = CachedSnapshot(self._load)
        database.changes.listen(SITE.name, self._record.invalidate)

    async def _load(self) -> SiteConfig:
        return await self._database.store(SITE).find_one({"_id": _ID}) or cast(
            SiteConfig, {**SITE.blank, **SITE.defaults}
        )

    async def current(self) -> Record:
        """Return the configuration."""
        return await self.complete(await self._record.current())

    async def complete(self, record: Mapping[str, Any]) -> Record:
        """Return the record with the values of the settings."""
        stated = await self._configs.public()
        contact = {**{part: stated[key] for part, key in _CONTACT.items()}, "address": None}
        contact["address"] = (record["contact"] or {}).get("address")
        shown = {field: stated[key] for field, key in _SETTINGS.items()}
        return {**record, **shown, "contact": contact if any(contact.values()) else None}

    async def changed_settings(self, values: Mapping[str, Any]) -> Record:
        """Return the settings, by key, that these values of a configuration would change."""
        stated, given = await self._configs.public(), settings_in(values)
        return {key: value for key, value in given.items() if stated[key] != value}

    async def prepare(self) -> None:
        """Create the record unless it exists; move what an earlier version stored in it to the settings."""
        store = self._database.store(SITE)
        record = await store.find_one({"_id": _ID})
        if record is None:
            await store.create({"moved": True}, id=_ID)
        elif not record.get("moved"):
            there, changed = await self._configs.stored(), await self.changed_settings(record)
            mine = {key: value for key, value in changed.items() if value is not None}
            await self._configs.put({key: mine[key] for key in mine if not there[key].get("changed")})
            await store.update_unversioned({"_id": _ID}, {"$set": {"moved": True}})


def settings_in(values: Mapping[str, Any]) -> Record:
    """Return the settings, by key, that a configuration or a change of it contains."""
    found = {key: values[field] for field, key in _SETTINGS.items() if field in values}
    if "contact" in values:
        contact = values["contact"] or {}
        found |= {key: contact.get(part) for part, key in _CONTACT.items()}
    return found


async def read(req: Request) -> Record:
    """Return the configuration with its version."""
    return await req.part(Site).complete(await req.store(SITE).get(_ID))


async def update(req: Request) -> Record:
    """Change the configuration, and the settings that are part of it."""
    values = {field: value for field, value in req.body.items() if field not in _SETTINGS}
    version = values.pop("version")
    if "contact" in values:
        values["contact"] = {"address": (values["contact"] or {}).get("address")}
    site = req.part(Site)
    settings = await site.changed_settings(req.body)

    async def work() -> SiteConfig:
        record = await req.store(SITE).update(_ID, values, version=version)
        if settings:
            await change_configs(req, settings)
        return record

    return await site.complete(await req.transaction(work))


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/cms/manage/site-config",
        read,
        summary="Read the site settings",
        access="cms:site:read",
        returns=SITE.read,
    ),
    route(
        "PATCH /api/v1/cms/manage/site-config",
        update,
        summary="Change the site settings",
        access="cms:site:update",
        body=SITE.update,
        returns=SITE.read,
        errors=(STALE, INVALID),
    ),
)
