"""`tradewind migrate`: what an older version has stored is planned, then changed; exit codes say what is left."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from config.database import open_driver
from handlers.data.collection import OUTDATED_INDEX
from handlers.operations.migrations import MIGRATIONS
from plugins.testing import SECRET, Client, empty_database, serving
from tests.api.finance.books import Books
from tests.support.commands import run_command

pytestmark = pytest.mark.gen_test(timeout=60)


async def run(uri: str, database: str, folder: Path, *arguments: str) -> tuple[int, str, str]:
    """The command on a database: exit code, output, errors."""
    settings = {"mongodb_uri": uri, "mongodb_database": database, "data_dir": str(folder), "jwt_secret": SECRET}
    done = await run_command("plugins.commands.__main__", "migrate", *arguments, **settings)
    return done.code, done.output, done.errors


async def test_what_is_due_is_planned_then_done(mongodb_uri: str, tmp_path: Path) -> None:
    async with empty_database(mongodb_uri) as name:
        async with serving(mongodb_uri, tmp_path, mongodb_database=name) as server:
            admin = await Client(server.url).log_in("admin")
            invoice = await (await Books.fresh(admin)).invoice()
        driver = open_driver("pymongo", mongodb_uri, name, 5000)
        try:
            # as a version without days has stored it
            await driver.update_many("finance_open_items", {}, {"$unset": {"day": ""}})
            await driver.delete_many(MIGRATIONS, {})
            code, output, errors = await run(mongodb_uri, name, tmp_path, "--plan", "--json")
            assert (code, errors) == (1, "")
            plan = {(one["name"], one["collection"]): one for one in json.loads(output)["migrations"]}
            item = plan["2026-11-open-items", "finance_open_items"]
            assert (item["state"], item["left"], item["plugin"]) == ("due", 1, "finance")
            assert await driver.find(MIGRATIONS, {}) == []
            code, output, _ = await run(mongodb_uri, name, tmp_path)
            assert (code, "0 of " in output) == (0, True), output
            (stored,) = await driver.find("finance_open_items", {"resource_id": invoice["id"]})
            assert stored["day"]
            code, output, _ = await run(mongodb_uri, name, tmp_path, "--plan")
            assert (code, "looked through once more" in output) == (0, True), output
        finally:
            await driver.close()


async def test_the_plan_before_the_first_start_of_a_version_needs_none_of_its_indexes(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with empty_database(mongodb_uri) as name:
        async with serving(mongodb_uri, tmp_path, mongodb_database=name):
            pass
        driver = open_driver("pymongo", mongodb_uri, name, 5000)
        try:
            await driver.command({"dropIndexes": "crm_customers", "index": OUTDATED_INDEX.name})
            await driver.insert("crm_customers", [{"_id": "0", "deleted": False, "search_text": [""]}])
            code, output, errors = await run(mongodb_uri, name, tmp_path, "--plan")
            assert (code, errors) == (1, ""), output
            assert "crm_customers: 1 documents" in output
        finally:
            await driver.close()


async def test_the_progress_of_a_collection_counts_its_own_documents(mongodb_uri: str, tmp_path: Path) -> None:
    async with empty_database(mongodb_uri) as name:
        async with serving(mongodb_uri, tmp_path, mongodb_database=name) as server:
            await (await Books.fresh(await Client(server.url).log_in("admin"))).invoice()
        driver = open_driver("pymongo", mongodb_uri, name, 5000)
        try:
            await driver.delete_many(MIGRATIONS, {})
            _, _, errors = await run(mongodb_uri, name, tmp_path)
            told = re.findall(r"/(\w+): (\d+) documents, (\d+) changed", errors)
            assert {name for name, looked_at, _ in told if int(looked_at)} >= {"finance_invoices"}
            assert ("crm_contracts", "0", "0") in told
        finally:
            await driver.close()


async def test_one_that_fails_in_the_middle_is_a_sentence_and_goes_on_when_it_is_mended(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with empty_database(mongodb_uri) as name:
        async with serving(mongodb_uri, tmp_path, mongodb_database=name):
            pass
        driver = open_driver("pymongo", mongodb_uri, name, 5000)
        try:
            await driver.delete_many(MIGRATIONS, {})
            damaged = {"_id": "0", "deleted": False, "amount": "12.50"}  # it has lost what it belongs to
            await driver.insert("finance_open_items", [damaged])
            code, output, errors = await run(mongodb_uri, name, tmp_path)
            told = "migrate: The migration 2026-11-open-items failed on finance_open_items (KeyError: 'biz_type')."
            assert (code, errors.splitlines()[-1].startswith(told)) == (1, True), errors
            assert "1 documents, failed: KeyError" in output
            assert await driver.find("finance_open_items", {}) == [damaged]
            await driver.delete_many("finance_open_items", {})
            code, output, _ = await run(mongodb_uri, name, tmp_path)
            assert (code, "0 of " in output) == (0, True), output
        finally:
            await driver.close()


async def test_without_a_database_it_says_so(tmp_path: Path) -> None:
    code, _, errors = await run("", "tradewind", tmp_path / "none", "--plan")
    assert (code, "there is no database in" in errors) == (2, True)
