"""For random users and records, each figure is the sum over the records that the user can list."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, serving, unique
from tests.api.dashboard import reference
from tests.api.dashboard.reference import SHANGHAI, Records
from tests.api.dashboard.trade import LISTS, MODULES, founded, listed

FIRST, LAST = "2026-01-16", "2026-11-20"
PLUGINS = ("rbac", "auth", "system", "dashboard", *MODULES)


@pytest.mark.gen_test(timeout=120)
async def test_each_figure_is_the_sum_over_what_the_person_can_list(mongodb_uri: str, tmp_path: Path) -> None:
    await check_figures(1, mongodb_uri, tmp_path)


async def check_figures(seed: int, mongodb_uri: str, tmp_path: Path) -> None:
    """Fail where a figure of somebody in the company of this seed is not the sum."""
    secret = "9f2c41d07be85a63-figures-of-dashboards"
    plugins = load_plugins(PLUGINS)
    async with serving(mongodb_uri, tmp_path, plugins=plugins, demo=False, jwt_secret=secret) as running:
        admin = await Client(running.url).log_in("admin")
        company = await founded(admin, running.service.database, random.Random(seed))
        await company.records(60)
        seen = [await compared(person) for person in company.people]
        # the users must see different records, or the test proves nothing
        assert max(seen) > 50
        assert len(set(seen)) > 4


async def compared(person: Client) -> int:
    """Compare every dashboard of the user with the reference; return how many payments they see."""
    found: Records = {
        noun: [record async for record in listed(person, module, noun)]
        for module, nouns in LISTS.items()
        for noun in nouns
    }
    today = datetime.now(UTC).astimezone(SHANGHAI).date()
    year = reference.last_months(12, today)

    async def ask(path: str) -> Any:
        return expect(await person.get(f"/api/dashboard/{path}"))

    overview = await ask("overview")
    assert {name: overview[name] for name in reference.overview(found)} == reference.overview(found)
    days = reference.last_days(366, today)
    assert (await ask("sales-trend?days=366"))["items"] == reference.sales_trend(found, days)
    assert (await ask("contract-trend"))["items"] == reference.contract_trend(found, year)
    for by in ("payments", "contracts"):
        ranked = (await ask(f"sales-ranking?date_from={FIRST}&date_to={LAST}&limit=100&by={by}"))["items"]
        expected = reference.ranking(found, FIRST, LAST, by)
        assert [item["user_name"] for item in ranked] == [item["name"] for item in ranked]
        assert [without(without(item, "name"), "user_name") for item in ranked] == expected
    summary = await ask(f"finance-summary?date_from={FIRST}&date_to={LAST}")
    assert summary == reference.finance(found, FIRST, LAST)
    distribution = await ask("customer-distribution")
    assert distribution["by_industry"] == reference.slices(found["customers"], "industry")
    assert distribution["by_level"] == reference.slices(found["customers"], "level")
    assert (await ask("lead-source-distribution"))["items"] == reference.slices(found["leads"], "source")
    funnel = (await ask("opportunity-funnel"))["items"]
    assert [without(item, "name") for item in funnel] == reference.funnel(found)
    held = {one["warehouse_id"]: one for one in (await ask("stock-value-by-warehouse"))["items"]}
    everything, me = person.user["dataScope"] == "all", person.user["userId"]
    kept = [
        one["id"] for one in found["warehouses"] if not everything and one["keeper_ids"] and me not in one["keeper_ids"]
    ]
    assert not [row for row in found["stock"] if row["warehouse_id"] in kept]
    found["warehouses"] = [one for one in found["warehouses"] if one["id"] not in kept]
    assert {id: (Decimal(one["quantity"]), Decimal(one["value"])) for id, one in held.items()} == reference.stock(found)
    assert (await ask("sales-vs-purchase"))["items"] == reference.trade(found, year)
    return len(found["payments"])


def without(item: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != name}


@pytest.mark.gen_test(timeout=40)
async def test_somebody_who_was_deleted_keeps_their_name_in_the_ranking(
    admin: Client, people: People, tradewind: Running
) -> None:
    name = unique("gone")
    account = await people.account(real_name=name)
    of = expect(await admin.post("/api/v1/crm/customers", {"name": "x"}))["id"]
    body = {"customer_id": of, "name": "x", "amount": "99999999.00", "owner_id": account["id"]}
    at = f"/api/v1/crm/contracts/{expect(await admin.post('/api/v1/crm/contracts', body))['id']}"
    for action in ("submit", "approve", "complete"):  # a contract that has ended keeps its owner
        expect(await admin.post(f"{at}/{action}"))
    expect(await admin.delete(f"/api/v1/system/users/{account['id']}"))
    rows = expect(await admin.get("/api/dashboard/sales-ranking?by=contracts&limit=100"))["items"]
    assert [row["name"] for row in rows if row["user_id"] == account["id"]] == [name]
    # it has ended, so only the database can take it out of the figures of other tests
    ended = {"$set": {"status": "terminated"}}
    await tradewind.service.database.driver.update_one("crm_contracts", {"owner_id": account["id"]}, ended)
