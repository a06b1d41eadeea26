"""What is running: migrations that failed, a database of a newer version, processes that hang."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from handlers.catalogue.declarations import Catalogue
from handlers.data.database import Database
from handlers.operations.migrations import MIGRATIONS, find_newer
from handlers.operations.processes import processes_of
from plugins.commands.diagnosis.findings import Finding


async def check_running(database: Database, catalogue: Catalogue, data_dir: Path) -> AsyncIterator[Finding]:
    """Yield what keeps the service from running as it should."""
    driver = database.driver
    newer = await find_newer(driver, catalogue.plugins, [migration.name for _, migration in catalogue.migrations])
    if newer is not None:
        yield Finding("error", "newer-database", "migrations", newer)
    for row in await driver.find(MIGRATIONS, {"failed": {"$ne": None}}):
        advice = f"{row['failed']}; it tries again every half minute, `tradewind migrate` tries now"
        yield Finding("error", "failed-migration", str(row["_id"]), advice)
    for one in await processes_of(data_dir):
        if not one.pid:
            advice = "does not answer: docs/operations/alerts.md, TradewindProcessHangs"
            yield Finding("error", "hanging-process", f"port {one.port}, process {one.number}", advice)
