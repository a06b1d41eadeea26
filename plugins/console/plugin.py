"""The plugin console: pages for every declared resource, drawn in the browser. It is a client of the API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Message, Plugin, Service
from plugins.api.records import Catalogue
from plugins.console import files, frame, pages, renderer


@asynccontextmanager
async def _start(service: Service) -> AsyncIterator[None]:
    """Provide the pages, which are made on request, and the files of the renderer."""
    service.derive(pages.Pages, pages.Pages, service.part(Catalogue))
    service.provide(renderer.Renderer, renderer.Renderer())
    yield


plugin = Plugin(
    name="console",
    title=Message("控制台", "Console"),
    requires=("auth", "rbac"),
    routes=(*files.ROUTES, *pages.ROUTES, *frame.ROUTES, *renderer.ROUTES),
    start=_start,
    options=(renderer.CURRENCY,),
)
