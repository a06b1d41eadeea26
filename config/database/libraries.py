"""Motor and PyMongo's asynchronous client, its successor, by one adapter."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from pymongo import AsyncMongoClient

from config.database.detached_calls import DetachedCalls
from config.database.transactions import SESSION

MOST_CONNECTIONS = 100


class Library:
    """A MongoDB library; its clients, cursors and sessions are its own."""

    def __init__(self, client: Callable[..., Any], calls: DetachedCalls | None = None) -> None:
        """Take `connect`, the class of its clients, and run its calls in `calls` if they must not be cancelled."""
        self.connect = client
        self._calls = calls

    def run(self, call: Any) -> Awaitable[Any]:
        """Return an awaitable for the result of a library call; cancelling it does not harm the client."""
        if self._calls is None:
            result: Awaitable[Any] = call  # it runs in a thread, which ends by itself
            return result
        session = SESSION.get()
        return self._calls.run(call, session.running if session is not None else None)

    async def rows(self, open_cursor: Callable[[], Any]) -> Any:
        """Return all rows of the cursor that `open_cursor` opens: `aggregate` or `list_indexes`."""
        return await (await opened(open_cursor())).to_list(None)

    async def start_session(self, client: Any) -> Any:
        """Return a new session of the client."""
        return await opened(client.start_session())

    async def start_transaction(self, session: Any) -> None:
        """Start a transaction in the session."""
        await opened(session.start_transaction())

    async def close(self, client: Any) -> None:
        """Close the client, which ends its sessions on the server."""
        await opened(await asyncio.to_thread(client.close))  # Motor would call the server on the event loop
        if self._calls is not None:
            await self._calls.end()


async def opened(result: Any) -> Any:
    """Return the result of a call that one of the libraries has made already, and the other makes when it is awaited."""
    return await result if isawaitable(result) else result


def motor() -> Library:
    """Return Motor: PyMongo in threads, one for each connection.

    By itself it has ten on two cores, and a silent MongoDB may hold each for a whole time limit.
    """
    os.environ["MOTOR_MAX_WORKERS"] = str(MOST_CONNECTIONS)  # read by the import
    from motor.motor_asyncio import AsyncIOMotorClient

    return Library(AsyncIOMotorClient)


def async_pymongo() -> Library:
    """Return PyMongo's asynchronous client.

    It loses connections, and the lock of its pool, when its coroutines are cancelled. A coroutine waits for a
    connection in a task of `asyncio.wait_for`; a second cancellation leaves that task behind, and it then holds the
    lock for ever. So its coroutines are not cancelled; they end within the time limit of the client. As many run at
    once as there are connections.
    """
    return Library(AsyncMongoClient, DetachedCalls(MOST_CONNECTIONS))
