"""What the plugin does at start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.api.ports import OptionValues
from plugins.api.records import Catalogue, Dictionaries
from plugins.system.configs import Configs
from plugins.system.declared_dictionaries import synchronise
from plugins.system.dictionaries import serve


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the settings and the dictionaries."""
    configs = Configs(service.database, service.part(Catalogue).options)
    service.provide(Configs, configs)
    service.provide(OptionValues, configs)
    serve(service.part(Dictionaries), service.database)
    yield


async def prepare(service: Service) -> None:
    """Write the declared dictionaries and settings into the database."""
    await service.database.transaction(lambda: synchronise(service.database, service.part(Catalogue)))
    await service.part(Configs).prepare()
