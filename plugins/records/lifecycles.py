"""`Lifecycle`: makes the transitions of a collection, whether a request or the outcome of an approval asks for them.

Each is one transaction: find the record; refuse what the caller, the version or the state does not allow; run `before`;
store the new state with `values`; run `after`; emit the event of the transition; ask for an approval, or end it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import isawaitable
from typing import Any

from handlers.access.requests import people_behind, refuse_own
from handlers.data.collection import Collection
from handlers.data.database import utc_now
from handlers.events import Event
from handlers.request import Request
from handlers.route import Fits, Refusal
from handlers.schema.errors import ErrorKind
from handlers.schema.fields import Field, integer, obj
from handlers.schema.messages import Message
from handlers.schema.values import Payload, ReadOnlyRecord, Record, RecordId
from handlers.service import Parts, Service
from plugins.records.approvals import Approval, is_about, refer_to
from plugins.records.steps import Announced, Hook, Step, change_state

Find = Callable[[Request, Collection[Any], RecordId], Awaitable[Any]]
Work = Callable[[], Awaitable[Record]]
VERSION = integer(minimum=1, description="The version that was read, checked if given; a stale one is 40902.")
VERSION_BODY = obj("TransitionBody", {"version": VERSION}, nullable=False)


@dataclass(frozen=True, eq=False)
class Action:
    """A route that takes a record from state to state: `Action("POST /api/v1/acme/agreements/{id}/sign", access=…)`.

    It makes the transition that the last part of the path names, or those that `does` names; of several, `choose`
    returns the one for a step. `title` is what people call it, by default the label of the (first) transition, and
    `summary` by default that with the noun of the collection.
    `body` has the fields besides `version`, which every action takes, or is an object with them; if no field is
    required, the request may come without a body. `values` returns what else changes, or is a
    coroutine function that does; names that begin with `$` are update operators. `before` may refuse, once it is known
    that the state allows the action; `after` sees the changed record. `within` runs the transaction, for work that must be done outside it. `respond` makes the response of the
    shape `returns`; without them it is the record. With `waits`, the action is refused while the record is on hold,
    even if an approval asks for it. `unless` maps boolean fields of the record to messages: while one of them is true,
    the action is refused with its message, and the console shows the message at the disabled button. `fits`: as of a route,
    besides the state; pages hide the action otherwise.
    """

    endpoint: str
    access: str
    does: tuple[str, ...] = ()
    summary: str = ""
    body: Field | Mapping[str, Field] | None = None
    values: Callable[[Step[Any]], ReadOnlyRecord | Awaitable[ReadOnlyRecord]] | None = None
    before: Hook | None = None
    choose: Callable[[Step[Any]], str] | None = None
    title: tuple[str, str] | None = None
    after: Hook | None = None
    within: Callable[[Request, Work], Awaitable[Record]] | None = None
    respond: Callable[[Step[Any]], object] | None = None
    returns: Field | None = None
    errors: tuple[ErrorKind, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    events: tuple[Event | str, ...] = ()
    waits: bool = False
    unless: Mapping[str, Message] = field(default_factory=dict)
    fits: Fits = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The transitions that it may make."""
        return self.does or (self.endpoint.rpartition("/")[2],)


@dataclass(frozen=True, eq=False)
class Lifecycle:
    """The actions of a collection, with their hooks and its approval."""

    collection: Collection
    actions: tuple[Action, ...]
    find: Find
    after: Hook | None = None
    approval: Approval | None = None

    async def perform(self, req: Request, action: Action) -> object:
        """Make the transition that a request asks for, and return the response."""
        made: list[Step] = []

        async def work() -> Record:
            made[:] = [await self._perform(req, action)]
            asked = self.approval is not None and made[0].action == self.approval.submit
            return {**made[0].record, "approval": made[0].approval_id} if asked else made[0].record

        record = await (action.within(req, work) if action.within else req.transaction(work))
        return action.respond(made[0]) if action.respond else record

    async def _perform(self, req: Request, action: Action) -> Step:
        record = await self.find(req, self.collection, req.path["id"])
        body: Record = req.body or {}
        by, reason = req.actor.user_id, body.get("reason")
        step = Step(req.service, self.collection, action.names[0], record, req.now, by, reason, body, req)
        if any(self.collection.machine.transitions[name].decides for name in action.names):
            await refuse_own(req, people_behind(record))
        await step.require(*action.names)
        step.refuse_barred(action.unless, waits=action.waits)
        await self._make(step, action)
        if self.approval is not None and step.action == self.approval.submit:
            step.approval_id = await self.approval.ask(step)
            # a listener may have decided at once
            step.record = await step.store(self.collection).get(record["id"])
        return step

    async def _make(self, step: Step, action: Action | None) -> None:
        """Change the record of the step, call the hooks of the action, emit its event, and end a pending approval."""
        if action is not None and action.before is not None:
            await action.before(step)
        if action is not None and action.choose is not None:
            step.action = action.choose(step)
        was_pending = self.approval is not None and self.approval.is_pending(step.record, self.collection)
        machine = self.collection.machine
        if machine.keeps_evidence and not machine.holds_evidence(step.record):
            await step.service.database.share(self.collection, step.record["id"])  # against who removes an attachment
        given = action.values(step) if action is not None and action.values is not None else {}
        values = await given if isawaitable(given) else given
        store, version = step.store(self.collection), step.body.get("version")
        step.record = await change_state(store, step.record["id"], step.action, values, version=version)
        for hook in (action.after if action is not None else None, self.after):
            if hook is not None:
                await hook(step)
        await self._announce(step)
        if self.approval is not None and was_pending and not step.by_approval:
            await self.approval.cancel(step)

    async def _announce(self, step: Step) -> None:
        machine = self.collection.machine
        event = machine.transitions[step.action].event
        if event:
            reference = refer_to(step) if self.approval is not None else {}
            announced = ChainMap(*(vars(one) for one in step.kept.values() if isinstance(one, Announced)))
            await step.emit(event, **{**reference, **step.payload, **announced, machine.record: step.record})

    async def apply_outcome(self, service: Service, payload: Payload) -> None:
        """Apply the outcome of an approval to its record. A record that is no longer pending stays unchanged."""
        approval = self.approval
        name = approval.action_of(payload["outcome"]) if approval is not None else None
        if approval is None or name is None or not is_about(service, payload, self.collection):
            return
        request = payload.get("request")
        now, given = request.now if request else utc_now(), {key: payload[key] for key in payload if key != "request"}
        by, reason = payload.get("by"), payload.get("reason")
        first: Step = Step(service, self.collection, name, {}, now, by, reason, {}, request, by_approval=True)

        async def work() -> None:
            record = await first.store(self.collection).get(payload["resource_id"])
            if approval.is_pending(record, self.collection):
                step, action = replace(first, record=record, payload=dict(given), kept=Parts()), self._action(name)
                if action is not None:
                    step.refuse_barred(action.unless, waits=action.waits)
                await self._make(step, action)

        await service.database.transaction(work)

    def _action(self, name: str) -> Action | None:
        return next((action for action in self.actions if name in action.names), None)


@dataclass(frozen=True, eq=False)
class ActionHandler:
    """The handler of the route of an action."""

    life: Lifecycle
    action: Action

    def names_of(self, collection: Collection) -> tuple[str, ...]:
        """Return the transitions of this collection that it may make."""
        return self.action.names if self.life.collection.name == collection.name else ()

    def bars_of(self, collection: Collection) -> Mapping[str, Message]:
        """Return the boolean fields of a record of this collection that forbid the action, each with the reason."""
        return self.action.unless if self.life.collection.name == collection.name else {}

    async def __call__(self, req: Request) -> object:
        """Make the transition and return the response."""
        return await self.life.perform(req, self.action)
