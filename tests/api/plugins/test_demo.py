"""Demo data that MongoDB does not let be entered in one transaction: a sentence at start, and another attempt later."""

import asyncio
from contextvars import Context
from dataclasses import replace
from pathlib import Path

import pytest
from bson import Binary
from bson.binary import UUID_SUBTYPE

from handlers.data.database import utc_now
from handlers.service import Service
from plugins.boot.listen import StartError
from plugins.boot.registry import load_plugins
from plugins.plugin import Plugin
from plugins.testing import Client, empty_database, expect, serving
from tests.support import probe
from tests.support.probe import WIDGETS, WIDGETS_AT

pytestmark = pytest.mark.gen_test


def entering(slow: bool) -> list[Plugin]:
    """The probe with a demo widget; a `slow` one outlives its transaction, which MongoDB ends."""

    async def demo(service: Service) -> None:
        database, driver = service.database, service.database.driver
        await database.store(WIDGETS, now=utc_now()).create({"name": "demo", "batch": "demo"})
        if slow:
            lsids = [{"id": Binary(id, UUID_SUBTYPE)} for id in driver.open_sessions]
            # outside the transaction
            await asyncio.create_task(driver.command({"killSessions": lsids}), context=Context())
            await database.store(WIDGETS).create({"name": "late", "batch": "demo"})

    return [*load_plugins(("auth", "rbac", "system")), replace(probe.plugin, demo=demo)]


async def test_demo_data_that_outlives_its_transaction_is_reported_in_a_sentence_and_entered_at_the_next_start(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with empty_database(mongodb_uri) as name:
        options = {"mongodb_database": name, "mongodb_timeout_ms": 1000}
        with pytest.raises(StartError, match="The demo data of probe could not be entered"):
            async with serving(mongodb_uri, tmp_path, entering(slow=True), demo=True, **options):
                pass
        async with serving(mongodb_uri, tmp_path, entering(slow=False), demo=True, **options) as running:
            admin = await Client(running.url).log_in("admin")
            assert expect(await admin.get(f"{WIDGETS_AT}?batch=demo"))["total"] == 1
