"""The calls in which Motor and PyMongo's asynchronous client, its successor, differ."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient


class Library(Protocol):
    """An adapter of a MongoDB library; clients, cursors and sessions are the library's own objects."""

    def connect(self, uri: str, **options: Any) -> Any:
        """Return a client for `uri` with PyMongo's client options."""

    async def open_cursor(self, opened: Any) -> Any:
        """Return the cursor of a call of `aggregate`, `list_indexes` or `watch`."""

    async def start_session(self, client: Any) -> Any:
        """Return a new session of the client."""

    async def start_transaction(self, session: Any) -> None:
        """Start a transaction in the session."""

    async def close(self, client: Any) -> None:
        """Close the client, which ends its sessions on the server."""


class Motor:
    """PyMongo in threads, under asyncio."""

    def connect(self, uri: str, **options: Any) -> Any:
        return AsyncIOMotorClient(uri, **options)

    async def open_cursor(self, opened: Any) -> Any:
        return opened

    async def start_session(self, client: Any) -> Any:
        return await client.start_session()

    async def start_transaction(self, session: Any) -> None:
        session.start_transaction()

    async def close(self, client: Any) -> None:
        await asyncio.to_thread(client.close)  # Motor would call the server on the event loop


class AsyncPyMongo:
    """PyMongo's own asynchronous client."""

    def connect(self, uri: str, **options: Any) -> Any:
        return AsyncMongoClient(uri, **options)

    async def open_cursor(self, opened: Any) -> Any:
        return await opened

    async def start_session(self, client: Any) -> Any:
        return client.start_session()

    async def start_transaction(self, session: Any) -> None:
        await session.start_transaction()

    async def close(self, client: Any) -> None:
        await client.close()
