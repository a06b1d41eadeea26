"""The README and the documents of docs/: their examples run, their tables are generated, their links lead somewhere."""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from plugins.plugin import Plugin
from plugins.registry import freeze, load_plugins
from plugins.testing import Client, People, expect, serving
from scripts.checks import render_documents
from tests.api.approval.flows import DEFINITIONS, EVERYTHING, INSTANCES, act, node
from tests.api.crm.tables import as_csv, form, read_csv

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
PLUGINS = (ROOT / "docs" / "plugins.md").read_text()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST_README = 150
ENGLISH = {"Accept-Language": "en"}


def block(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found
    return found.group(1)


def example(document: str, heading: str) -> str:
    source = re.search(rf"{heading}\n.*?```python\n(.*?)```", document, re.DOTALL)
    assert source
    return source.group(1)


def example_plugins() -> list[Plugin]:
    """The plugin of docs/plugins.md, and the dashboard that is added to it."""
    names: dict[str, object] = {}
    for heading in ("## Write a plugin", "## A further dashboard"):
        exec(example(PLUGINS, heading), names)
    return [plugin for plugin in (names["plugin"], names["figures"]) if isinstance(plugin, Plugin)]


def plugin_of_the_readme() -> Plugin:
    names: dict[str, object] = {}
    exec(example(README, "## A plugin"), names)
    plugin = names["plugin"]
    assert isinstance(plugin, Plugin)
    return plugin


def anchors(document: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_further_dashboard_has_as_many_lines_as_it_says() -> None:
    lines = [line for line in example(PLUGINS, "## A further dashboard").splitlines() if line]
    assert f"these {len(lines)} lines" in PLUGINS


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= LONGEST_README


@pytest.mark.parametrize("name", ["settings", "errors", "reliability", "operations/sizing"])
def test_the_tables_are_those_of_the_code_and_of_the_results(name: str) -> None:
    path = ROOT / "docs" / f"{name}.md"
    assert render_documents(load_plugins(()))[path] == path.read_text()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", document.read_text())
    broken = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_document_is_linked_from_the_readme_of_its_folder_or_of_the_project() -> None:
    unlinked = []
    for path in DOCUMENTS[1:]:
        guide = path.parent / "README.md"
        beside = guide.exists() and guide != path and f"]({path.name})" in guide.read_text()
        if not beside and f"]({path.relative_to(ROOT)})" not in README:
            unlinked.append(path)
    assert unlinked == []


def test_the_plugin_of_the_readme_declares_sixteen_endpoints() -> None:
    plugin = plugin_of_the_readme()
    freeze([*load_plugins(()), plugin])
    assert [route.name for route in plugin.routes] == [
        "GET /api/v1/harbour/berths",
        "GET /api/v1/harbour/berths/{id}",
        "POST /api/v1/harbour/berths",
        "PATCH /api/v1/harbour/berths/{id}",
        "DELETE /api/v1/harbour/berths/{id}",
        "GET /api/v1/harbour/berths/{id}/history",
        "POST /api/v1/harbour/berths/{id}/restore",
        "GET /api/v1/harbour/berths/export",
        "GET /api/v1/harbour/berths/template",
        "POST /api/v1/harbour/berths/import",
        "GET /api/v1/harbour/berths/imports",
        "GET /api/v1/harbour/berths/imports/{id}",
        "POST /api/v1/harbour/berths/{id}/submit",
        "POST /api/v1/harbour/berths/{id}/withdraw",
        "POST /api/v1/harbour/berths/{id}/approve",
        "POST /api/v1/harbour/berths/{id}/reject",
    ]
    assert f"It has {len(plugin.routes)} endpoints" in README


def test_every_path_of_the_where_is_table_exists() -> None:
    table = README.partition("## Where is what")[2].partition("## A plugin")[0]
    paths = re.findall(r"`([^`*]+/[^`*]*)`", table)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("guide", sorted(ROOT.glob("plugins/*/README.md")), ids=lambda guide: guide.parent.name)
def test_the_readme_of_a_plugin_says_what_each_of_its_files_is(guide: Path) -> None:
    text = guide.read_text()
    files = [file.name for file in guide.parent.glob("*.py") if file.name != "__init__.py"]
    assert [name for name in files if f"`{name}`" not in text] == []


@pytest.mark.gen_test(timeout=60)
async def test_the_example_plugin_serves_its_action(mongodb_uri: str, tmp_path: Path) -> None:
    plugins = [*load_plugins(()), *example_plugins()]
    freeze(plugins)
    async with serving(mongodb_uri, tmp_path, plugins=plugins, demo=True) as service:
        admin = await Client(service.url).log_in("admin")
        person = await People(admin).person([f"acme:agreement:{action}" for action in ("create", "sign", "read")])
        customer = expect(await admin.get("/api/v1/crm/customers?page_size=1"))["items"][0]
        body = {"number": "A-000001", "customer_id": customer["id"], "amount": "10.00"}
        expect(await person.post("/api/v1/acme/agreements", body), 40001)  # a customer outside the person's scope
        mine = expect(await admin.post("/api/v1/acme/agreements", body))
        assert expect(await admin.post(f"/api/v1/acme/agreements/{mine['id']}/sign"))["signed_at"]
        expect(await admin.post(f"/api/v1/acme/agreements/{mine['id']}/sign"), 60001)
        items = expect(await admin.get("/api/dashboard/acme-signed?months=3"))["items"]
        assert [(item["count"], item["amount"]) for item in items] == [(0, "0.00"), (0, "0.00"), (1, "10.00")]
        expect(await person.get("/api/dashboard/acme-signed"), 40300)


@pytest.mark.gen_test(timeout=60)
async def test_the_records_of_the_example_plugin_are_approved_by_a_flow(mongodb_uri: str, tmp_path: Path) -> None:
    at = "/api/v1/acme/agreements"
    actions = [f"acme:agreement:{action}" for action in ("create", "read", "submit", "sign")]
    async with serving(mongodb_uri, tmp_path, plugins=[*load_plugins(()), *example_plugins()]) as service:
        admin = await Client(service.url).log_in("admin")
        maker, boss = [await People(admin).person([*actions, *EVERYTHING], "all") for _ in range(2)]
        flow = {"name": "Agreements", "biz_type": "AGREEMENT", "nodes": [node("boss", boss)]}
        expect(await admin.post(DEFINITIONS, flow))
        customer = expect(await admin.post("/api/v1/crm/customers", {"name": "Harbour"}))
        for number, decision, status in (("A-000001", "agree", "signed"), ("A-000002", "reject", "draft")):
            made = expect(await maker.post(at, {"number": number, "customer_id": customer["id"]}))
            assert expect(await maker.post(f"{at}/{made['id']}/submit"))["status"] == "pending"
            expect(await maker.post(f"{at}/{made['id']}/sign"), 40901)
            (asked,) = expect(await boss.get(f"{INSTANCES}?resource_id={made['id']}"))["items"]
            assert asked["title"] == number
            expect(await act(boss, asked, decision))
            decided = expect(await maker.get(f"{at}/{made['id']}"))
            assert (decided["status"], decided["signed_at"] is not None) == (status, status == "signed")


@pytest.mark.gen_test(timeout=60)
async def test_the_plugin_of_the_readme_has_states_an_approval_names_tables_and_history(
    mongodb_uri: str, tmp_path: Path
) -> None:
    at = "/api/v1/harbour/berths"
    async with serving(mongodb_uri, tmp_path, plugins=[*load_plugins(()), plugin_of_the_readme()]) as service:
        admin = await Client(service.url).log_in("admin")
        boss = await People(admin).person(EVERYTHING, "all")
        expect(await admin.post(DEFINITIONS, {"name": "Berths", "biz_type": "BERTH", "nodes": [node("boss", boss)]}))
        expect(await admin.post("/api/v1/crm/customers", {"name": "Northern Lights", "code": "NL"}))
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


@pytest.mark.parametrize(("document", "heading"), [(README, "## A plugin"), (PLUGINS, "## Write a plugin")])
def test_an_example_plugin_is_at_most_60_lines(document: str, heading: str) -> None:
    assert len([line for line in example(document, heading).splitlines() if line]) <= 60


@pytest.mark.skipif(shutil.which("curl") is None, reason="the transcript needs curl")
@pytest.mark.gen_test(timeout=60)
async def test_the_first_session_runs_word_for_word() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server, base = await started(folder)
        try:
            run = await asyncio.create_subprocess_exec(
                "bash",
                "-euo",
                "pipefail",
                "-c",
                block("session").replace("http://127.0.0.1:8000", base),
                cwd=folder,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            output = (await run.communicate())[0].decode()
        finally:
            server.terminate()
            await server.wait()
    assert run.returncode == 0, output
    codes = [int(code) for code in re.findall(r'"code":(\d+)', output)]
    assert codes[:4] == [0, 0, 0, 40902], output
    assert "晨光科技" in output
    assert "新增客户" in output


async def started(folder: str) -> tuple[asyncio.subprocess.Process, str]:
    """A demo server in `folder`, as `scripts/server` starts it, and its address."""
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
