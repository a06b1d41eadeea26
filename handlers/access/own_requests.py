"""Own requests: nobody approves or rejects what they requested, created or own.

Super administrators are exempt, because a small firm may have nobody else; the operation log records each exemption.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from handlers.parts import Parts
from handlers.ports import OwnRequests
from handlers.request import Request
from handlers.route import Refusal
from handlers.schema.errors import CONFLICT, ApiError
from handlers.schema.messages import Message
from handlers.schema.values import ReadOnlyRecord

OWN_REQUEST: Final = Message(
    "不能审批本人申请、创建或负责的单据", "You cannot approve or reject what you requested, created or own"
)
REFUSES_OWN: Final = Refusal(CONFLICT, OWN_REQUEST, exempt_super=True)
EXEMPTION: Final = "own_request"
# its creator, its submitter, its owner, and the person whom it concerns
_PEOPLE = ("creator_id", "submitted_by", "owner_id", "user_id")


def people_behind(record: ReadOnlyRecord) -> frozenset[int]:
    """Return the ids of the people whose own request `record` is."""
    return frozenset(record[name] for name in _PEOPLE if record.get(name))


async def refuse_own(req: Request, people: Collection[int]) -> None:
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
