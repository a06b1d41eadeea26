"""Moving approvals on: from node to node to an outcome, and telling those whom it concerns.

Everything here runs in the transaction of who calls it, so an approval, its messages and what the business makes of
the outcome are stored together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plugins.api import Actor, Message, Request, Service, Store
from plugins.approval import flow
from plugins.approval.flow import Case
from plugins.approval.messages import ASKED, COPIED, ENDED, NOT_ALLOWED, REMINDED
from plugins.approval.people import named_people, resolve
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.states import STATES, after

REQUESTED, CANCELLED, FINISHED = "approval.requested", "approval.cancelled", "approval.finished"
TELL = "notification.send"
_LINK = "/approval/instances/{id}"


@dataclass(frozen=True)
class Desk:
    """Who moves an approval on, when, and in which request."""

    service: Service
    actor: Actor
    now: datetime
    request: Request | None = None

    def store(self) -> Store:
        """All approvals, stamped with the actor."""
        return self.service.database.store(INSTANCES, self.actor, now=self.now)

    async def emit(self, event: str, **payload: Any) -> None:
        """Tell other plugins."""
        await self.service.events.emit(event, {"request": self.request, **payload})


def desk_of(req: Request) -> Desk:
    """The desk of a request."""
    return Desk(req.service, req.actor, req.now, req)


async def begin(desk: Desk, case: Case, comment: str | None = None) -> None:
    """Start, or start again, by the flow as it is defined now."""
    definition = await desk.service.database.store(DEFINITIONS).get(case["definition_id"])
    case.update(status=after("submit"), nodes=definition["nodes"], submitted_at=desk.now, finished_at=None)
    case["copied"] = await named_people(desk.service, definition["copies"], case["initiator_id"])
    flow.note(case, desk.actor.user_id, "submit", desk.now, comment)
    await reach(desk, case, case["nodes"][0])


async def reach(desk: Desk, case: Case, node: Mapping[str, Any]) -> None:
    """Ask the people of a node, as they are now."""
    people = await resolve(desk.service, node["approvers"], case, desk.now)
    flow.ask(case, node, people)


async def judge(desk: Desk, case: Case) -> None:
    """Go on where the answers at the present node decide it."""
    verdict = flow.verdict(case)
    if verdict == "agreed":
        node = flow.next_node(case)
        if node is None:
            flow.close(case, after("approve"), desk.now)
        else:
            await reach(desk, case, node)
    elif verdict == "rejected":
        back = flow.node_of(case, case["node"])["on_reject"] == "back"
        flow.close(case, after("return" if back else "reject"), desk.now)


async def save(desk: Desk, before: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """Store a case in one conditional update, and tell whom it concerns; 40901 when somebody was faster."""
    where = {"version": before["version"], "status": before["status"]}
    # only what changed: the flow of one that is under way may be deleted by now
    values = {name: value for name, value in flow.changed(case).items() if value != before.get(name)}
    saved = await desk.store().update(before["id"], values, where=where, reason=NOT_ALLOWED)
    await tell(desk, before, saved)
    return saved


async def remind_of(desk: Desk, instance: Mapping[str, Any]) -> None:
    """Tell those who are asked once more, in this hour once."""
    key = f"approval:{instance['id']}:{instance['round']}:{desk.now:%Y%m%d%H}"
    await _message(desk, instance, set(instance["todo"]), "approval_task", REMINDED, key=key)


async def tell(desk: Desk, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Messages to those who are asked or copied since `before`, and the outcome to everybody."""
    await _message(desk, now, set(now["todo"]) - _asked(before, now), "approval_task", ASKED)
    if now["status"] == "pending" != before["status"]:
        await _message(desk, now, set(now["copied"]), "approval_copy", COPIED)
    if before["status"] == "pending" != now["status"]:
        await _finished(desk, now)


def _asked(before: Mapping[str, Any], now: Mapping[str, Any]) -> set[int]:
    """Who was asked before, and still is at the same visit to the node."""
    return set(before["todo"]) if before["round"] == now["round"] else set()


async def _finished(desk: Desk, instance: Mapping[str, Any]) -> None:
    outcome = STATES.states[instance["status"]]
    if instance["initiator_id"] != desk.actor.user_id:
        ended = Message(ENDED.zh.replace("{outcome}", outcome.zh), ENDED.en.replace("{outcome}", outcome.en.lower()))
        await _message(desk, instance, {instance["initiator_id"]}, "approval_result", ended)
    if instance["resource_id"] is not None:
        last = instance["history"][-1]
        await desk.emit(
            FINISHED,
            biz_type=instance["biz_type"],
            resource_id=instance["resource_id"],
            outcome=instance["status"],
            by=desk.actor.user_id,
            reason=last["comment"],
            instance_id=str(instance["id"]),
        )


async def _message(
    desk: Desk, instance: Mapping[str, Any], to: set[int], kind: str, sentence: Message, **more: str
) -> None:
    if not to:
        return
    id, title = str(instance["id"]), instance["title"]
    data = {"instance_id": id, "biz_type": instance["biz_type"], "resource_id": instance["resource_id"]}
    text = Message(sentence.zh.replace("{title}", title), sentence.en.replace("{title}", title))
    await desk.emit(TELL, user_ids=sorted(to), kind=kind, title=text, link=_LINK.format(id=id), data=data, **more)
