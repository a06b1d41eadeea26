"""`req.lock`: reads a record that the caller sees, and locks it within the transaction."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.access.actor import Actor
from handlers.data.sync.locks import LOCKS
from handlers.data.visible.scope import ALL_ROWS, Scope
from handlers.request import Request
from handlers.schema.errors import NOT_FOUND, ApiError
from plugins.boot.runtime import Running
from plugins.crm.records import CUSTOMERS
from plugins.testing import Client, expect, unique

pytestmark = pytest.mark.gen_test
NO_ID = "f" * 24


def request(running: Running, scope: Scope) -> Request:
    """A request of a person with this data scope."""
    actor = Actor(user_id=101, department_id=11)
    return Request(running.service, "POST", "/", "r", {}, "127.0.0.1", actor=actor, scope=scope)


async def customer(admin: Client) -> str:
    made: str = expect(await admin.post("/api/v1/crm/customers", {"name": unique("locked")}))["id"]
    return made


async def lock_of(running: Running, id: str) -> Any:
    return await running.service.database.driver.find_one(LOCKS.name, {"_id": f"{CUSTOMERS.name}:{id}"})


async def test_a_lock_answers_the_record(admin: Client, tradewind: Running) -> None:
    req, id = request(tradewind, ALL_ROWS), await customer(admin)
    locked = await req.transaction(lambda: req.lock(CUSTOMERS, id))
    assert (str(locked["id"]), locked["version"]) == (id, 1)
    assert (await lock_of(tradewind, id))["count"] == 1


@pytest.mark.parametrize("there", [False, True], ids=["missing", "out of scope"])
async def test_what_the_caller_does_not_see_cannot_be_locked(admin: Client, tradewind: Running, there: bool) -> None:
    req, id = request(tradewind, Scope()), await customer(admin) if there else NO_ID
    with pytest.raises(ApiError) as refused:
        await req.transaction(lambda: req.lock(CUSTOMERS, id))
    assert refused.value.kind is NOT_FOUND
    assert await lock_of(tradewind, id) is None
