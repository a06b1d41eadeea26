"""The libraries that speak to MongoDB: Motor, and PyMongo's asynchronous client, its successor."""

from __future__ import annotations

import asyncio
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient

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
