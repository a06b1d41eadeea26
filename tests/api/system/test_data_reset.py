"""Data reset: the super administrator empties business plugins, and nothing else."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.api import Collection, Message, Plugin, text
from plugins.api.requests import SYSTEM
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, People, eventually, expect, serving
from tests.support.notes import AT as NOTES_PATH, NOTES_PLUGIN
from tests.support.servers import KEYS

pytestmark = pytest.mark.gen_test(timeout=30)
RESET = "/api/v1/system/data-reset"
CUSTOMERS = "/api/v1/crm/customers"
MORE = Collection(
    name="notes_plus_things",
    title="PlusThing",
    noun=Message("东西", "thing"),
    fields={"name": text(label=("名称", "Name"))},
)
NOTES_PLUS = Plugin(name="notes_plus", title=Message("扩展", "Plus"), requires=("notes",), collections=(MORE,))
REQUEST = {"modules": ["notes"], "confirm": "RESET"}


@pytest.fixture(scope="module")
def running(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with notes to reset."""
    plugins = [*load_plugins(("auth", "rbac", "system")), NOTES_PLUGIN, NOTES_PLUS]
    block = serving(mongodb_uri, tmp_path_factory.mktemp("reset"), plugins, demo=False, jwt_secret=KEYS[0])
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def keeper(io_loop: IOLoop, running: Running) -> Client:
    """The super administrator of the server with notes."""
    client: Client = io_loop.run_sync(lambda: Client(running.url).log_in("admin"))
    return client


async def test_a_reset_removes_every_record_of_the_module_and_says_how_many(keeper: Client) -> None:
    made = [expect(await keeper.post(NOTES_PATH, {"name": "note"}))["id"] for _ in range(3)]
    expect(await keeper.delete(f"{NOTES_PATH}/{made[0]}"))
    answer = expect(await keeper.post(RESET, REQUEST))
    assert answer == {"collections": [{"name": "notes_notes", "removed": 3}], "removed": 3}
    assert expect(await keeper.get(NOTES_PATH))["total"] == 0


async def test_only_the_named_module_is_emptied(running: Running, keeper: Client) -> None:
    things = running.service.database.store(MORE, SYSTEM)
    await things.create({"name": "kept"})
    people = expect(await keeper.get("/api/v1/system/users"))["total"]
    answer = expect(await keeper.post(RESET, REQUEST))
    assert [row["name"] for row in answer["collections"]] == ["notes_notes"]
    assert await things.count() == 1
    assert expect(await keeper.get("/api/v1/system/users"))["total"] == people


async def test_other_plugins_are_notified(running: Running, keeper: Client) -> None:
    heard: list[Any] = []

    async def listen(payload: Mapping[str, Any]) -> None:
        heard.append(payload["modules"])

    running.service.events.listen("system.data_reset", listen)
    expect(await keeper.post(RESET, REQUEST))
    assert heard == [["notes"]]


async def test_more_records_than_one_batch_are_all_removed(keeper: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handlers.data.database._WIPE_BATCH", 3)
    for _ in range(7):
        expect(await keeper.post(NOTES_PATH, {"name": "note"}))
    assert expect(await keeper.post(RESET, REQUEST))["removed"] == 7
    assert expect(await keeper.get(NOTES_PATH))["total"] == 0


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
