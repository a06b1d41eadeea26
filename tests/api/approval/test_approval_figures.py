"""Figures of approvals: how long nodes take, what waits and what was sent back, with the visits behind them, in scope."""

from __future__ import annotations

from datetime import timedelta

import pytest

from plugins.api import utc_now
from plugins.approval.records import INSTANCES as COLLECTION
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.approval.flows import AT, act, ask, define, id_of, node, several

pytestmark = pytest.mark.gen_test(timeout=30)
HOURS = (1, 2, 10)


async def test_each_node_has_its_figures_and_the_visits_behind_them(
    admin: Client, people: People, tradewind: Running
) -> None:
    me, first, second = await several(people, 3)
    flow = await define(admin, node("first", first), node("second", second))
    asked = [await ask(me, flow) for _ in (*HOURS, 0)]
    for hours, one in zip(HOURS, asked, strict=False):
        changed = {"$set": {"tasks.0.asked_at": utc_now() - timedelta(hours=hours)}}
        id = COLLECTION.parse_id(one["id"])
        await tradewind.service.database.store(COLLECTION).update_unversioned({"_id": id}, changed)
        expect(await act(first, one, "agree"))
    expect(await act(second, asked[0], "send-back", to="first"))
    figures = f"{AT}/figures?definition_id={flow['id']}"
    rows = {one["node"]: one for one in expect(await admin.get(figures))["items"]}
    assert [rows["first"][name] for name in ("decided", "waiting", "sent_back")] == [3, 2, 0]
    assert (round(rows["first"]["median_hours"]), round(rows["first"]["p90_hours"])) == (2, 10)
    assert [rows["second"][name] for name in ("decided", "waiting", "sent_back")] == [1, 2, 1]
    visits = f"{AT}/figures/visits?definition_id={flow['id']}"
    waiting = expect(await admin.get(f"{visits}&state=waiting&node=first"))
    assert (waiting["total"], {one["instance_id"] for one in waiting["items"]}) == (2, {asked[0]["id"], asked[3]["id"]})
    (longest, *_) = expect(await admin.get(f"{visits}&state=decided&node=first"))["items"]
    assert (longest["instance_id"], round(longest["hours"]), longest["user_ids"]) == (
        asked[2]["id"],
        10,
        [id_of(first)],
    )
    stranger = await people.person(["approval:figure:read", "approval:figure:list"])
    assert expect(await stranger.get(figures))["items"] == []
    assert expect(await stranger.get(visits))["total"] == 0
