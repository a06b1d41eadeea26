"""`Approval`: how records of a kind are approved by flows, which know nothing about them.

Records and approvals are connected by three events, and neither side imports the other. The action `submit` emits
`approval.requested`; an approval plugin emits `approval.finished`, whose outcome is applied as an action of the record;
`approval.cancelled` ends the approval of a record that was decided or withdrawn by its own action. Without such a
plugin, whoever has the permission of an action decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handlers.access.requests import people_behind
from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.ports import Approvals
from handlers.schema.envelope import as_json
from handlers.schema.fields import Field, text
from handlers.schema.messages import Message
from handlers.schema.values import Payload, ReadOnlyRecord, Record
from handlers.service import Service
from plugins.records.shared_events import APPROVAL_CANCELLED, APPROVAL_REQUESTED, NOTIFY
from plugins.records.steps import Step

NO_FLOW_HEADER = "X-Approval"
APPROVAL_ID = text(
    label=("审批", "Approval"),
    read_only=True,
    description="The approval that was started; null, with the header `X-Approval: none`, if no flow applies.",
)


@dataclass(frozen=True)
class Approval:
    """The approval of the records of a collection.

    `submit` is the action that asks for it; its outcome leads to the actions `done`, `refused` and `withdrawn`.
    `record` returns what approvers and conditions see besides the record, such as names that the approvers may not look
    up, and `fields` declares them, so that conditions may name them. `title` makes the title of a request from all of
    this; by default it is the code and the name of the record. Who is behind a record is told of a decision that is
    made at the record itself, unless `tells` is false, for hooks that tell more.
    """

    submit: str = "submit"
    done: str = "approve"
    refused: str = "reject"
    withdrawn: str = "withdraw"
    title: Callable[[ReadOnlyRecord], str | Message] | None = None
    record: Callable[[Step[Any]], Awaitable[ReadOnlyRecord]] | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)
    tells: bool = True

    @property
    def actions(self) -> tuple[str, ...]:
        """All actions of the approval."""
        return (self.submit, self.done, self.refused, self.withdrawn)

    def action_of(self, outcome: str) -> str | None:
        """Return the action that an outcome leads to; None for an unknown outcome."""
        outcomes = {"approved": self.done, "rejected": self.refused}
        return {**outcomes, "returned": self.withdrawn, "withdrawn": self.withdrawn}.get(outcome)

    def is_pending(self, record: ReadOnlyRecord, collection: Collection) -> bool:
        """Return whether the record waits for a decision."""
        machine = collection.machine
        return bool(record[machine.field] == machine.after(self.submit))

    async def describe(self, step: Step) -> Record:
        """Return what approvers and conditions see of the record of a step."""
        shown = as_json(step.service.database.current(step.collection).read, step.record)
        return {**shown, **await self.record(step)} if self.record is not None else shown

    async def ask(self, step: Step) -> str | None:
        """Ask for the approval of the record that was submitted, and return its id; None if no flow applies.

        A listener may decide at once.
        """
        shown = await self.describe(step)
        title = self._name(step, shown)
        own = people_behind(step.record)
        about = refer_to(step)
        await step.emit(APPROVAL_REQUESTED, title=title, record=shown, own=own, **about)
        found = await step.service.part(Approvals).pending(about["biz_type"], about["resource_id"])
        if found is None and step.request is not None:
            step.request.response_headers[NO_FLOW_HEADER] = "none"
        return found

    async def cancel(self, step: Step) -> None:
        """End the approval of a record that was decided or withdrawn by its own action, and tell who is behind it."""
        await step.emit(APPROVAL_CANCELLED, reason=step.reason, **refer_to(step))
        people = people_behind(step.record) - {step.by}
        if not (self.tells and people and step.action in (self.done, self.refused)):
            return
        machine, name = step.collection.machine, self._name(step, await self.describe(step))
        words = name if isinstance(name, Message) else Message(name, name)
        outcome = machine.states[step.record[machine.field]]
        await step.emit(
            NOTIFY,
            user_ids=sorted(people),
            kind="approval_result",
            title=Message(f"{words.zh}：{outcome.zh}", f"{words.en}: {outcome.en.lower()}"),
            body=step.reason,
            link=_link_of(step),
            data=refer_to(step),
        )

    def _name(self, step: Step, shown: ReadOnlyRecord) -> str | Message:
        return self.title(shown) if self.title else _title_of(step.collection, shown)


def refer_to(step: Step) -> Record:
    """Return how events refer to the record: its business type and its id."""
    types = step.service.part(Catalogue).biz_types
    names = (name for name, collection in types.items() if collection.name == step.collection.name)
    return {"biz_type": next(names), "resource_id": str(step.record["id"])}


def is_about(service: Service, payload: Payload, collection: Collection) -> bool:
    """Return whether an event is about a record of this collection."""
    found = service.part(Catalogue).biz_types.get(payload["biz_type"])
    return found is not None and found.name == collection.name


def _link_of(step: Step) -> str | None:
    """Return where clients show the record: the path that reads it."""
    for route in step.service.part(Catalogue).routes:
        if route.method == "GET" and route.collection == step.collection.name and route.path.endswith("/{id}"):
            return str(route.path.removeprefix("/api/v1").replace("{id}", str(step.record["id"])))
    return None


def _title_of(collection: Collection, shown: ReadOnlyRecord) -> str:
    """Return the code and the name of a record, or else its id."""
    names = dict.fromkeys((collection.code_field, collection.label_field))
    return " ".join(str(shown[name]) for name in names if shown.get(name)) or str(shown["id"])
