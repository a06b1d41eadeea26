"""axe-core finds nothing serious on the pages of the console: what people with screen readers and keys would stumble over."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.runtime import Running
from plugins.testing import Client, People, expect, serving, unique
from scripts.console_renderer import FetchProblem, fetch, home_of
from tests.api.approval.flows import EVERYTHING, ask, define, node
from tests.browser.browser import Console, do, opened

pytestmark = pytest.mark.gen_test(timeout=120)
PINS = Path(__file__).with_name("axe.json")
SERIOUS = ("serious", "critical")
RUN = "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(done, (error) => done(String(error)))"


@pytest.fixture(scope="module")
def site(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with what these tests make, and no more."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("site"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def console(io_loop: IOLoop, site: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with opened(io_loop, site.url, tmp_path_factory.mktemp("chromium")) as console:
        yield console


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, at its pinned release."""
    try:
        folder = fetch(os.path.join(os.path.dirname(home_of(sys.executable)), "tradewind-axe"), str(PINS))
    except FetchProblem as problem:
        pytest.skip(f"axe-core cannot be fetched: {problem}")
    return gzip.decompress((Path(folder) / "axe.min.js.gz").read_bytes()).decode()


def found(console: Console, axe: str) -> list[str]:
    """What is serious on the page that is shown: the rule, and one element that breaks it."""
    console.browser.execute_script(f"if (!window.axe) {{ {axe} }}")
    result: Any = console.browser.execute_async_script(RUN)
    assert isinstance(result, dict), result
    return [
        f"{one['id']}: {html[:200]} {said}"
        for one in result["violations"]
        if one["impact"] in SERIOUS
        for html, said in {(node["html"], node["failureSummary"].splitlines()[-1].strip()) for node in one["nodes"]}
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_nothing_serious_is_found_on_the_main_pages(
    console: Console, axe: str, site: Running, theme: str
) -> None:
    await do(console.browser.execute_script, f"localStorage.setItem('tradewind.theme', '{theme}')")
    await do(console.speak, "en")
    admin = await Client(site.url).log_in("admin")
    staff = await People(admin).person(EVERYTHING)
    flow = await define(admin, node("first", admin))
    asked = await ask(staff, flow, title=unique("request"))
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": unique("lead"), "company": "x"}))
    await do(console.until, lambda: console.count("dialog form"))
    faults = {"log-in": await do(found, console, axe)}
    await do(console.log_in, "admin", "main .drawn")
    await do(console.watch)
    places = {
        "dashboards": "#/dashboard",
        "list": "#/crm.lead",
        "record": f"#/records/crm.leads/{lead['id']}",
        "report": "#/finance.ageing",
        "desk": "#/approval.task",
        "request": f"#/records/approvals.instances/{asked['id']}",
        "inbox": "#/notifications",
        "dictionary": "#/records/system.dictionaries/1",
        "jobs": "#/system.job",
    }
    for name, address in places.items():
        await do(console.open, address, "main .drawn")
        await do(console.rest)
        faults[name] = await do(found, console, axe)
    await do(console.open, places["record"], "main [class*=-Flex] button")
    await do(console.press, "main [class*=-Flex] button")
    await do(console.until, lambda: console.count("[class*=-Drawer] input[name=name]"))
    faults["form"] = await do(found, console, axe)
    await do(console.open, places["desk"], "main tbody tr td button, main tbody tr td a")
    await do(console.press, "main tbody tr td button, main tbody tr td a")
    await do(console.until, lambda: console.count("[class*=-Drawer] [class*=-Property]"))
    await do(console.rest)
    faults["request beside the desk"] = await do(found, console, axe)
    serious = {name: one for name, one in faults.items() if one}
    assert serious == {}, json.dumps(serious, indent=1)
