"""Data reset: the super administrator empties business plugins, and nothing else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.api import SYSTEM, Collection, Message, Plugin, text
from plugins.registry import load_plugins
from plugins.testing import Client, People, eventually, expect, serving

pytestmark = pytest.mark.gen_test(timeout=30)
RESET = "/api/v1/system/data-reset"
CUSTOMERS = "/api/v1/crm/customers"
NOTES = Collection(name="crm_plus_notes", title="PlusNote", fields={"name": text()})
CRM_PLUS = Plugin(name="crm_plus", title=Message("扩展", "Plus"), requires=("crm",), collections=(NOTES,))


async def test_a_reset_removes_every_record_of_the_module_and_says_how_many(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path) as running:
        admin = await Client(running.url).log_in("admin")
        gone = expect(await admin.post(CUSTOMERS, {"name": "deleted before the reset"}))["id"]
        there = expect(await admin.get(CUSTOMERS))["total"]
        expect(await admin.delete(f"{CUSTOMERS}/{gone}"))
        answer = expect(await admin.post(RESET, {"modules": ["crm"], "confirm": "RESET"}))
        counts = {row["name"]: row["removed"] for row in answer["collections"]}
        assert counts["crm_customers"] == there > 0
        assert answer["removed"] == sum(counts.values())
        assert expect(await admin.get(CUSTOMERS))["total"] == 0


async def test_only_the_named_module_is_emptied(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, [*load_plugins(()), CRM_PLUS]) as running:
        notes = running.service.database.store(NOTES, SYSTEM)
        await notes.create({"name": "kept"})
        admin = await Client(running.url).log_in("admin")
        people = expect(await admin.get("/api/v1/system/users"))["total"]
        answer = expect(await admin.post(RESET, {"modules": ["crm"], "confirm": "RESET"}))
        assert "crm_plus_notes" not in {row["name"] for row in answer["collections"]}
        assert await notes.count() == 1
        assert expect(await admin.get("/api/v1/system/users"))["total"] == people


async def test_other_plugins_are_told(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path) as running:
        heard: list[Any] = []

        async def listen(payload: Mapping[str, Any]) -> None:
            heard.append(payload["modules"])

        running.service.events.listen("system.data_reset", listen)
        admin = await Client(running.url).log_in("admin")
        expect(await admin.post(RESET, {"modules": ["crm"], "confirm": "RESET"}))
        assert heard == [["crm"]]


async def test_more_records_than_one_batch_are_all_removed(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.data.database._WIPE_BATCH", 3)
    async with serving(mongodb_uri, tmp_path) as running:
        admin = await Client(running.url).log_in("admin")
        assert expect(await admin.get(CUSTOMERS))["total"] > 3
        expect(await admin.post(RESET, {"modules": ["crm"], "confirm": "RESET"}))
        assert expect(await admin.get(CUSTOMERS))["total"] == 0


@pytest.mark.parametrize("module", ["auth", "rbac", "system", "core", "no-such-plugin"])
async def test_the_platforms_own_plugins_and_unknown_ones_are_refused(admin: Client, module: str) -> None:
    reply = await admin.post(RESET, {"modules": ["crm", module], "confirm": "RESET"})
    assert (reply.code, reply.fields) == (40001, {"modules[1]"})


@pytest.mark.parametrize("confirm", ["reset", "", "yes", None])
async def test_nothing_happens_without_the_word_reset(admin: Client, confirm: str | None) -> None:
    before = expect(await admin.get(CUSTOMERS))["total"]
    assert (await admin.post(RESET, {"modules": ["crm"], "confirm": confirm})).fields == {"confirm"}
    assert expect(await admin.get(CUSTOMERS))["total"] == before


async def test_somebody_must_be_named(admin: Client) -> None:
    assert (await admin.post(RESET, {"modules": [], "confirm": "RESET"})).fields == {"modules"}


async def test_an_administrator_with_every_permission_is_not_enough(people: People, admin: Client) -> None:
    codes = [menu["permission"] for menu in await people.menus() if menu["permission"]]
    person = await people.person(codes, "all")
    expect(await person.post(RESET, {"modules": ["crm"], "confirm": "RESET"}), 40302)


async def test_an_attempt_is_in_the_operation_log(people: People, admin: Client) -> None:
    person = await people.person()
    reply = await person.post(RESET, {"modules": ["crm"], "confirm": "RESET"})
    request_id = reply.headers["X-Request-ID"]

    async def logged() -> Any:
        return expect(await admin.get(f"/api/v1/system/operation-logs?request_id={request_id}"))["items"]

    (entry,) = await eventually(logged)
    assert (entry["code"], entry["path"], entry["body"]["modules"]) == (40302, RESET, ["crm"])
