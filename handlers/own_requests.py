"""Own requests: nobody decides on what they asked for, made or own.

Super administrators are exempt, as a small firm has nobody else; the operation log notes each exemption.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from handlers.ports import OwnRequests
from handlers.route import Refusal
from handlers.schema.errors import CONFLICT, ApiError
from handlers.schema.messages import Message

if TYPE_CHECKING:
    from handlers.request import Request

OWN_REQUEST: Final = Message("不能审批本人申请、创建或负责的单据", "Nobody decides on what they asked for, made or own")
REFUSES_OWN: Final = Refusal(CONFLICT, OWN_REQUEST, spares_super=True)
EXEMPTION: Final = "own_request"
# whoever made it, submitted it, is its owner, or is whom it is about
_PEOPLE = ("creator_id", "submitted_by", "owner_id", "user_id")


def people_behind(record: Mapping[str, Any]) -> frozenset[int]:
    """The ids of the people whose request `record` is."""
    return frozenset(record[name] for name in _PEOPLE if record.get(name))


async def refuse_own(req: Request, people: Collection[int]) -> None:
    """Refuse a decision of the caller (40901) if they are among `people`, whose request it is.

    Raises nothing where a plugin provides `OwnRequests` and administrators allow it; a super administrator's decision
    is marked as an exemption in the operation log.
    """
    if req.actor.user_id not in people or await may_decide_on_own(req.service.parts):
        return
    if not req.actor.is_super:
        raise ApiError(CONFLICT, OWN_REQUEST)
    req.exemption = EXEMPTION


async def may_decide_on_own(parts: Mapping[type, Any]) -> bool:
    """Whether administrators let people decide on their own requests; never without a plugin that asks them."""
    setting: OwnRequests | None = parts.get(OwnRequests)
    return setting is not None and await setting.allowed()
