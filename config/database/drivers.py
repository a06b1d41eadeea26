"""The drivers that the setting names: Motor, PyMongo and, in a file of its own, mongojet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from config.database.driver import Driver


class MotorDriver(Driver):
    """Motor: PyMongo in threads, under asyncio."""

    def _client_class(self) -> Any:
        return AsyncIOMotorClient

    async def _cursor(self, opened: Any) -> Any:
        return opened

    async def _close_client(self, client: Any) -> None:
        await asyncio.to_thread(client.close)  # Motor would ask the server on the event loop

    async def _start_session(self) -> Any:
        return await self._client.start_session()

    async def _begin(self, session: Any) -> None:
        session.start_transaction()


class PyMongoDriver(Driver):
    """PyMongo's own asynchronous client."""

    def _client_class(self) -> Any:
        return AsyncMongoClient

    async def _cursor(self, opened: Any) -> Any:
        return await opened

    async def _close_client(self, client: Any) -> None:
        await client.close()

    async def _start_session(self) -> Any:
        return self._client.start_session()

    async def _begin(self, session: Any) -> None:
        await session.start_transaction()


def _mongojet(uri: str, database: str, timeout_ms: int) -> Driver:
    from config.database.mongojet_driver import MongojetDriver  # it builds on this file

    return MongojetDriver(uri, database, timeout_ms)


def _direct(uri: str, database: str, timeout_ms: int) -> Driver:
    from config.database.direct_driver import DirectDriver  # it builds on this file

    return DirectDriver(uri, database, timeout_ms)


DRIVERS: Mapping[str, Callable[[str, str, int], Driver]] = {
    "direct": _direct,
    "mongojet": _mongojet,
    "motor": MotorDriver,
    "pymongo": PyMongoDriver,
}


def open_driver(name: str, uri: str, database: str, timeout_ms: int) -> Driver:
    """The driver called `name` on `database` at `uri`; raises ValueError for a URI that is none."""
    try:
        return DRIVERS[name](uri, database, timeout_ms)
    except (PyMongoError, ValueError) as error:
        raise ValueError(f"TRADEWIND_MONGODB_URI is not usable: {error}") from error
