"""Every action of every state machine, from every state: done where the machine allows it, else nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from handlers.own_requests import OWN_REQUEST
from handlers.route import Route
from handlers.schema.messages import Language, Message
from plugins.lifecycles import ActionHandler
from plugins.runtime import Running
from plugins.testing import Client, People, Reply, expect
from plugins.transitions import action_handlers
from tests.support.catalogue import CATALOGUE
from tests.support.valid_requests import Exercise, Maker, name_of

LANGUAGES: tuple[Language, ...] = ("zh", "en")
pytestmark = pytest.mark.gen_test(timeout=120)


def decides(route: Route, handler: ActionHandler) -> bool:
    """Whether the action is a decision, which nobody takes on their own request."""
    moves = handler.life.collection.machine.transitions
    return any(moves[name].decides for name in handler.action.names)


def every_action(rule: Callable[[Route, ActionHandler], bool] = lambda route, handler: True) -> pytest.MarkDecorator:
    """Run the test for every route that `transitions` makes and whose action meets the rule."""
    found = [pytest.param(*one, id=name_of(one[0])) for one in action_handlers(CATALOGUE.routes) if rule(*one)]
    return pytest.mark.parametrize(("route", "handler"), found)


class Case:
    """A record on which an action is tried, and its document in the database."""

    def __init__(self, running: Running, handler: ActionHandler, exercise: Exercise) -> None:
        self._driver = running.service.database.driver
        self._collection = handler.life.collection
        self.exercise = exercise

    @classmethod
    async def of(cls, running: Running, maker: Maker, route: Route, handler: ActionHandler) -> Case:
        """A record on which the action is allowed."""
        return cls(running, handler, await maker.exercise(route, only_required=True))

    async def document(self) -> dict[str, Any]:
        """The stored document."""
        key = self._collection.parse_id(self.exercise.record["id"])
        found = await self._driver.find_one(self._collection.name, {"_id": key})
        assert found is not None
        return dict(found)

    async def put(self, **values: Any) -> None:
        """Write into the document, past every rule."""
        key = self._collection.parse_id(self.exercise.record["id"])
        await self._driver.update_one(self._collection.name, {"_id": key}, {"$set": values})

    async def put_in(self, state: str) -> None:
        """Give the record a state, past every rule."""
        await self.put(**{self._collection.machine.field: state})

    async def tried_by(self, client: Client) -> Reply:
        """The response to the action of this person."""
        exercise = self.exercise
        return await client.call(exercise.route.method, exercise.path, exercise.body)


@every_action()
async def test_an_action_is_allowed_exactly_where_the_machine_says(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    machine, names = handler.life.collection.machine, handler.action.names
    person = await people.person([route.access], "all")
    refused = await Case.of(tradewind, maker, route, handler)
    for state in machine.states:
        allowed = [name for name in names if state in machine.transitions[name].sources]
        case = await Case.of(tradewind, maker, route, handler) if allowed else refused
        await case.put_in(state)
        before = await case.document()
        reply = await case.tried_by(person)
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
async def test_without_the_permission_nothing_is_written_in_any_state(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    others = [one.access for one, _ in action_handlers(CATALOGUE.routes) if one.access != route.access]
    person = await people.person(others, "all")
    case = await Case.of(tradewind, maker, route, handler)
    for state in handler.life.collection.machine.states:
        await case.put_in(state)
        before = await case.document()
        expect(await case.tried_by(person), 40300)
        assert await case.document() == before


@every_action(decides)
async def test_a_person_does_not_decide_on_their_own_request_in_any_state(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    person = await people.person([route.access], "all")
    case = await Case.of(tradewind, maker, route, handler)
    await case.put(creator_id=person.user["userId"])
    for state in handler.life.collection.machine.states:
        await case.put_in(state)
        before = await case.document()
        reply = await case.tried_by(person)
        expect(reply, 40901)
        assert reply.json["msg"] == OWN_REQUEST.zh
        assert await case.document() == before


@every_action()
async def test_another_version_is_stale_and_nothing_is_written(
    route: Route, handler: ActionHandler, maker: Maker, people: People, tradewind: Running
) -> None:
    person = await people.person([route.access], "all")
    case = await Case.of(tradewind, maker, route, handler)
    before = await case.document()
    body = {**(case.exercise.body or {}), "version": before["version"] + 1}
    expect(await person.call(route.method, case.exercise.path, body), 40902)
    assert await case.document() == before


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


@every_action(lambda route, handler: route.title is None and label_of(handler) is not None)
def test_its_summary_in_chinese_names_the_transition(route: Route, handler: ActionHandler) -> None:
    label = label_of(handler)
    assert label is not None
    assert CATALOGUE.summaries[route.name].zh.endswith(f"：{label.zh}")
