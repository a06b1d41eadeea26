"""`mongojet`, the official Rust driver under asyncio: a third of the processor time for an operation.

It does the operations that stand alone. Transactions, bulk writes, indexes and change streams stay with Motor,
in a pool of its own that opens its connections when they are needed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import mongojet

from config.database.commands import NATURAL_ORDER, Document, Filter, Sort, count_command, find_options
from config.database.drivers import MotorDriver
from config.database.errors import (
    AWAY_CODES,
    BAD_HINT,
    BAD_VALUE,
    REFUSED_CODES,
    DatabaseRefused,
    DatabaseUnavailable,
    DuplicateKey,
    NoSuchIndex,
)

_OPTIONS = {
    "w": "majority", "readConcernLevel": "majority", "connectTimeoutMS": "2000", "maxPoolSize": "100",
    "appName": "tradewind",
}  # fmt: skip
_CLOSE_SECONDS = 0.5
_AWAY = (mongojet.ServerSelectionError, mongojet.ConnectionFailure)
# the driver tells errors in words alone
_CODE = re.compile(r"(?:Error code |\bcode: )(\d+)")
_INDEX = re.compile(r"\bindex: (\S+) dup key")
_NETWORK = re.compile(r"Kind: (I/O error|Connection pool|Server selection)|RetryableWriteError|SystemOverloadedError")
_LOG_IN = re.compile(r"SCRAM failure|Authentication failed")
_DUPLICATE = 11000


class MongojetDriver(MotorDriver):
    """Single operations through Rust, all else as Motor does it."""

    def __init__(self, uri: str, database: str, timeout_ms: int) -> None:
        super().__init__(uri, database, timeout_ms)
        self._uri = _with_options(uri, {**_OPTIONS, "serverSelectionTimeoutMS": str(timeout_ms)})
        self._name = database
        self._limit: dict[str, Any] = {"max_time_ms": timeout_ms}
        self._opening: asyncio.Future[mongojet.Client] | None = None
        self._collections: dict[str, mongojet.Collection] = {}

    async def _jet(self, name: str) -> mongojet.Collection:
        found = self._collections.get(name)
        if found is None:
            if self._opening is None or (self._opening.done() and not _succeeded(self._opening)):
                self._opening = asyncio.ensure_future(mongojet.create_client(self._uri))
            client = await asyncio.shield(self._opening)
            found = self._collections[name] = client.get_database(self._name)[name]
        return found

    @asynccontextmanager
    async def _alone(self, collection: str) -> AsyncIterator[mongojet.Collection]:
        """One operation within its time limit, with errors as the seam tells them."""
        failure: mongojet.PyMongoError
        with self._operation() as operation:
            try:
                yield await self._jet(collection)
                return
            except mongojet.PyMongoError as error:
                failure = error
                operation.unanswered = _is_silence(error)
        told = await self._told(collection, failure)
        if isinstance(told, DatabaseUnavailable):
            told.silent = operation.unanswered
        raise told from failure

    async def _told(self, collection: str, error: mongojet.PyMongoError) -> Exception:
        words = str(error)
        found = _CODE.search(words)
        code = int(found.group(1)) if found else 0
        if code == _DUPLICATE:
            index = _INDEX.search(words)
            return DuplicateKey(await self._fields_of(collection, index.group(1) if index else ""))
        if code in REFUSED_CODES or _LOG_IN.search(words):
            return DatabaseRefused(words[:300])
        if code == BAD_VALUE and BAD_HINT in words:
            return NoSuchIndex(words[:300])
        if isinstance(error, _AWAY) or code in AWAY_CODES or _NETWORK.search(words):
            return DatabaseUnavailable(words[:300])
        return error

    async def _fields_of(self, collection: str, index: str) -> list[str]:
        keys = next((one["key"] for one in await self._indexes(collection) if one["name"] == index), {"_id": 1})
        return [name for name in keys if name != "deleted"]

    async def find(
        self, collection: str, filter: Filter, *, sort: Sort = (), skip: int = 0, limit: int = 0,
        fields: Sequence[str] | None = None, without: Sequence[str] = (), hint: str | None = None,
    ) -> list[Document]:  # fmt: skip
        """As the seam says."""
        if self.in_transaction:
            return await super().find(
                collection, filter, sort=sort, skip=skip, limit=limit, fields=fields, without=without, hint=hint
            )
        options: Any = {**self._limit, **find_options(sort, skip, limit, fields, without, hint)}
        async with self._alone(collection) as target:
            return await target.find_many(dict(filter), **options)

    async def find_one(
        self, collection: str, filter: Filter, *, sort: Sort = (), without: Sequence[str] = ()
    ) -> Document | None:
        """As the seam says."""
        if self.in_transaction:
            return await super().find_one(collection, filter, sort=sort, without=without)
        options: Any = {**self._limit, **find_options(sort, 0, 0, None, without)}
        async with self._alone(collection) as target:
            return await target.find_one(dict(filter), **options)

    async def count(self, collection: str, filter: Filter, *, limit: int = 0, hint: str | None = None) -> int:
        """As the seam says."""
        if self.in_transaction:
            return await super().count(collection, filter, limit=limit, hint=hint)
        async with self._alone(collection) as target:
            if not filter:
                return await target.estimated_document_count(**self._limit)
            command = {**count_command(collection, filter, limit, hint), "maxTimeMS": self._limit["max_time_ms"]}
            return int((await target.database.run_command(command))["n"])

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """As the seam says."""
        if self.in_transaction or len(documents) != 1:
            await super().insert(collection, documents)
            return
        async with self._alone(collection) as target:
            await target.insert_one(documents[0])

    async def update_one(
        self, collection: str, filter: Filter, update: Mapping[str, Any] | Sequence[Mapping[str, Any]], *,
        upsert: bool = False, apart: bool = False, followed: bool = False, sort: Sort = (),
    ) -> Document | None:  # fmt: skip
        """As the seam says."""
        if self.in_transaction and not apart:
            return await super().update_one(collection, filter, update, upsert=upsert, followed=followed, sort=sort)
        options: dict[str, Any] = {**self._limit, "return_document": "after", "upsert": upsert}
        if sort:
            options["sort"] = dict(sort)
        if followed:
            options["write_concern"] = {"w": 1}
        given: Any = dict(update) if isinstance(update, Mapping) else [dict(stage) for stage in update]
        async with self._alone(collection) as target:
            return await target.find_one_and_update(dict(filter), given, **options)

    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, whole: bool = False
    ) -> list[Document]:
        """As the seam says."""
        if self.in_transaction:
            return await super().aggregate(collection, pipeline, whole=whole)
        async with self._alone(collection) as target:
            hint = NATURAL_ORDER if whole else {}
            cursor = await target.aggregate([dict(stage) for stage in pipeline], **hint, **self._limit)
            return await cursor.to_list()

    async def close(self) -> None:
        """Close every connection; a server that is gone is not waited for."""
        if self._opening is not None:
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await (await self._opening).close()
            except (TimeoutError, ValueError, mongojet.PyMongoError):
                pass  # it closes with the process
        await super().close()


def _is_silence(error: mongojet.PyMongoError) -> bool:
    """Whether nothing answered, rather than that the answer was a refusal."""
    return isinstance(error, _AWAY) or bool(_NETWORK.search(str(error)))


def _succeeded(opening: asyncio.Future[mongojet.Client]) -> bool:
    return not opening.cancelled() and opening.exception() is None


def _with_options(uri: str, options: Mapping[str, str]) -> str:
    """The address with options in place of its own of the same names."""
    start, _, given = uri.partition("?")
    kept = [
        pair for pair in given.split("&") if pair and pair.partition("=")[0].lower() not in {*map(str.lower, options)}
    ]
    start += "" if "/" in start.partition("://")[2] else "/"
    return f"{start}?{'&'.join([*kept, *(f'{name}={value}' for name, value in options.items())])}"
