"""Questions that plugins of version 1 ask by events, as a loaded plugin answers them by its port."""

from __future__ import annotations

from decimal import Decimal

import pytest

from plugins.api import Event
from plugins.api.business import CREDIT_ASKED, OPEN_DAY_ASKED, OWED_ASKED, TERMS_ASKED
from plugins.boot.runtime import Running
from plugins.crm.records import CUSTOMERS
from plugins.inventory.records import SUPPLIERS
from plugins.testing import Client, expect
from tests.api.crm.sales import customer
from tests.api.inventory.goods import AT

pytestmark = pytest.mark.gen_test(timeout=60)


async def ask(running: Running, event: Event, **about: object) -> dict[str, object]:
    found: dict[str, object] = {}
    await running.service.database.transaction(lambda: running.service.events.emit(event, {**about, "found": found}))
    return found


async def test_what_was_asked_by_events_is_still_answered(admin: Client, tradewind: Running) -> None:
    made = await customer(admin, terms_days=30, credit_limit="100.00")
    supplier = expect(await admin.post(f"{AT}/suppliers", {"code": "PORTS-1", "name": "供应商", "terms_days": 45}))
    who, whom = CUSTOMERS.parse_id(made["id"]), SUPPLIERS.parse_id(supplier["id"])
    amounts = {"requested": Decimal(70), "ordered": Decimal(50)}
    assert [
        await ask(tradewind, TERMS_ASKED, customer_id=who),
        await ask(tradewind, TERMS_ASKED, supplier_id=whom),
        await ask(tradewind, OWED_ASKED, customer_id=who),
        await ask(tradewind, CREDIT_ASKED, customer_id=who, **amounts),
        await ask(tradewind, OPEN_DAY_ASKED, day="2026-01-05"),
    ] == [{"days": 30}, {"days": 45}, {"owed": Decimal(0)}, {"excess": Decimal(20)}, {"day": "2026-01-05"}]
