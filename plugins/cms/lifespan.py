"""What cms runs for the life of the process: the parts that its handlers use, and two jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Confined, Jobs, Service
from plugins.cms.category_tree import Categories
from plugins.cms.publication import publish_due
from plugins.cms.rendering import Renderer
from plugins.cms.settings import CmsSettings
from plugins.cms.site import Site
from plugins.cms.views import ViewCounts


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the categories, the site and the renderer; publish due articles; write view counts."""
    settings = service.settings_of(CmsSettings)
    views, site = ViewCounts(service.database), Site(service.database)
    service.provide(Renderer, Renderer(service.part(Confined).lane("cms.article", cpu_seconds=5, seconds=15)))
    service.provide(ViewCounts, views)
    service.provide(Site, site)
    service.provide(Categories, Categories(service.database))
    service.events.listen("system.data_reset", site.restore_defaults)

    async def publish_due_articles() -> None:
        await publish_due(service)

    service.part(Jobs).every(settings.cms_publish_seconds, "cms.publish", publish_due_articles)
    async with views.write_every(settings.cms_views_seconds):
        yield


async def prepare(service: Service) -> None:
    """Create the site configuration."""
    await service.part(Site).prepare()
