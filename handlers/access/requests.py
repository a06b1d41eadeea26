"""Requests beyond permission codes: by a pass, one's own, and the 40300 that names what is missing.

Nobody approves or rejects what they requested, created or own. Super administrators are exempt, because a small firm may
have nobody else; the operation log records each exemption.
"""

from __future__ import annotations

from collections import abc
from typing import Final

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.data.visible.delegated_access import Passage
from handlers.ports import OwnRequests
from handlers.query_string import parse_query
from handlers.request import Request
from handlers.route import Refusal, Route
from handlers.schema.errors import CONFLICT, ApiError, MissingPermission
from handlers.schema.messages import MISSING_PERMISSION, Message
from handlers.schema.values import ReadOnlyRecord, RecordId
from handlers.service import Parts, Service


def missing_permission(req: Request, permission: str, reason: Message | None = None) -> MissingPermission:
    """Return the 40300 for a missing permission code; `reason` is the message of a rule that has its own message."""
    operation = req.part(Catalogue).operations.get(permission, Message(permission, permission))
    sentences = (
        template.format(operation=words) for template, words in zip(MISSING_PERMISSION, operation, strict=True)
    )
    return MissingPermission(permission, Message(*sentences), reason)


async def is_admitted(request: Request, route: Route) -> bool:
    """Return whether a pass lets the request in: to the record in its path, or a list below the record in its query."""
    passage = request.passage
    if passage is None or not route.passable:
        return False
    try:
        query = route.check_query(parse_query(request.raw_query))
    except ApiError:
        return False  # without the permission nobody learns what is wrong with the query
    rules = request.service.database.collections[route.collection]
    if "id" in request.path:
        return await pass_for(passage, request.service, rules, request.path["id"]) is not None
    return await passage.admits_list(rules, query)


async def pass_for(passage: Passage, service: Service, collection: Collection, id: RecordId) -> Message | None:
    """Return why the passage admits the record with this id, or None if it does not or there is no such record.

    The record is read only if it could be admitted.
    """
    try:
        own = await passage.reason(collection, {"id": collection.parse_id(id)})
        if own is None and not passage.depends(collection):
            return None
        record = await service.database.store(collection).get(id)
    except ApiError:
        return None
    return own or await passage.reason(collection, record)


OWN_REQUEST: Final = Message(
    "不能审批本人申请、创建或负责的单据", "You cannot approve or reject what you requested, created or own"
)
EXEMPTION: Final = "own_request"
REFUSES_OWN: Final = Refusal(CONFLICT, OWN_REQUEST, exempt_super=True, exemption=EXEMPTION)
# its creator, its submitter, its owner, and the person whom it concerns
PEOPLE_BEHIND: Final = ("creator_id", "submitted_by", "owner_id", "user_id")


def people_behind(record: ReadOnlyRecord) -> frozenset[int]:
    """Return the ids of the people whose own request `record` is."""
    return frozenset(record[name] for name in PEOPLE_BEHIND if record.get(name))


async def refuse_own(req: Request, people: abc.Collection[int]) -> None:
    """Raise 40901 if the caller is among `people`, the people behind the request that they decide on.

    Does nothing if a plugin provides `OwnRequests` and administrators allow such decisions. A super administrator is
    not refused, but the decision is recorded as an exemption in the operation log.
    """
    if req.actor.user_id not in people or await may_decide_on_own(req.service.parts):
        return
    if not req.actor.is_super:
        raise ApiError(CONFLICT, OWN_REQUEST)
    req.exemption = EXEMPTION


async def may_decide_on_own(parts: Parts) -> bool:
    """Return whether administrators let people decide on their own requests; False without a plugin for the setting."""
    return await parts[OwnRequests].allowed()
