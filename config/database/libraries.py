"""The calls in which Motor and PyMongo's asynchronous client, its successor, differ."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from motor.frameworks import asyncio as framework
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorClientSession
from pymongo import AsyncMongoClient

from config.database.detached_calls import DetachedCalls
from config.database.transactions import SESSION

MOST_CONNECTIONS = 100


class Library(Protocol):
    """An adapter of a MongoDB library; clients, cursors and sessions are the library's own objects."""

    def connect(self, uri: str, **options: Any) -> Any:
        """Return a client for `uri` with PyMongo's client options."""

    def run(self, call: Any) -> Awaitable[Any]:
        """Return an awaitable for the result of a library call; cancelling it does not harm the client."""

    def to_list(self, cursor: Any, length: int | None = None) -> Any:
        """Return a call that reads the documents of a query's cursor, or `length` of them."""

    def rows(self, open_cursor: Callable[[], Any]) -> Any:
        """Return a call that reads all rows of the cursor that `open_cursor` opens: `aggregate` or `list_indexes`."""

    async def open_stream(self, opened: Any) -> Any:
        """Return the change stream of a call of `watch`."""

    async def start_session(self, client: Any) -> Any:
        """Return a new session of the client."""

    async def start_transaction(self, session: Any) -> None:
        """Start a transaction in the session."""

    async def close(self, client: Any) -> None:
        """Close the client, which ends its sessions on the server."""


def _use_our_threads() -> None:
    """Let Motor use enough threads: it has ten on two cores, and a silent MongoDB may hold each for a whole time limit.

    It has a setting for their number, but no public name for the threads.
    """
    framework._EXECUTOR = ThreadPoolExecutor(MOST_CONNECTIONS)


_use_our_threads()
os.register_at_fork(after_in_child=_use_our_threads)  # Motor, which registered first, replaces them in each new process


class Motor:
    """PyMongo in threads, under asyncio."""

    def start_threads(self) -> None:
        """Start all threads now: later the event loop would wait for each new one until a processor is free."""
        started = threading.Event()
        for _ in range(MOST_CONNECTIONS):
            framework._EXECUTOR.submit(started.wait)
        started.set()

    def connect(self, uri: str, **options: Any) -> Any:
        return AsyncIOMotorClient(uri, **options)

    def run(self, call: Any) -> Awaitable[Any]:
        result: Awaitable[Any] = call  # it runs in a thread, which ends by itself
        return result

    def to_list(self, cursor: Any, length: int | None = None) -> Any:
        # Motor's own method goes to a thread for each batch
        loop = asyncio.get_running_loop()
        return framework.run_on_executor(loop, cursor.delegate.to_list, length)  # type: ignore[no-untyped-call]

    def rows(self, open_cursor: Callable[[], Any]) -> Any:
        return open_cursor().to_list(None)

    async def open_stream(self, opened: Any) -> Any:
        return opened

    async def start_session(self, client: Any) -> Any:
        # as the client does, but without the thread that it uses to create an object
        return AsyncIOMotorClientSession(client.delegate.start_session(), client)

    async def start_transaction(self, session: Any) -> None:
        session.start_transaction()

    async def close(self, client: Any) -> None:
        await asyncio.to_thread(client.close)  # Motor's own `close` would call the server on the event loop


class AsyncPyMongo:
    """PyMongo's own asynchronous client.

    It loses connections, and the lock of its pool, when its coroutines are cancelled. A coroutine waits for a
    connection in a task of `asyncio.wait_for`; a second cancellation leaves that task behind, and it then holds the
    lock for ever. So its coroutines are not cancelled; they end within the time limit of the client.
    """

    def __init__(self, most_calls: int) -> None:
        """Run up to `most_calls` at once: as many as there are connections."""
        self._calls = DetachedCalls(most_calls)

    def connect(self, uri: str, **options: Any) -> Any:
        return AsyncMongoClient(uri, **options)

    def run(self, call: Any) -> Awaitable[Any]:
        session = SESSION.get()
        return self._calls.run(call, session.running if session is not None else None)

    def to_list(self, cursor: Any, length: int | None = None) -> Any:
        return cursor.to_list(length)

    async def rows(self, open_cursor: Callable[[], Any]) -> Any:
        return await (await open_cursor()).to_list(None)

    async def open_stream(self, opened: Any) -> Any:
        return await opened

    async def start_session(self, client: Any) -> Any:
        return client.start_session()

    async def start_transaction(self, session: Any) -> None:
        await session.start_transaction()

    async def close(self, client: Any) -> None:
        await client.close()
        await self._calls.end()
