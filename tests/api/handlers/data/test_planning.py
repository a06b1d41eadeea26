"""Lists of records that can be shared and have owners: which of their queries MongoDB plans anew, and what they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from tornado.ioloop import IOLoop

from handlers.data.collection import THE_USERS, Collection
from handlers.data.database import Database
from handlers.data.history.history import CHANGES
from handlers.data.visible.scope import Scope
from handlers.schema.fields import integer, text
from plugins.testing import unique
from tests.support.data_fixtures import opened

pytestmark = pytest.mark.gen_test(timeout=30)
EAST, ANN = 10, 1
SCOPE = Scope(department_ids=frozenset({EAST}), user_id=ANN)
DEALS = Collection(
    name="probe_deals",
    title="ProbeDeal",
    scoped=True,
    shared=True,
    owner="owner_id",
    fields={"name": text(), "owner_id": integer(ref=THE_USERS, on_delete="keep")},
)
PEOPLE = Collection(
    name="probe_people", title="ProbePerson", alias=THE_USERS, ids="integer", fields={"department_id": integer()}
)


@pytest.fixture
def deals(io_loop: IOLoop, mongodb_uri: str, driver_name: str) -> Iterator[Database]:
    """Three deals of a department, none of which is shared with anybody."""
    made = Database(opened(driver_name, mongodb_uri, unique("planned")), (PEOPLE, DEALS, CHANGES))
    rows = [{"_id": id, "deleted": False, "creator_department_id": EAST, "creator_id": ANN} for id in range(3)]
    io_loop.run_sync(made.prepare)
    io_loop.run_sync(lambda: made.driver.insert(DEALS.name, rows))
    yield made
    io_loop.run_sync(lambda: made.driver.command({"dropDatabase": 1}))
    io_loop.run_sync(made.driver.close)


async def total(database: Database) -> int | None:
    page = await database.store(DEALS, scope=SCOPE).page({"page": 1, "page_size": 20, "with_total": True})
    return page.total


async def test_the_queries_of_a_list_in_use_are_not_planned_anew(deals: Database, mongodb_uri: str) -> None:
    with MongoClient[dict[str, Any]](mongodb_uri) as client:

        def planned() -> int:
            metrics = client.admin.command("serverStatus")["metrics"]
            return int(metrics["query"]["multiPlanner"]["classicCount"])

        for _ in range(3):  # MongoDB keeps a plan that was good twice
            await total(deals)
        before = planned()
        for _ in range(5):
            await total(deals)
        assert planned() == before


@pytest.mark.parametrize(("field", "value"), [("shared_with", [ANN]), ("second_department_id", EAST)])
async def test_a_list_without_its_index_finds_the_same(deals: Database, field: str, value: object) -> None:
    await deals.driver.command({"dropIndexes": DEALS.name, "index": f"{field}_1_created_at_-1"})
    assert await total(deals) == 3
    await deals.driver.update_many(DEALS.name, {"_id": 1}, {"$set": {field: value, "creator_department_id": 20}})
    assert await total(deals) == 3
