"""A killed instance costs the others nothing: what its transaction held is free again within a second."""

import time

import pytest

from handlers.data.database import COUNTERS
from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.support.document_holder import holder
from tests.support.probe import WIDGETS, WIDGETS_AT

pytestmark = pytest.mark.gen_test(timeout=30)
LIMIT_SECONDS = 2.0  # one for the others to notice, and one for a busy machine


async def test_a_record_that_a_killed_instance_held_is_changed_within_a_second(
    probed: Running, probe_admin: Client, mongodb_uri: str
) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "held"}))
    database = probed.service.settings.mongodb_database
    with holder(mongodb_uri, database, WIDGETS.name, made["id"]) as process:
        process.kill()
        killed = time.monotonic()
        changed = expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "name": "free"}))
        assert time.monotonic() - killed < LIMIT_SECONDS
    assert changed["name"] == "free"


async def test_a_number_that_a_killed_instance_held_is_given_within_a_second(probed: Running, mongodb_uri: str) -> None:
    database, name = probed.service.database, unique("numbers")
    assert await database.next_number(name, outside_transaction=False) == 1
    with holder(mongodb_uri, probed.service.settings.mongodb_database, COUNTERS, name) as process:
        process.kill()
        killed = time.monotonic()
        assert await database.transaction(lambda: database.next_number(name, outside_transaction=False)) == 2
        assert time.monotonic() - killed < LIMIT_SECONDS
