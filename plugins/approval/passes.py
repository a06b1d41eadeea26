"""The passes of approvals: whoever is asked about a record may read it, and what hangs below it.

Nothing is stored for a pass. It follows from the tasks, the copied people and the initiator that an approval has now,
and ends with them: a task that was transferred, reassigned or cancelled gives none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import Actor, Collection, Message
from plugins.api.data import Database
from plugins.api.events import APPROVAL_REQUESTED
from plugins.api.records import Catalogue
from plugins.approval.messages import ASKED_IN
from plugins.approval.records import INSTANCES
from plugins.approval.states import TASK_STATES

_MOST = 1000  # approvals that one look-up reads
_ASKED = (
    "pending",
    "waiting",
    "advice",
    "advised",
    *(TASK_STATES.after(name) for name, one in TASK_STATES.transitions.items() if one.decides),
)


class ApprovalPasses:
    """The port `Passes` of the core, over the approvals of all records whose routes ask for one."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._types = _biz_types(catalogue)

    def covers(self, collection: Collection) -> bool:
        """Return whether some route asks for the approval of records of this collection."""
        return collection.name in self._types

    async def reasons(self, actor: Actor, collection: Collection, ids: Sequence[Any]) -> Mapping[Any, Message]:
        """Return messages that name the approvals in which the actor is asked about these records, by record id."""
        wanted = {str(id): id for id in ids}
        about = {"resource_id": {"$in": list(wanted)}, "biz_type": {"$in": self._types[collection.name]}}
        rows = await self._database.store(INSTANCES).find(
            {**about, **_asks(actor.user_id)}, fields=["resource_id", "title"], limit=_MOST
        )
        return {wanted[row["resource_id"]]: ASKED_IN.filled(title=row["title"]) for row in rows}


def _asks(user_id: int) -> Mapping[str, Any]:
    """Return the filter on approvals that the person started, is copied on, mentioned or asked in, or decided on."""
    task = {"tasks": {"$elemMatch": {"user_id": user_id, "status": {"$in": list(_ASKED)}}}}
    return {"$or": [{"initiator_id": user_id}, {"copied": user_id}, {"mentioned": user_id}, task]}


def _biz_types(catalogue: Catalogue) -> Mapping[str, list[str]]:
    """Return collection → its business types, for the collections of routes that ask for an approval."""
    events = {APPROVAL_REQUESTED, APPROVAL_REQUESTED.name}
    asking = {route.collection for route in catalogue.routes if not events.isdisjoint(route.events)}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for biz_type, collection in catalogue.biz_types.items():
        if collection.name in asking:
            found[collection.name].append(biz_type)
    return dict(found)
