"""What the plugin provides while the process lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Catalogue, Service
from plugins.console.pages import Pages
from plugins.console.renderer import Renderer


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the pages, which are made when somebody asks for them, and the files of the renderer."""
    service.provide(Pages, Pages(service.part(Catalogue)))
    service.provide(Renderer, Renderer())
    yield
