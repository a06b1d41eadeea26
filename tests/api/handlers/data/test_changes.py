"""Changes: every instance hears of every write to a watched collection."""

from typing import Any

import pytest

from handlers.data.database import Database
from plugins.testing import eventually, unique
from tests.support.probe import WIDGETS
from tests.support.records import NOTES

pytestmark = pytest.mark.gen_test


def ears(database: Database) -> list[Any]:
    heard: list[Any] = []
    database.changes.listen(NOTES.name, heard.append)
    return heard


async def test_a_write_of_this_process_is_reported_at_once(database: Database) -> None:
    heard = ears(database)
    made = await database.store(NOTES).create({"title": "a"})
    assert made["id"] in heard


async def test_another_instance_hears_of_a_new_record(database: Database, other_instance: Database) -> None:
    heard = ears(other_instance)
    made = await database.store(NOTES).create({"title": "a"})

    async def was_heard() -> bool:
        return made["id"] in heard

    await eventually(was_heard, seconds=2)


@pytest.mark.parametrize("write", ["update", "delete", "update_many", "removed for good", "transaction"])
async def test_another_instance_hears_of_every_kind_of_write(
    database: Database, other_instance: Database, write: str
) -> None:
    store = database.store(NOTES)
    id = (await store.create({"title": unique("written")}))["id"]
    writes = {
        "update": lambda: store.update(id, {"likes": 1}),
        "delete": lambda: store.delete(id),
        "update_many": lambda: store.update_many({"_id": id}, {"$inc": {"likes": 1}}),
        "removed for good": lambda: database.driver.delete_many(NOTES.name, {"_id": id}),
        "transaction": lambda: database.transaction(lambda: store.update(id, {"likes": 1})),
    }

    async def heard_of_the_creation() -> bool:
        return id in before

    before = ears(other_instance)
    await store.update(id, {"likes": 0})
    await eventually(heard_of_the_creation, seconds=2)
    heard = ears(other_instance)
    await writes[write]()

    async def was_heard() -> bool:
        return id in heard

    await eventually(was_heard, seconds=2)


async def test_a_collection_that_is_not_watched_cannot_be_listened_to(database: Database) -> None:
    with pytest.raises(ValueError, match="not declared watched"):
        database.changes.listen(WIDGETS.name, print)
