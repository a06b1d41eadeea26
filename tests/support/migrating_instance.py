"""An instance that begins a migration, and is killed in the middle: `python -m tests.support.migrating_instance URI DB`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from config.database import Document, open_driver
from config.settings import Settings
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.operations.migrations import Migration, Migrations, Stage
from handlers.schema.fields import integer
from handlers.service import Service

TANKS = Collection(name="acme_tanks", title="AcmeTank", fields={"litres": integer(), "times": integer()})
NAME = "2026-11-litres"


def measuring(database: Database, batches: int | None = None) -> Migration:
    """A migration that counts in each tank how often it was changed; after so many batches it prints and stays."""
    done = 0

    async def measure(rows: Sequence[Document]) -> int:
        nonlocal done
        if done == batches:
            print("reached", flush=True)
            await asyncio.Event().wait()
        done += 1
        which = {"_id": {"$in": [row["_id"] for row in rows]}}
        return await database.driver.update_many(TANKS.name, which, {"$set": {"litres": 1}, "$inc": {"times": 1}})

    return Migration(NAME, "Tanks get their litres.", lambda _: [Stage(TANKS, measure)])


def migrations(database: Database, *all_of_them: Migration) -> Migrations:
    """What an instance with these migrations of the plugin `acme` runs."""
    service = Service(Settings(_env_file=None, demo=True), database)
    return Migrations(service, [("acme", one) for one in all_of_them], ["acme"])


async def run_until_killed(uri: str, name: str) -> None:
    """Change two hundred tanks, and wait for the end."""
    database = Database(open_driver("pymongo", uri, name, 5000), (TANKS,))
    await migrations(database, measuring(database, batches=2)).run_due()


if __name__ == "__main__":
    asyncio.run(run_until_killed(sys.argv[1], sys.argv[2]))
