"""Handovers: the records that a person holds go to somebody else, because the person leaves or moves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from plugins.api import CONFLICT, NOT_FOUND, ApiError, Message, Record, Request, Route, conflicts, invalid, route
from plugins.api.data import Jobs
from plugins.api.errors import DUPLICATE
from plugins.api.values import Language
from plugins.rbac.deciding import REFUSES_ONESELF, refuse_decisions_beyond, refuse_oneself
from plugins.rbac.directory import Directory
from plugins.rbac.handover_records import HANDOVER, HANDOVER_BODY, HANDOVERS, HOLDINGS
from plugins.rbac.handover_running import run
from plugins.rbac.holdings import Held, count_holdings, holdings, key_of
from plugins.rbac.limits import MANAGING, may_manage
from plugins.rbac.messages import HANDOVER_RUNNING
from plugins.rbac.records import USERS

_WAIT_SECONDS = 8.0  # less than the time limit of a request; a longer handover continues after the response


async def list_holdings(req: Request) -> Record:
    """Return what a person holds, and the progress of their last handover."""
    person = await _find_person(req)
    last = await req.system_store(HANDOVERS).find({"user_id": person["id"]}, sort="-created_at", limit=1)
    return {
        "items": [one.shown(req.language) for one in await count_holdings(req, person["id"])],
        "handover": _show(req, last[0]) if last else None,
    }


async def hand_over(req: Request) -> Record:
    """Hand over what a person holds to somebody else. If it takes longer than the request, it continues by itself."""
    person = await _find_person(req)
    await may_manage(req, person)
    if person["id"] == req.actor.user_id:
        await refuse_decisions_beyond(req, person["id"])
    await _check_receiver(req, person)
    collections = _check_collections(req)
    held = await count_holdings(req, person["id"], collections)
    if req.body.get("dry_run"):
        return _rehearsal(req, person, held)
    # the operation log shows how many records are affected
    req.note_rows(sum(one.count for one in held))
    handover = await _start(req, person, collections)
    task = req.part(Jobs).spawn("rbac.handover", run(req.service, handover["id"]))
    await asyncio.wait({task}, timeout=_WAIT_SECONDS)
    return _show(req, await req.system_store(HANDOVERS).get(handover["id"]))


async def _find_person(req: Request) -> Record:
    """Return the account, within the caller's data scope; also a deleted one, which may still hold records."""
    users = req.store(USERS)
    try:
        return await users.get(req.path["id"])
    except ApiError as error:
        if error.kind is not NOT_FOUND:
            raise
        return await users.deleted.get(req.path["id"])


async def _check_receiver(req: Request, person: Record) -> None:
    """Raise 40001 if the receiver is the person themselves or is not an enabled account, and 40300 for the caller."""
    to: int = req.body["to"]
    if to == person["id"]:
        raise invalid("to", "invalid")
    refuse_oneself(req, [to])
    receiver = await req.part(Directory).user(to)
    if receiver is None or receiver["status"] != "enabled":
        raise invalid("to", "reference")


def _check_collections(req: Request) -> list[str]:
    """Return the collections that the body names. Raises 40001 for one without a holding that can be handed over."""
    given: list[str] = req.body.get("collections") or []
    known = {one.collection.name for one in holdings(req.service)}
    for place, name in enumerate(given):
        if name not in known:
            raise invalid(f"collections[{place}]", "enum")
    return given


async def _start(req: Request, person: Record, collections: list[str]) -> Record:
    """Store the handover, so that any instance can continue it. Raises 40901 while another one of the person runs."""
    chosen = [{**key_of(one), "count": 0} for one in holdings(req.service, collections)]
    values = {"user_id": person["id"], "to_user_id": req.body["to"], "items": chosen, "request_id": req.id}
    try:
        return await req.system_store(HANDOVERS).create(values)
    except ApiError as error:
        # the unique index admits only one of two handovers at the same time
        raise ApiError(CONFLICT, HANDOVER_RUNNING) if error.kind is DUPLICATE else error from error


def _rehearsal(req: Request, person: Record, held: list[Held]) -> Record:
    items = [one.shown(req.language) for one in held]
    return {"user_id": person["id"], "to_user_id": req.body["to"], "items": items, "failures": []}


def _show(req: Request, handover: Record) -> Record:
    """Return a handover in the caller's language, without holdings of which nothing was moved."""
    names = {(one.collection.name, one.field): one.name for one in holdings(req.service)}
    moved = [item for item in handover["items"] if item["count"]]
    return {
        **handover,
        "items": [{**item, "label": _label(names, item, req.language)} for item in moved],
        "failures": [{**one, "message": one[req.language]} for one in handover["failures"]],
    }


def _label(names: Mapping[tuple[str, str], Message], item: Record, language: Language) -> str:
    """Return the name of an item's holding, or collection and field if its plugin is no longer loaded."""
    name = names.get((item["collection"], item["field"]))
    return name.text(language) if name is not None else f"{item['collection']}.{item['field']}"


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/users/{id}/holdings",
        list_holdings,
        summary="List what a user holds",
        access="system:user:handover",
        returns=HOLDINGS,
        collection=USERS.name,
    ),
    route(
        "POST /api/v1/system/users/{id}/handover",
        hand_over,
        summary="Hand a user's work over to another user",
        access="system:user:handover",
        body=HANDOVER_BODY,
        returns=HANDOVER.but(nullable=False),
        collection=USERS.name,
        refusals=(*MANAGING, REFUSES_ONESELF, *conflicts(HANDOVER_RUNNING)),
    ),
)
