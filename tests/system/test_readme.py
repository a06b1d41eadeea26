"""The examples of the README and of the documents run."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.testing import Client, People, expect, serving
from tests.api.approval.flows import DEFINITIONS, EVERYTHING, INSTANCES, act, node
from tests.api.crm.tables import as_csv, form, read_csv
from tests.support.readme import (
    example_plugins,
    plugin_of_the_readme,
)

pytestmark = pytest.mark.gen_test(timeout=60)
curl = pytest.mark.skipif(shutil.which("curl") is None, reason="the transcripts need curl")
BETWEEN = "\u241e"  # is printed after each command
AT, SIGNED = "/api/v1/acme/agreements", "/api/dashboard/acme-signed"
ENGLISH = {"Accept-Language": "en"}


@pytest.fixture(scope="module")
def admin(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The administrator of a server with the plugins of the examples."""
    plugins = [*load_plugins(()), *example_plugins(), plugin_of_the_readme()]
    served = serving(mongodb_uri, tmp_path_factory.mktemp("examples"), plugins)
    server = io_loop.run_sync(served.__aenter__)
    yield io_loop.run_sync(lambda: Client(server.url).log_in("admin"))
    io_loop.run_sync(lambda: served.__aexit__(None, None, None))


async def customer(admin: Client, **fields: Any) -> str:
    """A customer; its id."""
    return str(expect(await admin.post("/api/v1/crm/customers", {"name": "Harbour"} | fields))["id"])


async def test_the_example_plugin_serves_its_action(admin: Client) -> None:
    person = await People(admin).person([f"acme:agreement:{action}" for action in ("create", "sign", "read")])
    body = {"number": "A-000009", "customer_id": await customer(admin), "amount": "10.00"}
    expect(await person.post(AT, body), 40001)  # a customer outside the person's scope
    mine = expect(await admin.post(AT, body))
    before = expect(await admin.get(f"{SIGNED}?months=3"))["items"]
    assert expect(await admin.post(f"{AT}/{mine['id']}/sign"))["signed_at"]
    expect(await admin.post(f"{AT}/{mine['id']}/sign"), 60001)
    items = expect(await admin.get(f"{SIGNED}?months=3"))["items"]
    assert items[:2] == before[:2]
    assert (items[2]["count"], items[2]["amount"]) == (before[2]["count"] + 1, "10.00")
    expect(await person.get(SIGNED), 40300)


async def test_the_records_of_the_example_plugin_are_approved_by_a_flow(admin: Client) -> None:
    actions = [f"acme:agreement:{action}" for action in ("create", "read", "submit", "sign")]
    maker, boss = [await People(admin).person([*actions, *EVERYTHING], "all") for _ in range(2)]
    flow = {"name": "Agreements", "biz_type": "AGREEMENT", "nodes": [node("boss", boss)]}
    expect(await admin.post(DEFINITIONS, flow))
    customer_id = await customer(admin)
    for number, decision, status in (("A-000001", "agree", "signed"), ("A-000002", "reject", "draft")):
        made = expect(await maker.post(AT, {"number": number, "customer_id": customer_id}))
        assert expect(await maker.post(f"{AT}/{made['id']}/submit"))["status"] == "pending"
        expect(await maker.post(f"{AT}/{made['id']}/sign"), 40901)
        (asked,) = expect(await boss.get(f"{INSTANCES}?resource_id={made['id']}"))["items"]
        assert asked["title"] == number
        expect(await act(boss, asked, decision))
        decided = expect(await maker.get(f"{AT}/{made['id']}"))
        assert (decided["status"], decided["signed_at"] is not None) == (status, status == "signed")


async def test_the_plugin_of_the_readme_has_states_an_approval_names_tables_and_history(admin: Client) -> None:
    at = "/api/v1/harbour/berths"
    boss = await People(admin).person(EVERYTHING, "all")
    expect(await admin.post(DEFINITIONS, {"name": "Berths", "biz_type": "BERTH", "nodes": [node("boss", boss)]}))
    await customer(admin, name="Northern Lights", code="NL")
    rows = as_csv([["Name", "Customer"], ["Pier 1", "NL"]])
    raw, headers = form({"file": ("berths.csv", rows)})
    assert expect(await admin.post(f"{at}/import", raw=raw, headers={**headers, **ENGLISH}))["created"] == 1
    (berth,) = expect(await admin.get(at))["items"]
    assert (berth["status"], berth["customer_name"]) == ("free", "Northern Lights")
    expect(await admin.post(f"{at}/{berth['id']}/approve"), 40901)
    assert expect(await admin.post(f"{at}/{berth['id']}/submit"))["status"] == "asked"
    (asked,) = expect(await boss.get(f"{INSTANCES}?resource_id={berth['id']}"))["items"]
    expect(await act(boss, asked, "agree"))
    assert expect(await admin.get(f"{at}/{berth['id']}"))["status"] == "rented"
    changes = expect(await admin.get(f"{at}/{berth['id']}/history"))["items"]
    assert [change["action"] for change in changes] == ["agree", "submit", "create"]
    exported = await admin.get(f"{at}/export?fields=name,customer_id,status&headers=labels", headers=ENGLISH)
    assert read_csv(exported.body) == [["Name", "Customer", "Status"], ["Pier 1", "Northern Lights", "Rented"]]
