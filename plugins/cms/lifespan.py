"""What cms does at start and on events, and the parts that its handlers use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from plugins.api import Service
from plugins.api.workers import Confined
from plugins.cms.categories import Categories
from plugins.cms.rendering import Renderer
from plugins.cms.settings import CmsSettings
from plugins.cms.site import Site
from plugins.cms.views import ViewCounts
from plugins.system.api import Configs


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the categories, the site, the renderer and the view counts, which are written periodically."""
    settings = service.settings_of(CmsSettings)
    views, site = ViewCounts(service.database), Site(service.database, service.part(Configs))
    service.provide(Renderer, Renderer(service.part(Confined).lane("cms.article", cpu_seconds=5, seconds=15)))
    service.provide(ViewCounts, views)
    service.provide(Site, site)
    service.provide(Categories, Categories(service.database))
    async with views.write_every(settings.cms_views_seconds):
        yield


async def restore_defaults(service: Service, payload: Mapping[str, Any]) -> None:
    """Create the site configuration again after a data reset that included cms."""
    if "cms" in payload["modules"]:
        await service.part(Site).prepare()


async def prepare(service: Service) -> None:
    """Create the site configuration unless it exists."""
    await service.part(Site).prepare()
