"""Decisions by the link in a message: for one person and one task, once, for some days, by the same refusals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from plugins.api import utc_now
from plugins.approval.links import make_token
from plugins.approval.options import LINK_WITHOUT_LOGIN
from plugins.boot.runtime import Running
from plugins.testing import Client, People, Reply, expect
from tests.api.approval.flows import AT, EVERYTHING, act, ask, configured, define, disable, id_of, node, read, several

pytestmark = pytest.mark.gen_test(timeout=30)
SOON = timedelta(hours=1)


def token_of(running: Running, instance: Mapping[str, Any], who: Client, lasts: timedelta = SOON) -> str:
    """The link to the last task of a person, as a message has it."""
    place = max(at for at, task in enumerate(instance["tasks"]) if task["user_id"] == id_of(who))
    return make_token(running.service, instance["id"], place, id_of(who), utc_now() + lasts)


async def opened(client: Client, token: str) -> Reply:
    return await client.post(f"{AT}/links/open", {"token": token})


async def decided(client: Client, token: str, action: str = "agree", **more: Any) -> Reply:
    return await client.post(f"{AT}/links/decide", {"token": token, "action": action, **more})


async def test_the_person_decides_by_the_link_after_a_log_in_and_the_history_says_so(
    admin: Client, people: People, tradewind: Running, anonymous: Client
) -> None:
    (boss,) = await several(people, 1)
    made = await ask(
        admin, await define(admin, {**node("first", boss), "reason": "always"}), record={"amount": "12.50"}
    )
    token = token_of(tradewind, made, boss)
    expect(await opened(anonymous, token), 40100)
    shown = expect(await opened(boss, token))
    assert (shown["title"], shown["logged_in"], shown["content"][-1]["value"]) == (made["title"], True, "12.50")
    assert [(one["action"], one["needs_comment"]) for one in shown["actions"]] == [("agree", True), ("reject", True)]
    reply = await decided(boss, token)
    assert (reply.code, reply.fields) == (40001, {"comment"})
    assert expect(await decided(boss, token, comment="fine"))["status"] == "approved"
    last = (await read(admin, made))["history"][-1]
    assert (last["action"], last["user_id"], last["way"], last["comment"]) == ("agree", id_of(boss), "link", "fine")
    expect(await decided(boss, token, comment="again"), 40901)
    expect(await opened(boss, token), 40901)


async def test_a_link_is_void_for_others_and_once_its_task_was_taken_away(
    admin: Client, people: People, tradewind: Running
) -> None:
    boss, other = await several(people, 2)
    made = await ask(admin, await define(admin, node("first", boss)))
    token = token_of(tradewind, made, boss)
    expect(await decided(other, token), 40300)
    expect(await act(boss, made, "transfer", user_id=id_of(other)))
    expect(await decided(boss, token), 40901)
    again = expect(await act(other, made, "transfer", user_id=id_of(boss)))
    expect(await decided(boss, token), 40901)
    expect(await decided(boss, token_of(tradewind, again, boss)))


async def test_an_altered_link_and_one_that_has_expired_are_not_found(
    admin: Client, people: People, tradewind: Running
) -> None:
    boss, other = await several(people, 2)
    made = await ask(admin, await define(admin, node("first", boss, other)))
    id, place, user, until, signature = token_of(tradewind, made, boss).split(".")
    swapped = f"{int(signature[0], 16) ^ 1:x}{signature[1:]}"
    for altered in (
        [id, place, user, until, swapped],
        [id, place, user, until, signature[:-1]],
        [id, place, user, str(int(until) + 1), signature],
        [id, "1", user, until, signature],
        [id, place, str(id_of(other)), until, signature],
        [id, place, user, until],
        [id, place, user, "x", signature],
    ):
        expect(await decided(other if altered[2] != user else boss, ".".join(altered)), 40400)
    expect(await decided(boss, token_of(tradewind, made, boss, -SOON)), 40400)


async def test_where_the_company_allows_it_the_link_alone_decides_for_that_person(
    admin: Client, people: People, tradewind: Running, anonymous: Client
) -> None:
    boss, gone = await several(people, 2)
    (weak,) = await several(people, 1, [one for one in EVERYTHING if one != "approval:task:reject"])
    made = await ask(admin, await define(admin, {**node("first", boss, gone, weak), "mode": "all"}))
    await disable(admin, gone)
    async with configured(admin, **{LINK_WITHOUT_LOGIN: True}):
        expect(await decided(anonymous, token_of(tradewind, made, gone)), 40300)
        expect(await decided(anonymous, token_of(tradewind, made, weak), "reject"), 40300)
        assert expect(await opened(anonymous, token_of(tradewind, made, boss)))["logged_in"] is False
        expect(await decided(anonymous, token_of(tradewind, made, boss)))
        expect(await decided(anonymous, token_of(tradewind, made, boss)), 40901)
    last = (await read(admin, made))["history"][-1]
    assert (last["user_id"], last["way"]) == (id_of(boss), "link_without_login")
