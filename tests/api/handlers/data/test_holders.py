"""What a deletion does to the records that refer to what it deletes, and what it does not."""

import asyncio
from typing import Any

import pytest

from handlers.access.actor import Actor
from handlers.data.database import Database
from handlers.data.visible.scope import Scope
from handlers.schema.errors import ApiError, ValidationFailed
from tests.support.holding import BOXES, LABELS, LISTS, MARKS

pytestmark = pytest.mark.gen_test(timeout=20)
ANNA = Actor(user_id=101, department_id=11)


async def box(database: Database, **values: Any) -> Any:
    return (await database.store(BOXES).create({"name": "box", **values}))["id"]


async def refusal(database: Database, id: Any) -> ApiError:
    """The error of a deletion that is refused; the record is still there."""
    with pytest.raises(ApiError) as refused:
        await database.store(BOXES).delete(id)
    await database.store(BOXES).get(id)
    assert refused.value.kind.code == 40901
    return refused.value


async def test_a_record_that_nobody_refers_to_is_deleted(database: Database) -> None:
    id = await box(database)
    await database.store(BOXES).delete(id)
    assert await database.store(BOXES).find_one({"_id": id}) is None


async def test_a_restricted_deletion_names_each_kind_of_holder_and_how_many(database: Database) -> None:
    id = await box(database)
    await box(database, below_id=id)
    for _ in range(2):
        await database.store(LISTS, ANNA).create({"lines": [{"box_id": id}]})
    error = await refusal(database, id)
    assert error.reason.zh == "仍被引用（箱子 1，清单 2），不能删除"
    assert error.reason.en == "It is still in use (box: 1, list: 2) and cannot be deleted"
    assert error.data == {"held_by": [{"collection": BOXES.name, "count": 1}, {"collection": LISTS.name, "count": 2}]}


async def test_references_outside_the_callers_scope_prevent_a_deletion_too(database: Database) -> None:
    id = await box(database)
    await database.store(LISTS, ANNA).create({"lines": [{"box_id": id}]})
    blind = database.store(BOXES, ANNA, Scope())
    with pytest.raises(ApiError):
        await blind.delete(id)


async def test_a_deleted_holder_holds_nothing(database: Database) -> None:
    id = await box(database)
    above = await box(database, below_id=id)
    await database.store(BOXES).delete(above)
    await database.store(BOXES).delete(id)


async def test_what_is_deleted_with_the_record_does_not_hold_it(database: Database) -> None:
    id = await box(database)
    label = await database.store(LABELS).create({"box_id": id})
    await database.store(MARKS).create({"label_id": label["id"], "box_id": id})
    await database.store(BOXES).delete(id)
    assert await database.store(LABELS).find_one({"_id": label["id"]}) is None
    assert await database.store(MARKS).count({"box_id": id}) == 0


async def test_what_holds_a_record_that_would_be_deleted_too_refuses_all_of_it(database: Database) -> None:
    id = await box(database)
    label = await database.store(LABELS).create({"box_id": id})
    await database.store(MARKS).create({"label_id": label["id"]})
    assert (await refusal(database, id)).data == {"held_by": [{"collection": MARKS.name, "count": 1}]}
    assert await database.store(LABELS).get(label["id"]) == label


async def test_references_are_emptied_with_a_version_and_a_stamp(database: Database) -> None:
    id, other = await box(database), await box(database)
    label = await database.store(LABELS).create({"old_box_id": id, "box_ids": [id, other], "last_box_id": id})
    await database.store(BOXES, ANNA).delete(id)
    cleared = await database.store(LABELS).get(label["id"])
    assert (cleared["old_box_id"], cleared["box_ids"], cleared["last_box_id"]) == (None, [other], id)
    assert cleared["version"] > label["version"]
    assert cleared["updater_id"] == ANNA.user_id


async def test_a_reference_within_lines_to_a_deleted_record_is_refused_by_its_place(database: Database) -> None:
    id, gone = await box(database), await box(database)
    await database.store(BOXES).delete(gone)
    with pytest.raises(ValidationFailed) as refused:
        await database.store(LISTS, ANNA).create({"lines": [{"box_id": id}, {"box_id": gone}]})
    assert [fault.field for fault in refused.value.errors] == ["lines[1].box_id"]


@pytest.mark.parametrize("lines", [False, True], ids=["field", "lines"])
async def test_a_deletion_waits_for_a_holder_that_is_being_written_elsewhere(
    database: Database, other_instance: Database, lines: bool
) -> None:
    id = await box(database)
    written, go_on = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        if lines:
            await other_instance.store(LISTS).create({"lines": [{"box_id": id}]})
        else:
            await other_instance.store(BOXES).create({"below_id": id})
        written.set()
        await go_on.wait()

    writing = asyncio.create_task(other_instance.transaction(write))
    await written.wait()
    deleting = asyncio.create_task(refusal(database, id))
    asyncio.get_running_loop().call_later(0.2, go_on.set)
    assert (await deleting).data["held_by"]
    await writing


async def test_a_new_holder_waits_for_a_deletion_elsewhere_and_finds_no_record(
    database: Database, other_instance: Database
) -> None:
    id = await box(database)
    deleted, go_on = asyncio.Event(), asyncio.Event()

    async def delete() -> None:
        await other_instance.store(BOXES).delete(id)
        deleted.set()
        await go_on.wait()

    deleting = asyncio.create_task(other_instance.transaction(delete))
    await deleted.wait()
    asyncio.get_running_loop().call_later(0.2, go_on.set)
    with pytest.raises(ValidationFailed):
        await database.store(BOXES).create({"below_id": id})
    await deleting


async def test_of_holders_and_deletions_at_once_none_is_left_without_its_record(
    database: Database, other_instance: Database
) -> None:
    ids = [await box(database) for _ in range(10)]

    async def hold(place: Database, id: Any) -> None:
        try:
            await place.store(LISTS).create({"lines": [{"box_id": id}]})
        except ValidationFailed:
            return

    async def delete(place: Database, id: Any) -> None:
        try:
            await place.store(BOXES).delete(id)
        except ApiError:
            return

    places = (database, other_instance)
    await asyncio.gather(*(work(place, id) for id in ids for place in places for work in (hold, delete)))
    for id in ids:
        there = await database.store(BOXES).count({"_id": id})
        held = await database.store(LISTS).count({"lines.box_id": id})
        assert there == (1 if held else 0)
