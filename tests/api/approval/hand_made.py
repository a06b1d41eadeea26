"""Requests of approval that need a flow and an approver (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from handlers.route import Route
from plugins.testing import People, expect, unique
from tests.api.approval.flows import AT, DEFINITIONS, EVERYTHING, act, ask, business_type, define, draft, id_of, node
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

ONE, FORMS = f"{AT}/instances/{{id}}", f"{AT}/forms"


async def of_a_flow(maker: Maker, route: Route) -> Exercise:
    """A flow whose node names somebody, which no single field requires."""
    body = {"name": unique("flow"), "biz_type": "GENERAL", "nodes": [node("first", maker.admin)], "enabled": False}
    return Exercise(maker.admin, route, path_with(route, ""), body)


async def changed_flow(maker: Maker, route: Route) -> Exercise:
    """A change of a flow's nodes, which are a tree; the shapes of branches alone do not say so."""
    made = await define(maker.admin, node("first", maker.admin), enabled=False)
    body = {"version": made["version"], "name": unique("flow"), "nodes": [node("other", maker.admin)], "priority": 7}
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


async def of_a_draft(maker: Maker, route: Route) -> Exercise:
    definition = await define(maker.admin, node("first", maker.admin))
    made = await draft(maker.admin, definition)
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"comment": "please"}, record=made)


async def of_a_request(maker: Maker, route: Route) -> Exercise:
    """A request that the administrator submitted and is an approver of."""
    made = await ask(maker.admin, await define(maker.admin, node("first", maker.admin)))
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"comment": "yes"}, record=made)


async def transfer(maker: Maker, route: Route) -> Exercise:
    made = await ask(maker.admin, await define(maker.admin, node("first", maker.admin)))
    body = {"user_id": (await maker.person()).user["userId"]}
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


async def add_signer(maker: Maker, route: Route) -> Exercise:
    exercise = await transfer(maker, route)
    return replace(exercise, body={**exercise.body, "place": "after"})


async def advise(maker: Maker, route: Route) -> Exercise:
    """A request about which an approver asks the administrator for advice."""
    boss = await People(maker.admin).person(EVERYTHING)
    made = await ask(maker.admin, await define(maker.admin, node("first", boss)))
    expect(await act(boss, made, "ask-advice", user_id=id_of(maker.admin)))
    return Exercise(maker.admin, route, path_with(route, made["id"]), {"comment": "fine"}, record=made)


async def batch(maker: Maker, route: Route) -> Exercise:
    made = await ask(maker.admin, await define(maker.admin, node("first", maker.admin)))
    return Exercise(maker.admin, route, path_with(route, ""), {"action": "agree", "ids": [made["id"]]}, record=made)


async def reassign(maker: Maker, route: Route) -> Exercise:
    made = await ask(maker.admin, await define(maker.admin, node("first", maker.admin)))
    body = {"from_user_id": 1, "user_id": (await maker.person()).user["userId"]}
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


async def remind(maker: Maker, route: Route) -> Exercise:
    made = await ask(maker.admin, await define(maker.admin, node("first", maker.admin)))
    return Exercise(maker.admin, route, path_with(route, made["id"]), record=made)


async def trial(maker: Maker, route: Route) -> Exercise:
    """Values of a type without records."""
    body = {"biz_type": "GENERAL", "record": {"amount": "1200.00"}, "initiator_id": maker.admin.user["userId"]}
    return Exercise(maker.admin, route, path_with(route, ""), body)


async def by_link(maker: Maker, route: Route) -> Exercise:
    """A link that nobody signed."""
    action = {"action": "agree"} if route.path.endswith("decide") else {}
    return Exercise(maker.admin, route, path_with(route, ""), {"token": "unsigned", **action}, code=40400)


async def of_a_form(maker: Maker, route: Route) -> Exercise:
    """A form of a business type that has none yet."""
    field = {"name": "amount", "label": "金额", "label_en": "Amount", "type": "money"}
    body = {"name": unique("form"), "biz_type": await business_type(maker.admin), "fields": [field]}
    return Exercise(maker.admin, route, path_with(route, ""), body)


async def changed_form(maker: Maker, route: Route) -> Exercise:
    made = expect(await maker.admin.post(FORMS, (await of_a_form(maker, route)).body))
    return Exercise(
        maker.admin, route, path_with(route, made["id"]), {"version": 1, "name": unique("form")}, record=made
    )


async def fields_of_a_flow(maker: Maker, route: Route) -> Exercise:
    made = await define(maker.admin, node("first", maker.admin))
    return Exercise(maker.admin, route, f"{path_with(route, '')}?definition_id={made['id']}")


APPROVAL_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {DEFINITIONS}": of_a_flow,
    f"PATCH {DEFINITIONS}/{{id}}": changed_flow,
    f"POST {ONE}/submit": of_a_draft,
    **{f"POST {ONE}/{action}": of_a_request for action in ("withdraw", "agree", "reject", "send-back", "comments")},
    f"POST {ONE}/transfer": transfer,
    f"POST {ONE}/ask-advice": transfer,
    f"POST {ONE}/add-signer": add_signer,
    f"POST {ONE}/advise": advise,
    f"POST {AT}/tasks/batch": batch,
    f"POST {ONE}/reassign": reassign,
    f"POST {ONE}/remind": remind,
    f"POST {AT}/simulate": trial,
    **{f"POST {AT}/links/{step}": by_link for step in ("open", "decide")},
    f"POST {FORMS}": of_a_form,
    f"PATCH {FORMS}/{{id}}": changed_form,
    f"GET {FORMS}/fields": fields_of_a_flow,
}
