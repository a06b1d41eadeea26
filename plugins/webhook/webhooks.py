"""Webhooks, for administrators: where changes are sent, and by whose rights."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from plugins.api import Record, Request, Route, crud, invalid, route
from plugins.api.errors import STALE, FieldError, ValidationFailed
from plugins.rbac.api import MANAGING, USERS, may_manage
from plugins.webhook.posting import Attempt
from plugins.webhook.records import ATTEMPT, EVENT, NEW_SECRET, NEW_WEBHOOK, OVERLAP_HOURS, ROTATION, WEBHOOKS
from plugins.webhook.sending import Webhooks, valid_secrets

_MOST_SECRETS = 2


async def create(req: Request) -> Record:
    """Create a webhook; the response has its secret. The caller must hold all rights of its service account."""
    _check_events(req, req.body["events"])
    await _check_account(req, req.body["account_id"])
    secret, stored = req.part(Webhooks).make_secret()
    made = await req.store(WEBHOOKS).create({**req.body, "secrets": [stored]})
    return {**made, "secret": secret}


async def update(req: Request) -> Record:
    """Change a webhook. The caller must hold all rights of its service account, before and after."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(WEBHOOKS).get(req.path["id"])
    _check_events(req, values.get("events") or ())
    await _check_accounts(req, before, values)
    restarts = {"failing_since": None} if values.get("status") == "enabled" != before["status"] else {}
    return await req.store(WEBHOOKS).update(before["id"], {**values, **restarts}, version=version)


async def rotate(req: Request) -> Record:
    """Give a webhook a new secret; the old one signs too for some hours, so that the receiver can change over."""
    hook = await req.store(WEBHOOKS).get(req.path["id"])
    await _check_accounts(req, hook, {})
    secret, stored = req.part(Webhooks).make_secret()
    until = req.now + timedelta(hours=req.body.get("overlap_hours", OVERLAP_HOURS))
    old = [{**one, "until": min(one["until"] or until, until)} for one in valid_secrets(hook, req.now)]
    secrets = [stored, *old][:_MOST_SECRETS]
    await req.store(WEBHOOKS).update(hook["id"], {"secrets": secrets}, version=hook["version"])
    return {"secret": secret}


async def ping(req: Request) -> Record:
    """Send a message of the type `ping` now, and return what came back. It is not repeated and not kept."""
    hook = await req.store(WEBHOOKS).get(req.path["id"])
    body = {"type": "ping", "timestamp": f"{req.now:%Y-%m-%dT%H:%M:%S}Z", "data": {"webhook_id": str(hook["id"])}}
    attempt = await req.part(Webhooks).try_out(hook, f"msg_{uuid.uuid4().hex}", json.dumps(body).encode())
    return _shown(attempt)


def _shown(attempt: Attempt) -> Record:
    return {"status": attempt.status, "response": attempt.response or None, "fault": attempt.fault or None}


def _check_events(req: Request, events: Sequence[str]) -> None:
    """Raise 40001 for an event of a collection that is unknown, or whose records nobody reads with a permission."""
    collector = req.part(Webhooks).collector
    faults = [FieldError(f"events[{at}]", "enum") for at, one in enumerate(events) if not collector.named([one])]
    if faults:
        raise ValidationFailed(faults)


async def _check_accounts(req: Request, before: Record, values: Any) -> None:
    known = await req.system_store(USERS).find_one({"_id": before["account_id"]})
    if known is not None:
        await may_manage(req, known)
    if values.get("account_id", before["account_id"]) != before["account_id"]:
        await _check_account(req, values["account_id"])


async def _check_account(req: Request, account_id: int) -> None:
    account = await req.store(USERS).find_one({"_id": account_id, "service": True})
    if account is None:
        raise invalid("account_id", "reference")
    await may_manage(req, account)


_AT = "/api/v1/system/webhooks"
_CRUD = crud(WEBHOOKS, at=_AT, resource="system:webhook", create=create, update=update, refusals=MANAGING)
ROUTES: tuple[Route, ...] = (
    *(
        replace(one, returns=NEW_WEBHOOK, sends={"change": EVENT}) if one.name == f"POST {_AT}" else one
        for one in _CRUD
    ),
    route(
        "POST /api/v1/system/webhooks/{id}/rotate-secret",
        rotate,
        summary="Replace the secret of a webhook",
        access="system:webhook:rotate",
        body=ROTATION,
        returns=NEW_SECRET,
        collection=WEBHOOKS.name,
        errors=(STALE,),
        refusals=MANAGING,
        description="Until `overlap_hours` have passed, `webhook-signature` has a signature with each secret.",
    ),
    route(
        "POST /api/v1/system/webhooks/{id}/ping",
        ping,
        summary="Try a webhook",
        effect=("将立即发送一条测试消息。", "A test message is sent now."),
        access="system:webhook:ping",
        returns=ATTEMPT,
        collection=WEBHOOKS.name,
    ),
)
