"""The demo roles allow daily work, and no configuration."""

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, expect

pytestmark = pytest.mark.gen_test(timeout=30)
DAILY = {
    "hrm:attendance:punch",
    "hrm:leave:create",
    "hrm:leave:submit",
    "finance:expense-claim:submit",
    "approval:task:agree",
}
RULES = {
    "hrm:shift:update",
    "hrm:employee:update",
    "hrm:leave:approve",
    "hrm:leave-allowance:create",
    "approval:definition:update",
    "notification:announcement:create",
    "finance:period:close",
}


async def codes(admin: Client, tradewind: Running, name: str) -> set[str]:
    person = await admin.log_in(name, tradewind.service.demo_password(name))
    return set(expect(await person.get("/api/v1/auth/codes")))


@pytest.mark.parametrize("name", ["sales", "staff"])
async def test_people_do_their_daily_work_and_make_no_rules(name: str, admin: Client, tradewind: Running) -> None:
    held = await codes(admin, tradewind, name)
    assert held >= DAILY
    assert not held & RULES


async def test_salespeople_work_on_customers_and_others_only_read_them(admin: Client, tradewind: Running) -> None:
    selling, other = [await codes(admin, tradewind, name) for name in ("sales", "staff")]
    assert {"crm:customer:create", "crm:opportunity:win", "crm:contract:submit", "crm:customer:read"} <= selling
    assert "crm:customer:read" in other
    assert "crm:customer:create" not in other
    assert not selling & {"crm:customer:delete", "crm:contract:approve", "crm:customer:transfer"}
