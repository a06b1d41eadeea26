"""The examples of the README and of the documents run."""

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.testing import Client, People, expect, serving
from tests.api.approval.flows import DEFINITIONS, EVERYTHING, INSTANCES, act, node
from tests.api.crm.tables import as_csv, form, read_csv
from tests.support.readme import (
    GUIDES_FOR_CLIENTS,
    ROOT,
    commands_with_output,
    example_plugins,
    plugin_of_the_readme,
    requests_to_copy,
    session,
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


@pytest.fixture(scope="module")
def demo(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A demo server, as `scripts/server` starts it: its folder and its address."""
    folder = tmp_path_factory.mktemp("demo")
    server, base = io_loop.run_sync(lambda: started(folder))
    yield folder, base
    server.terminate()
    io_loop.run_sync(server.wait)


async def started(folder: Path) -> tuple[asyncio.subprocess.Process, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "server.py"),
        "--port",
        "0",
        cwd=folder,
        env={**environment, "TRADEWIND_DEMO": "true"},
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout
    async for line in server.stdout:
        found = re.search(rb'"url":"([^"]+)"', line)
        if found:
            return server, found.group(1).decode()
    raise AssertionError("the server did not start")


async def printed(demo: tuple[Path, str], script: str) -> str:
    """What a script of the documents prints, in the folder of the demo."""
    folder, base = demo
    run = await asyncio.create_subprocess_exec(
        "bash",
        "-euo",
        "pipefail",
        "-c",
        script.replace("http://127.0.0.1:8000", base),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await run.communicate())[0].decode(errors="replace")
    assert run.returncode == 0, output
    return output


@curl
async def test_the_first_session_runs_word_for_word(demo: tuple[Path, str]) -> None:
    output = await printed(demo, session())
    codes = [int(code) for code in re.findall(r'"code":(\d+)', output)]
    assert codes[:4] == [0, 0, 0, 40902], output
    assert "晨光科技" in output
    assert "新增客户" in output


@curl
async def test_the_requests_to_copy_have_the_responses_that_the_page_shows(demo: tuple[Path, str]) -> None:
    await check_responses(demo, requests_to_copy())


@curl
@pytest.mark.parametrize("page", GUIDES_FOR_CLIENTS, ids=lambda page: page.stem)
async def test_the_requests_of_a_guide_have_the_responses_that_it_shows(demo: tuple[Path, str], page: Path) -> None:
    await check_responses(demo, [requests_to_copy()[0], *commands_with_output(page.read_text())])


async def check_responses(demo: tuple[Path, str], pairs: Sequence[tuple[str, str]]) -> None:
    output = await printed(demo, "".join(f"{command}printf '{BETWEEN}'\n" for command, _ in pairs))
    for (command, shown), actual in zip(pairs, output.split(BETWEEN), strict=False):
        head, body = parts(shown)
        assert [line for line in head if line not in parts(actual)[0]] == [], f"{command}{actual}"
        assert not body or fits(json.loads(body), json.loads(parts(actual)[1])), f"{command}{actual}"


def parts(text: str) -> tuple[list[str], str]:
    """The lines before the JSON, and the JSON."""
    head, brace, rest = text.replace("\r", "").partition("{")
    body, closing, _ = rest.rpartition("}")
    return [line for line in head.lstrip("\ufeff").splitlines() if line], brace + body + closing


def fits(shown: Any, actual: Any) -> bool:
    """Whether the value has what is shown of it."""
    if isinstance(shown, dict):
        return isinstance(actual, dict) and all(
            name in actual and fits(value, actual[name]) for name, value in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(actual, list) and len(shown) == len(actual) and all(map(fits, shown, actual))
    return (shown == "…" and actual is not None) or bool(shown == actual)
