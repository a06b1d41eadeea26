"""What axe-core finds on the pages of the console."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.fetch_console import FetchProblem, fetch, home_of
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import EVERYTHING, ask, define, node
from tests.browser.browser import Console, do

PINS = Path(__file__).with_name("axe.json")
SERIOUS = ("serious", "critical")
RUN = "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(done, (error) => done(String(error)))"
DESK, PHONE = (1400, 2200), (390, 844)
# pages that have no address of their own: what is opened from the page before it
LOG_IN, FORM, BESIDE, CHECK = "log-in", "form", "request beside the desk", "check of a flow"
NEW = ("announcement", "custom field")  # forms of new records
MAIN = (LOG_IN, "dashboards", "list", "record", FORM, "desk")
ADMINISTRATION = ("announcements", "preferences", "custom fields", "flow", CHECK, *NEW)
ALL = (*MAIN, "report", "request", "inbox", "dictionary", "jobs", BESIDE, *ADMINISTRATION)


def script_of_axe() -> str:
    """The script of axe-core, at its pinned release. The test is skipped where it cannot be fetched."""
    try:
        folder = fetch(os.path.join(os.path.dirname(home_of(sys.executable)), "tradewind-axe"), str(PINS))
    except FetchProblem as problem:
        pytest.skip(f"axe-core cannot be fetched: {problem}")
    return gzip.decompress((Path(folder) / "axe.min.js.gz").read_bytes()).decode()


async def addresses(admin: Client) -> dict[str, str]:
    """The pages to look at, after what they show was made."""
    staff = await People(admin).person(EVERYTHING)
    flow = await define(admin, node("first", admin))
    asked = await ask(staff, flow, title=unique("request"))
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": unique("lead"), "company": "x"}))
    return {
        "dashboards": "#/dashboard",
        "list": "#/crm.lead",
        "record": f"#/records/crm.leads/{lead['id']}",
        "desk": "#/approval.task",
        "report": "#/finance.ageing",
        "request": f"#/records/approvals.instances/{asked['id']}",
        "inbox": "#/notifications",
        "dictionary": "#/records/system.dictionaries/1",
        "jobs": "#/system.job",
        "announcements": "#/notification",
        "custom fields": "#/system.custom-field",
        "flow": f"#/records/approvals.definitions/{flow['id']}",
    }


async def nothing_serious_is_found(
    console: Console, company: Running, admin: Client, theme: str, size: tuple[int, int], names: Iterable[str]
) -> None:
    """Look at the pages with these names; AssertionError names the faults of each."""
    axe, places = script_of_axe(), await addresses(admin)
    await do(console.resize, *size)
    await do(lambda: console.visit(company.url, theme=theme))
    faults = {LOG_IN: await do(_found, console, axe)}
    await do(lambda: console.visit(company.url, admin, theme=theme))
    for name in [name for name in names if name != LOG_IN]:
        await do(_show, console, name, places)
        faults[name] = await do(_found, console, axe)
    serious = {name: one for name, one in faults.items() if one}
    assert serious == {}, json.dumps(serious, indent=1)


def _show(console: Console, name: str, places: Mapping[str, str]) -> None:
    opened = {FORM: "record", BESIDE: "desk", CHECK: "flow", "preferences": "inbox"}.get(name, name)
    tab = "Notification preferences" if name == "preferences" else ""
    console.robot("open", address=places[f"{name}s" if name in NEW else opened], tab=tab)
    if name in NEW:
        console.press("main [class*=-Button--primary]")
        console.until(lambda: console.count("[class*=-Drawer] form"))
    if name == CHECK:
        for opened in (1, 2):  # the question, and above it the answer
            console.click("Check")
            console.until(lambda opened=opened: console.count("[class*=-Modal-content]") == opened)
            console.robot("rest")
    if name == FORM:
        console.press("main [class*=-Flex] button")
        console.until(lambda: console.value("[class*=-Drawer] input[name=name]"))
    if name == BESIDE:
        console.press("main tbody tr td button:last-child")
        console.until(lambda: console.count("[class*=-Drawer] [class*=-Property]"))
    console.robot("rest")


def _found(console: Console, axe: str) -> list[str]:
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
