"""`Idempotency-Key`: a write that is retried happens once and gets the first response (CONTRACT 1).

The response is stored in the transaction of the writes themselves, so a crash between them cannot happen. It is
encrypted with a key made from the caller's own key, which is never stored: who reads the database reads no responses.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bson import ObjectId
from cryptography.fernet import Fernet

from config.database import DatabaseUnavailable, Document, Driver, DuplicateKey
from handlers.data.collection import Collection, Index
from handlers.data.database import utc_now
from handlers.jobs import Jobs
from handlers.request import Request
from handlers.schema.errors import BAD_REQUEST, IDEMPOTENCY_REUSED, ApiError, unavailable
from handlers.schema.fields import text
from handlers.tasks import end

IDEMPOTENCY_KEYS = Collection(
    name="core_idempotency_keys",
    title="IdempotencyKey",
    plain=True,
    ids="text",
    fields={"fingerprint": text()},
    indexes=(Index("created_at", expire_seconds=24 * 3600),),
)
REPLAYED = "Idempotency-Replayed"
_KEY = re.compile(r"^[\x21-\x7e]{1,255}$")
_HOLD = timedelta(seconds=3)
_POLL_SECONDS = 0.05
_AWAY_SECONDS = 0.2


class _AnsweredMeanwhile(Exception):
    """Another request with this key was answered first; what this one wrote is undone."""


async def answer_once(request: Request, work: Callable[[], Awaitable[bytes]]) -> bytes:
    """The body that `work` makes, or the stored one of an earlier request with the same key.

    A replayed response has the headers of the first one and `Idempotency-Replayed`. A twin waits for the first.
    Raises 40903 when the key was used for another request.
    """
    claim = Claim(request)
    try:
        first = await claim.take() or await _run(request, claim, work)
    except BaseException:
        # beside the response: with the database away it takes until that returns
        request.part(Jobs).spawn("idempotency", claim.drop())
        raise
    if isinstance(first, bytes):
        return first
    request.answer_headers.clear()
    request.answer_headers.update({**first.headers, REPLAYED: "true"})
    return first.body


async def _run(request: Request, claim: Claim, work: Callable[[], Awaitable[bytes]]) -> bytes | StoredResponse:
    """Run `work`, and store its body with what it writes.

    The attempt before this one may have been committed without anybody hearing of it. Then its response is stored, and
    this attempt is refused: by the stored response itself, or by what the first one wrote.
    """

    async def work_and_store() -> bytes:
        body = await work()
        await claim.fulfil(body, request.answer_headers)
        return body

    try:
        async with claim.held():
            return await request.transaction(work_and_store)
    except (DatabaseUnavailable, TimeoutError):
        raise
    except Exception as refusal:
        first = await claim.stored()
        if first is not None:
            return first
        if isinstance(refusal, _AnsweredMeanwhile):
            raise unavailable() from refusal
        raise


@dataclass(frozen=True)
class StoredResponse:
    """What the first request with a key was answered."""

    body: bytes
    headers: Mapping[str, str]


class Claim:
    """One caller's right to run the request of one key.

    The claim is only a courtesy that lets twins wait instead of working in vain, so it may be taken over from a holder
    who is silent. What makes the write happen once is the key of the response, stored in the transaction of the write.
    """

    def __init__(self, request: Request) -> None:
        key = request.headers.get("Idempotency-Key", "")
        if not _KEY.match(key):
            raise ApiError(BAD_REQUEST)
        self._driver: Driver = request.service.database.driver
        self._id = f"{request.actor.user_id}:{hashlib.sha256(key.encode()).hexdigest()}"
        self._answer_id = f"{self._id}:answer"
        asked = b"\n".join(
            [request.method.encode(), request.target.encode(), request.raw_query.encode(), request.raw_body]
        )
        self._fingerprint = hashlib.sha256(asked).hexdigest()
        secret = hashlib.sha256(b"idempotency:" + key.encode()).digest()
        self._cipher = Fernet(base64.urlsafe_b64encode(secret))
        self._seconds = request.service.settings.request_seconds
        self._holder = ObjectId()

    async def take(self) -> StoredResponse | None:
        """None when this caller shall run the request; else the stored response."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        if await self._insert():
            return None
        while True:
            wanted = {"_id": {"$in": [self._id, self._answer_id]}}
            rows = {row["_id"]: self._checked(row) for row in await self._driver.find(IDEMPOTENCY_KEYS.name, wanted)}
            if self._answer_id in rows:
                return self._read(rows[self._answer_id])
            claim = rows.get(self._id)
            if await (self._insert() if claim is None else self._take_over(claim)):
                return None
            if asyncio.get_running_loop().time() > deadline:
                raise unavailable()
            await asyncio.sleep(_POLL_SECONDS)

    async def stored(self) -> StoredResponse | None:
        """The response of another request with this key, if there is one; 40903 when it was made for something else.

        A plain read sees what a majority has. What refused this request may be newer, and so may the response: an
        update that changes nothing reads what is newest, and waits until a majority has it.
        """
        row = await self._driver.update_one(
            IDEMPOTENCY_KEYS.name, {"_id": self._answer_id}, {"$setOnInsert": {"_id": self._answer_id}}
        )
        return self._read(self._checked(row)) if row is not None else None

    def _checked(self, row: Document) -> Document:
        if row["fingerprint"] != self._fingerprint:
            raise ApiError(IDEMPOTENCY_REUSED)
        return row

    def _read(self, row: Document) -> StoredResponse:
        headers = json.loads(self._cipher.decrypt(row["headers"])) if "headers" in row else {}
        return StoredResponse(self._cipher.decrypt(row["answer"]), headers)

    async def _insert(self) -> bool:
        claim = {"_id": self._id, "fingerprint": self._fingerprint, "created_at": utc_now(), **self._hold()}
        try:
            await self._driver.insert(IDEMPOTENCY_KEYS.name, [claim])
        except DuplicateKey:
            return False
        return True

    async def _take_over(self, claim: Document) -> bool:
        if claim["until"] > utc_now():
            return False
        silent = {"_id": self._id, "holder": claim["holder"], "until": claim["until"]}
        return await self._driver.update_one(IDEMPOTENCY_KEYS.name, silent, {"$set": self._hold()}) is not None

    def _hold(self) -> dict[str, Any]:
        return {"holder": self._holder, "until": utc_now() + _HOLD}

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Keep the claim as long as the block runs."""
        renewing = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            await end([renewing])

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(_HOLD.total_seconds() / 3)
            with contextlib.suppress(DatabaseUnavailable):
                mine = {"_id": self._id, "holder": self._holder}
                await self._driver.update_one(IDEMPOTENCY_KEYS.name, mine, {"$set": self._hold()})

    async def fulfil(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Store the response, in the transaction of what it tells of."""
        answer = {"_id": self._answer_id, "fingerprint": self._fingerprint, "created_at": utc_now()}
        answer["answer"] = self._cipher.encrypt(body)
        if headers:
            answer["headers"] = self._cipher.encrypt(json.dumps(dict(headers)).encode())
        try:
            await self._driver.insert(IDEMPOTENCY_KEYS.name, [answer])
        except DuplicateKey as error:
            raise _AnsweredMeanwhile from error

    async def drop(self) -> None:
        """Nothing was written: free the key for another attempt, as soon as the database can be told."""
        mine = {"_id": self._id, "holder": self._holder}
        for _ in range(round(self._seconds / _AWAY_SECONDS)):
            try:
                await self._driver.delete_many(IDEMPOTENCY_KEYS.name, mine)
            except DatabaseUnavailable:
                await asyncio.sleep(_AWAY_SECONDS)
            else:
                return
