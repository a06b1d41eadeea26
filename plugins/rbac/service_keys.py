"""Keys of service accounts, for administrators: issued, rotated and revoked. A key is shown once and stored as a hash."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    ApiError,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    conflicts,
    integer,
    invalid,
    obj,
    route,
    shape,
    text,
    timestamp,
)
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.fields import NOTHING
from plugins.api.records import FINAL
from plugins.rbac.limits import MANAGING, may_manage
from plugins.rbac.messages import NO_ACCOUNT, NO_KEY, TOO_MANY_KEYS
from plugins.rbac.records import SERVICE_KEYS, USERS

KEY_PREFIX = "tw_"
MOST_KEYS = 20
_WRITING = "system:service-account:key"
_OVERLAP_HOURS = 24
_SHOWN = 4  # characters of a key that help to recognise it

NEW_KEY = obj(
    "NewServiceKey",
    {
        **SERVICE_KEYS.all_fields,
        "key": text(label=("密钥", "Key"), nullable=False, description="Shown only once.", example="tw_…"),
    },
    nullable=False,
)
ROTATION = shape(
    "ServiceKeyRotation",
    overlap_hours=integer(
        nullable=False,
        label=("旧密钥保留时长（小时）", "Hours that the old key stays valid"),
        minimum=0,
        maximum=24 * 30,
        default=_OVERLAP_HOURS,
    ),
    expires_at=timestamp(
        label=("过期时间", "Expires at"),
        example="2099-12-31T00:00:00.000Z",
        description="Of the new key; by default, it lasts as long as the old one.",
    ),
)


async def list_keys(req: Request) -> Page:
    """Return a page of the keys of a service account."""
    account = await _account(req)
    return await req.system_store(SERVICE_KEYS).page(req.query, {"account_id": account["id"]})


async def issue(req: Request) -> Record:
    """Give a service account a key. Whoever does it could use the key, so they must hold all rights of the account."""
    account = await _managed(req)
    _check(req, req.body)
    return await req.transaction(lambda: _issue(req, account["id"], req.body))


async def rotate(req: Request) -> Record:
    """Give a service account a new key in place of one, which stays valid for some hours."""
    account = await _managed(req)
    _check(req, req.body)

    async def work() -> Record:
        old = await _key(req, account["id"])
        lasts = None if old["expires_at"] is None else req.now + (old["expires_at"] - old["created_at"])
        values = {name: old[name] for name in ("name", "addresses")}
        until = req.now + timedelta(hours=req.body.get("overlap_hours", _OVERLAP_HOURS))
        ends = until if old["expires_at"] is None else min(until, old["expires_at"])
        await req.system_store(SERVICE_KEYS).update(old["id"], {"expires_at": ends})
        return await _issue(req, account["id"], {**values, "expires_at": req.body.get("expires_at") or lasts})

    return await req.transaction(work)


async def revoke(req: Request) -> None:
    """Revoke a key. Every instance refuses it from then on."""
    account = await _managed(req)
    await req.system_store(SERVICE_KEYS).delete((await _key(req, account["id"]))["id"])


async def revoke_all(req: Request, account_id: int) -> None:
    """Revoke every key of a service account that is deleted; restoring the account restores none."""
    # not deleted, as restoring the account would restore what was deleted with it
    await req.system_store(SERVICE_KEYS).update_many({"account_id": account_id}, {"$set": {"expires_at": req.now}})


def hash_of_key(key: str) -> str:
    """Return what is stored of a key. Keys are long and random, so no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


async def _issue(req: Request, account_id: int, values: Any) -> Record:
    store = req.system_store(SERVICE_KEYS)
    if await store.count({"account_id": account_id}) >= MOST_KEYS:
        raise ApiError(CONFLICT, TOO_MANY_KEYS.filled(most=MOST_KEYS))
    key = KEY_PREFIX + secrets.token_urlsafe(32)
    stored = {**values, "account_id": account_id, "hash": hash_of_key(key), "hint": key[: len(KEY_PREFIX) + _SHOWN]}
    return {**await store.create(stored), "key": key}


def _check(req: Request, given: Any) -> None:
    """Raise 40001 for addresses that are no networks, and for an end in the past."""
    faults = [
        FieldError(f"addresses[{at}]", "format")
        for at, address in enumerate(given.get("addresses") or ())
        if not _is_network(address)
    ]
    if faults:
        raise ValidationFailed(faults)
    if given.get("expires_at") is not None and given["expires_at"] <= req.now:
        raise invalid("expires_at", "minimum")


def _is_network(address: str) -> bool:
    try:
        ip_network(address, strict=False)
    except ValueError:
        return False
    return True


async def _account(req: Request) -> dict[str, Any]:
    account = await req.store(USERS).get(req.path["id"])
    if not account.get("service"):
        raise ApiError(NOT_FOUND)
    return account


async def _managed(req: Request) -> dict[str, Any]:
    account = await _account(req)
    await may_manage(req, account)
    return account


async def _key(req: Request, account_id: int) -> Record:
    key = await req.system_store(SERVICE_KEYS).get(req.path["key_id"])
    if key["account_id"] != account_id:
        raise ApiError(NOT_FOUND)
    return key


NO_ACCOUNT_FOUND = Refusal(NOT_FOUND, hint=NO_ACCOUNT)
_NO_KEY = Refusal(NOT_FOUND, hint=NO_KEY)
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/service-accounts/{id}/keys",
        list_keys,
        summary="List the keys of a service account",
        title=("密钥", "Keys"),
        access="system:service-account:read",
        query=SERVICE_KEYS.list_query,
        returns=SERVICE_KEYS.read,
        paged=True,
        refusals=(NO_ACCOUNT_FOUND,),
    ),
    route(
        "POST /api/v1/system/service-accounts/{id}/keys",
        issue,
        summary="Give a service account a key",
        access=_WRITING,
        body=SERVICE_KEYS.create,
        returns=NEW_KEY,
        refusals=(NO_ACCOUNT_FOUND, *MANAGING, *conflicts(TOO_MANY_KEYS)),
        description="The response has the `key`, which is sent as `Authorization: Bearer tw_…` and cannot be read again.",
    ),
    route(
        "POST /api/v1/system/service-accounts/{id}/keys/{key_id}/rotate",
        rotate,
        summary="Replace a key of a service account",
        access=_WRITING,
        body=ROTATION,
        returns=NEW_KEY,
        refusals=(NO_ACCOUNT_FOUND, *MANAGING, _NO_KEY, *conflicts(TOO_MANY_KEYS)),
        description="The old key stays valid for `overlap_hours`, at most until it expires.",
    ),
    route(
        "DELETE /api/v1/system/service-accounts/{id}/keys/{key_id}",
        revoke,
        summary="Revoke a key of a service account",
        access=_WRITING,
        returns=NOTHING,
        refusals=(NO_ACCOUNT_FOUND, *MANAGING, _NO_KEY),
        description=FINAL,
    ),
)
