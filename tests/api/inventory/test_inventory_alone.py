"""inventory and finance without each other, and without any other business plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.boot.registry import load_plugins
from plugins.testing import Client, expect, serving
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
NOBODY = "65f0c0ffee65f0c0ffee65f0"


@pytest.mark.parametrize(("name", "path"), [("inventory", "inventory/stock"), ("finance", "finance/accounts")])
async def test_each_runs_without_the_other(name: str, path: str, mongodb_uri: str, tmp_path: Path) -> None:
    plugins = load_plugins(("auth", "rbac", name))
    assert {plugin.name for plugin in plugins} == {"auth", "rbac", name}
    async with serving(mongodb_uri, tmp_path, plugins, demo=True) as running:
        admin = await Client(running.url).log_in("admin")
        assert expect(await admin.get(f"/api/v1/{path}"))["total"] > 0


async def test_without_crm_the_customer_of_an_order_is_not_looked_up(mongodb_uri: str, tmp_path: Path) -> None:
    plugins = load_plugins(("auth", "rbac", "inventory"))
    async with serving(mongodb_uri, tmp_path, plugins, demo=False) as running:
        admin = await Client(running.url).log_in("admin")
        goods = await Goods.fresh(admin)
        line = {"product_id": goods.product_id, "quantity": "1"}
        body = {"customer_name": "somebody", "customer_id": NOBODY, "lines": [line]}
        assert expect(await admin.post(f"{AT}/sales-orders", body))["customer_id"] == NOBODY
        quotation = expect(await admin.post(f"{AT}/quotations", body))
        expect(await admin.post(f"{AT}/quotations/{quotation['id']}/send"))
        assert (await admin.post(f"{AT}/quotations/{quotation['id']}/contract")).code == 40901
