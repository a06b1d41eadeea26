"""Pending approvals of the overview are the pending ones that the user can list."""

from __future__ import annotations

import pytest

from handlers.access.actor import Actor
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.boot.runtime import Running
from plugins.testing import People, expect
from tests.support.sample_values import completed

pytestmark = pytest.mark.gen_test(timeout=30)
SEES = ("dashboard:chart:overview", "approval:instance:list")


async def test_approvals_under_way_are_counted_in_scope_and_where_shared(tradewind: Running, people: People) -> None:
    me, other = await people.person(SEES), await people.person(SEES)
    actor, colleague = (Actor(user_id=person.user["userId"]) for person in (me, other))
    shared = [actor.user_id]
    flows = tradewind.service.database.store(DEFINITIONS)
    flow = await flows.create(completed(DEFINITIONS, {"name": "flow", "enabled": False}))
    for by, status, with_whom in (
        (actor, "pending", []),
        (actor, "approved", []),
        (colleague, "pending", shared),
        (colleague, "pending", []),
    ):
        store = tradewind.service.database.store(INSTANCES, by)
        asked = {"title": "asked", "status": status, "shared_with": with_whom, "initiator_id": by.user_id}
        asked["definition_id"] = flow["id"]
        await store.create(completed(INSTANCES, asked))
    assert expect(await me.get("/api/dashboard/overview"))["pending_approvals"] == 2
    assert expect(await me.get("/api/v1/approvals/instances?status=pending"))["total"] == 2
