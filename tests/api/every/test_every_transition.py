"""Every action of every state machine, from every state: done where the machine allows it, else nothing is written.

What may always be written at a record, its notes, every state allows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pytest

from handlers.access.requests import OWN_REQUEST
from handlers.data.collection import Collection
from handlers.route import Route
from handlers.schema.messages import Language, Message
from plugins.boot.runtime import Running
from plugins.records.lifecycles import ActionHandler
from plugins.records.transitions import action_handlers
from plugins.testing import Client, People, Reply, expect
from tests.support.catalogue import CATALOGUE, chosen_routes, stand_ins
from tests.support.valid_requests import Exercise, Maker, name_of

LANGUAGES: tuple[Language, ...] = ("zh", "en")
pytestmark = pytest.mark.gen_test(timeout=120)


def decides(route: Route, handler: ActionHandler) -> bool:
    """Whether the action is a decision, which nobody takes on their own request."""
    moves = handler.life.collection.machine.transitions
    return any(moves[name].decides for name in handler.action.names)


def every_action(rule: Callable[[Route, ActionHandler], bool] = lambda route, handler: True) -> pytest.MarkDecorator:
    """Run the test for every route that `transitions` makes and whose action meets the rule."""
    found = [one for one in action_handlers(chosen_routes()) if rule(*one)]
    params = [pytest.param(*one, id=name_of(one[0])) for one in stand_ins(found, of_one_machine)]
    return pytest.mark.parametrize(("route", "handler"), params)


def of_one_machine(of: tuple[Route, ActionHandler]) -> Hashable:
    """The machine, and in how many states its action is allowed."""
    machine, names = of[1].life.collection.machine, of[1].action.names
    return machine.name, len({state for name in names for state in machine.transitions[name].sources})


PERMISSIONS = sorted({route.access for route, _ in action_handlers(CATALOGUE.routes)})
NOTES = {route.collection: route for route in CATALOGUE.routes if route.path.endswith("/{id}/notes")}
# what has a number and goes from state to state: orders, contracts, invoices, claims
DOCUMENTS = [one for one in CATALOGUE.collections.values() if one.states is not None and "number" in one.fields]


class Case:
    """A record on which something is tried, and its document in the database."""

    def __init__(self, running: Running, exercise: Exercise) -> None:
        self._driver = running.service.database.driver
        self._collection = CATALOGUE.collections[exercise.route.collection]
        self._key = self._collection.parse_id(exercise.record["id"])
        self.exercise = exercise

    @classmethod
    async def of(cls, running: Running, maker: Maker, route: Route) -> Case:
        """A record on which the action is allowed."""
        return cls(running, await maker.exercise(route, only_required=True))

    async def document(self) -> dict[str, Any]:
        """The stored document."""
        found = await self._driver.find_one(self._collection.name, {"_id": self._key})
        assert found is not None
        return dict(found)

    async def put(self, **values: Any) -> None:
        """Write into the document, past every rule."""
        await self._driver.update_one(self._collection.name, {"_id": self._key}, {"$set": values})

    async def put_in(self, state: str) -> None:
        """Give the record a state, past every rule."""
        await self.put(**{self._collection.machine.field: state})

    async def tried_by(self, client: Client) -> Reply:
        """The response to the action of this person."""
        exercise = self.exercise
        return await client.call(exercise.route.method, exercise.path, exercise.body)

    async def refused_to(self, client: Client, code: int) -> Reply:
        """The response, which has this code, to an action that writes nothing."""
        before = await self.document()
        reply = await self.tried_by(client)
        expect(reply, code)
        assert await self.document() == before
        return reply


@every_action()
async def test_an_action_is_allowed_exactly_where_the_machine_says(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    machine, names = handler.life.collection.machine, handler.action.names
    refused = await Case.of(tradewind, maker, route)
    with_right = await people.person([route.access], "all")
    for state in machine.states:
        allowed = [name for name in names if state in machine.transitions[name].sources]
        case = await Case.of(tradewind, maker, route) if allowed else refused
        await case.put_in(state)
        before, own = await case.document(), case.exercise.client
        # what only one person may do, they do
        reply = await case.tried_by(with_right if own is maker.admin else own)
        document = await case.document()
        if reply.code == 0:
            assert document[machine.field] in _targets(handler, allowed), state
            assert document["version"] > before["version"]
        else:
            # of several transitions the request chooses one, which the state may not allow
            assert len(allowed) < len(names), (state, reply.body.decode()[:1000])
            error = machine.refuse(names[0])
            assert (reply.code, reply.json["msg"]) == (error.kind.code, error.reason.zh), state
            assert document == before


def _targets(handler: ActionHandler, allowed: Sequence[str]) -> set[str]:
    """The states that these actions lead to; an approval without a flow may end at once."""
    machine, approval = handler.life.collection.machine, handler.life.approval
    done = (approval.done,) if approval is not None and approval.submit in allowed else ()
    return {machine.after(name) for name in (*allowed, *done)}


@every_action()
async def test_without_the_permission_nothing_is_written(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    # one half of the permissions to act, without this one
    half = PERMISSIONS.index(route.access) % 2
    person = await people.person([one for at, one in enumerate(PERMISSIONS) if at % 2 != half], "all")
    await (await Case.of(tradewind, maker, route)).refused_to(person, 40300)


@every_action(decides)
async def test_a_person_does_not_decide_on_their_own_request_in_any_state(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    person = await people.person([route.access], "all")
    case = await Case.of(tradewind, maker, route)
    await case.put(creator_id=person.user["userId"])
    for state in handler.life.collection.machine.states:
        await case.put_in(state)
        reply = await case.refused_to(person, 40901)
        assert reply.json["msg"] == OWN_REQUEST.zh


def writable_notes(collection: Collection) -> set[str]:
    """The notes that clients may give a record when they make it."""
    names = ("reference", "remark")
    return {name for name in names if name in collection.fields and not collection.fields[name].read_only}


def noted(route: Route) -> set[str]:
    """What the route changes."""
    return {*((route.body and route.body.fields) or {})} - {"version"}


def test_reference_and_remark_of_every_document_may_always_change() -> None:
    changed = {one.name: noted(NOTES[one.name]) if one.name in NOTES else set() for one in DOCUMENTS}
    wanted = {one.name: writable_notes(one) for one in DOCUMENTS}
    assert [name for name, names in wanted.items() if names and changed[name] != names] == []


@pytest.mark.parametrize("route", [one for one in chosen_routes() if one in NOTES.values()], ids=name_of)
async def test_notes_change_in_every_state_and_nothing_else_does(
    route: Route, maker: Maker, tradewind: Running
) -> None:
    collection = CATALOGUE.collections[route.collection]
    case = Case(tradewind, await maker.exercise(route))
    path = case.exercise.path
    for state in collection.states.states if collection.states else [None]:
        if state is not None:
            await case.put_in(state)
        before = expect(await maker.admin.get(path.removesuffix("/notes")))
        body = {name: f"{name} while {state}" for name in noted(route)}
        changed = expect(await maker.admin.patch(path, {**body, "version": before["version"]}))
        stamps = {name: value for name, value in changed.items() if name == "version" or name.startswith("updat")}
        assert changed == {**before, **body, **stamps}
        expect(await maker.admin.patch(path, {**body, "version": before["version"]}), 40902)


def test_every_state_machine_is_among_the_constants() -> None:
    declared = {collection.states.name for collection in CATALOGUE.collections.values() if collection.states}
    assert declared <= {machine.name for machine in CATALOGUE.state_machines}


async def test_every_transition_is_among_the_constants_as_its_button_is_called(anonymous: Client) -> None:
    for language in LANGUAGES:
        constants = expect(await anonymous.get("/api/v1/meta/constants", headers={"Accept-Language": language}))
        for machine in CATALOGUE.state_machines:
            shown = {one["action"]: one for one in constants["state_machines"][machine.name]["transitions"]}
            assert shown == {
                action: {
                    "action": action,
                    "from": list(one.sources),
                    "to": one.target,
                    "label": machine.label_of(action).text(language),
                }
                for action, one in machine.transitions.items()
            }
        for route, handler in action_handlers(CATALOGUE.routes):
            for name in handler.action.names:
                label = handler.life.collection.machine.label_of(name)
                if route.access.endswith(f":{name}"):
                    assert CATALOGUE.permission_titles[route.access] == label


def label_of(handler: ActionHandler) -> Message | None:
    return handler.life.collection.machine.transitions[handler.action.names[0]].label


def test_every_summary_in_chinese_names_the_transition() -> None:
    labels = [(route, label_of(handler)) for route, handler in action_handlers(CATALOGUE.routes) if route.title is None]
    named = [(CATALOGUE.summaries[route.name].zh, label.zh) for route, label in labels if label is not None]
    assert [summary for summary, label in named if not summary.endswith(f"：{label}")] == []
