"""`Idempotency-Key`: a write that a client retries happens once, and the retry gets the first response.

The response is stored in the transaction of the writes, so a crash cannot separate them. It is encrypted with a key
derived from the idempotency key, which is never stored, so the database alone does not reveal responses.
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
from handlers.data.collection import Collection
from handlers.data.database import utc_now
from handlers.data.index import Index
from handlers.operations.jobs import Jobs
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
# names in stored documents: instances of an older version read and write them too
_RESPONSE_SUFFIX = ":answer"
_RESPONSE_FIELD = "answer"


class _StoredMeanwhile(Exception):
    """Another request with this key stored its response first; the writes of this one are rolled back."""


async def respond_once(request: Request, work: Callable[[], Awaitable[bytes]]) -> bytes:
    """Return the body that `work` makes, or the stored one of an earlier request with the same key.

    A replayed response has the headers of the first one and `Idempotency-Replayed`. A concurrent request with the same
    key waits for the first one. Raises 40903 when the key was used for a different request.
    """
    claim = Claim(request)
    try:
        first = await claim.take() or await _run(request, claim, work)
    except BaseException:
        # in the background, because this retries while the database is unreachable
        request.part(Jobs).spawn("idempotency", claim.drop())
        raise
    if isinstance(first, bytes):
        return first
    request.response_headers.clear()
    request.response_headers.update({**first.headers, REPLAYED: "true"})
    return first.body


async def _run(request: Request, claim: Claim, work: Callable[[], Awaitable[bytes]]) -> bytes | StoredResponse:
    """Run `work`, and store its body in the transaction of its writes.

    An earlier attempt may have been committed although its client got no response. In that case this attempt fails,
    either on the stored response itself or on what the first attempt wrote, and the stored response is returned.
    """

    async def work_and_store() -> bytes:
        body = await work()
        await claim.fulfil(body, request.response_headers)
        return body

    try:
        async with claim.renewing():
            return await request.transaction(work_and_store)
    except (DatabaseUnavailable, TimeoutError):
        raise
    except Exception as refusal:
        first = await claim.stored()
        if first is not None:
            return first
        if isinstance(refusal, _StoredMeanwhile):
            raise unavailable() from refusal
        raise


@dataclass(frozen=True)
class StoredResponse:
    """The response to the first request with a key."""

    body: bytes
    headers: Mapping[str, str]


class Claim:
    """One caller's claim to run the request of one key.

    The claim only saves work: concurrent requests with the key wait instead of doing work that would be rolled back. A
    caller may therefore take it over from a holder that no longer renews it. What makes the write happen once is the
    unique id of the stored response, which is inserted in the transaction of the write.
    """

    def __init__(self, request: Request) -> None:
        key = request.headers.get("Idempotency-Key", "")
        if not _KEY.match(key):
            raise ApiError(BAD_REQUEST)
        self._driver: Driver = request.service.database.driver
        self._id = f"{request.actor.user_id}:{hashlib.sha256(key.encode()).hexdigest()}"
        self._response_id = f"{self._id}{_RESPONSE_SUFFIX}"
        content = b"\n".join(
            [request.method.encode(), request.target.encode(), request.raw_query.encode(), request.raw_body]
        )
        self._fingerprint = hashlib.sha256(content).hexdigest()
        secret = hashlib.sha256(b"idempotency:" + key.encode()).digest()
        self._cipher = Fernet(base64.urlsafe_b64encode(secret))
        self._seconds = request.service.settings.request_seconds
        self._holder = ObjectId()

    async def take(self) -> StoredResponse | None:
        """Return None if this caller is to run the request, else the stored response.

        Raises 40903 when a different request has this key, unless it fails and thereby frees the key.
        """
        deadline = asyncio.get_running_loop().time() + self._seconds
        if await self._insert():
            return None
        while True:
            wanted = {"_id": {"$in": [self._id, self._response_id]}}
            rows = {row["_id"]: row for row in await self._driver.find(IDEMPOTENCY_KEYS.name, wanted)}
            if self._response_id in rows:
                return self._read(self._check_fingerprint(rows[self._response_id]))
            claim = rows.get(self._id)
            if await (self._insert() if claim is None else self._take_over(claim)):
                return None
            if asyncio.get_running_loop().time() > deadline:
                raise unavailable() if claim is None else self._still_held(claim)
            await asyncio.sleep(_POLL_SECONDS)

    def _still_held(self, claim: Document) -> ApiError:
        same = claim["fingerprint"] == self._fingerprint
        return unavailable() if same else ApiError(IDEMPOTENCY_REUSED)

    async def stored(self) -> StoredResponse | None:
        """Return the response of another request with this key, or None. Raises 40903 if that was a different request.

        A plain read sees only what a majority of members has. The write that this attempt failed on may be newer, and
        so may the response. An update that changes nothing reads the newest data, and waits for a majority to have it.
        """
        row = await self._driver.update_one(
            IDEMPOTENCY_KEYS.name, {"_id": self._response_id}, {"$setOnInsert": {"_id": self._response_id}}
        )
        return self._read(self._check_fingerprint(row)) if row is not None else None

    def _check_fingerprint(self, row: Document) -> Document:
        if row["fingerprint"] != self._fingerprint:
            raise ApiError(IDEMPOTENCY_REUSED)
        return row

    def _read(self, row: Document) -> StoredResponse:
        headers = json.loads(self._cipher.decrypt(row["headers"])) if "headers" in row else {}
        return StoredResponse(self._cipher.decrypt(row[_RESPONSE_FIELD]), headers)

    async def _insert(self) -> bool:
        claim = {"_id": self._id, "created_at": utc_now(), **self._lease_fields()}
        try:
            await self._driver.insert(IDEMPOTENCY_KEYS.name, [claim])
        except DuplicateKey:
            return False
        return True

    async def _take_over(self, claim: Document) -> bool:
        if claim["until"] > utc_now():
            return False
        silent = {"_id": self._id, "holder": claim["holder"], "until": claim["until"]}
        return await self._driver.update_one(IDEMPOTENCY_KEYS.name, silent, {"$set": self._lease_fields()}) is not None

    def _lease_fields(self) -> dict[str, Any]:
        return {"holder": self._holder, "fingerprint": self._fingerprint, "until": utc_now() + _HOLD}

    @asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Renew the claim while the block runs."""
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
                await self._driver.update_one(IDEMPOTENCY_KEYS.name, mine, {"$set": self._lease_fields()})

    async def fulfil(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Store the response, in the transaction of the writes that it reports."""
        row = {"_id": self._response_id, "fingerprint": self._fingerprint, "created_at": utc_now()}
        row[_RESPONSE_FIELD] = self._cipher.encrypt(body)
        if headers:
            row["headers"] = self._cipher.encrypt(json.dumps(dict(headers)).encode())
        try:
            await self._driver.insert(IDEMPOTENCY_KEYS.name, [row])
        except DuplicateKey as error:
            raise _StoredMeanwhile from error

    async def drop(self) -> None:
        """Free the key for another attempt, because nothing was written; retry while the database is unreachable."""
        mine = {"_id": self._id, "holder": self._holder}
        for _ in range(round(self._seconds / _AWAY_SECONDS)):
            try:
                await self._driver.delete_many(IDEMPOTENCY_KEYS.name, mine)
            except DatabaseUnavailable:
                await asyncio.sleep(_AWAY_SECONDS)
            else:
                return
