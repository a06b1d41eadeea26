"""Approval flows as diagrams, the forms and choices of requests, and a task that is decided by its link on a phone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from plugins.api import utc_now
from plugins.approval.links import make_token
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import AT, ask, business_type, define, draft, id_of, node, read, several
from tests.browser.browser import Console, do

pytestmark = pytest.mark.gen_test(timeout=180)
DEFINITIONS = "/api/v1/approvals/definitions"
DIALOGUE = ".antd-Modal"
CONFIRM = f"{DIALOGUE} .antd-Modal-footer .antd-Button--primary"
SAVE = ".antd-Drawer .antd-Drawer-footer .antd-Button--primary"


def edit_in_the_diagram(console: Console) -> None:
    """Change the value of the condition, and add a node behind the last one."""
    console.press("main .antd-Flex button")
    console.until(lambda: "At least 2,000.00" in console.shown(".antd-Drawer .flow .when"))
    console.press(".antd-Drawer .flow .when button")
    value = f"{DIALOGUE} [name=value]"
    console.until(lambda: console.value(value) == "2000.00")
    console.type(value, Keys.CONTROL, "a")
    console.type(value, "750000")
    console.press(CONFIRM)
    console.until(lambda: "At least 750,000" in console.shown(".antd-Drawer .flow .when"))
    console.press(".antd-Drawer .flow .node ~ .add button")
    console.until(lambda: console.count(f"{DIALOGUE} [name=initiator_leader]"))
    console.type(f"{DIALOGUE} [name=name]", "Director")
    console.type(f"{DIALOGUE} [name=initiator_leader]", "2")
    console.press(CONFIRM)
    console.until(lambda: "Director" in console.shown(".antd-Drawer .flow"))
    console.press(SAVE)
    console.until(lambda: not console.count(".antd-Drawer"))


async def test_a_flow_is_edited_in_its_diagram(console: Console, company: Running, admin: Client) -> None:
    condition = {"field": "amount", "op": "gte", "value": "2000.00"}
    node = {"key": "first", "name": "Manager", "approvers": {"users": [1]}, "mode": "quorum:2"}
    body = {"name": unique("flow"), "biz_type": "EXPENSE", "conditions": [condition], "nodes": [node], "enabled": False}
    made = expect(await admin.post(DEFINITIONS, body))
    await do(console.visit, company.url, admin, f"#/records/approvals.definitions/{made['id']}")
    await do(edit_in_the_diagram, console)
    changed = expect(await admin.get(f"{DEFINITIONS}/{made['id']}"))
    assert changed["conditions"] == [{**condition, "value": "750000"}]
    first, second = changed["nodes"]
    assert (first["key"], first["mode"], first["approvers"]["users"]) == ("first", "quorum:2", [1])
    assert (second["name"], second["mode"], second["approvers"]["initiator_leader"]) == ("Director", "any", 2)
    assert await do(console.complaints) == []


def add_a_branch(console: Console) -> None:
    """Put a node into the last branch, and name the first."""
    console.press("main .antd-Flex button")
    console.until(lambda: "At least 2,000.00" in console.shown(".antd-Drawer .flow .parts"))
    console.press(".antd-Drawer .parts .flow:nth-child(2) > .add button")
    console.until(lambda: console.count(f"{DIALOGUE} [name=initiator_leader]"))
    console.type(f"{DIALOGUE} [name=name]", "Director")
    console.type(f"{DIALOGUE} [name=initiator_leader]", "2")
    console.press(CONFIRM)
    console.until(lambda: "Director" in console.shown(".antd-Drawer .parts .flow:nth-child(2)"))
    console.press(".antd-Drawer .parts .when button")
    console.until(lambda: console.value(f"{DIALOGUE} [name=name]") == "large")
    console.type(f"{DIALOGUE} [name=name]", "r")
    console.press(CONFIRM)
    console.until(lambda: "larger" in console.shown(".antd-Drawer .parts"))
    console.press(SAVE)
    console.until(lambda: not console.count(".antd-Drawer"))


async def test_branches_and_lanes_are_drawn_and_edited(console: Console, company: Running, admin: Client) -> None:
    condition = {"field": "amount", "op": "gte", "value": "2000.00"}
    large, rest = [
        {"name": name, "conditions": held, "nodes": nodes}
        for name, held, nodes in (("large", [condition], ["boss"]), ("rest", [], []))
    ]
    lanes = [{"name": key, "nodes": [key]} for key in ("finance", "law")]
    asking = [{"key": key, "name": key, "approvers": {"users": [1]}} for key in ("finance", "law", "boss")]
    nodes = [
        {"key": "by", "name": "by amount", "branches": [large, rest]},
        {"key": "both", "name": "both", "lanes": lanes},
    ]
    body = {"name": unique("flow"), "biz_type": "EXPENSE", "nodes": [*nodes, *asking], "enabled": False}
    made = expect(await admin.post(DEFINITIONS, body))
    await do(console.visit, company.url, admin, f"#/records/approvals.definitions/{made['id']}")
    await do(add_a_branch, console)
    changed = expect(await admin.get(f"{DEFINITIONS}/{made['id']}"))
    by, both, *_, added = changed["nodes"]
    assert [(one["name"], one["nodes"]) for one in by["branches"]] == [("larger", ["boss"]), ("rest", [added["key"]])]
    assert by["branches"][0]["conditions"] == [condition]
    assert (added["name"], both["lanes"]) == ("Director", lanes)
    assert await do(console.complaints) == []


def enter_and_submit(console: Console) -> None:
    """Change what the form asks for, and choose a branch at the submission."""
    console.click("Edit")
    console.until(lambda: console.value(".antd-Drawer [name=amount]") == "5.00")
    console.type(".antd-Drawer [name=amount]", Keys.CONTROL, "a")
    console.type(".antd-Drawer [name=amount]", "77.5")
    console.press(SAVE)
    console.until(lambda: "77.50" in console.shown("main"))
    console.click("Submit")
    console.until(lambda: "By choice" in console.shown(".antd-Drawer"))
    console.press(".antd-Drawer .antd-Select")
    console.until(lambda: console.count(".antd-Select-option"))
    console.press(".antd-Select-option:nth-of-type(2)")
    console.until(lambda: "two" in console.shown(".antd-Drawer .antd-Select-value"))
    console.press(SAVE)
    console.until(lambda: not console.count(".antd-Drawer"))


async def test_a_request_has_the_fields_of_its_form_and_the_initiator_chooses(
    console: Console, company: Running, admin: Client
) -> None:
    kind = await business_type(admin)
    field = {"name": "amount", "label": "金额", "label_en": "Amount", "type": "money", "required": True}
    expect(await admin.post(f"{AT}/forms", {"name": unique("form"), "biz_type": kind, "fields": [field]}))
    branches = [{"name": key, "conditions": [], "nodes": [key]} for key in ("one", "two")]
    fork = {"key": "fork", "name": "By choice", "choice": True, "branches": branches}
    flow = await define(admin, fork, node("one"), node("two"), biz_type=kind)
    made = await draft(admin, flow, record={"amount": 5})
    await do(console.visit, company.url, admin, f"#/records/approvals.instances/{made['id']}")
    await do(enter_and_submit, console)
    sent = await read(admin, made)
    assert (sent["record"], sent["status"], sent["taken"][0]["branch"]) == ({"amount": "77.50"}, "pending", "two")
    assert await do(console.complaints) == []


def comment_with_a_file(console: Console, file: Path) -> None:
    """Comment with a file, on a phone, and see its name among the steps."""
    console.resize(390, 844)
    console.press("main .acts .opens")
    console.click("Comment")
    console.until(lambda: console.count(".antd-Drawer textarea[name=comment]"))
    console.type(".antd-Drawer textarea[name=comment]", "see the offer")
    console.type(".antd-Drawer .attached-files [type=file]", str(file))
    console.until(lambda: file.name in console.shown(".antd-Drawer .attached-files .name"))
    console.press(SAVE)
    console.until(lambda: not console.count(".antd-Drawer"))
    console.click("History")
    console.until(lambda: file.name in console.shown("main .file-names .name"))


async def test_a_comment_shows_its_file(console: Console, company: Running, admin: Client, tmp_path: Path) -> None:
    file = tmp_path / "offer.txt"
    file.write_text("three thousand")
    made = await draft(admin, await define(admin, node("first")))
    await do(console.visit, company.url, admin, f"#/records/approvals.instances/{made['id']}")
    await do(comment_with_a_file, console, file)
    (step,) = (await read(admin, made))["history"]
    assert (step["comment"], [one["file_name"] for one in step["attachments"]]) == ("see the offer", [file.name])
    assert await do(console.complaints) == []


def decide_by_link(console: Console, url: str, token: str, boss: Client) -> None:
    """Open a link, log in, and agree with a comment, which is needed."""
    console.resize(390, 844)
    console.visit(url, None, f"#/links/approvals/{token}")
    console.until(lambda: console.count("dialog form"))
    console.log_in(boss.user["username"], shows="main.link footer button")
    console.press("main.link footer button:last-child")
    console.until(lambda: "Write a comment first" in console.shown("main.link"))
    console.type("main.link textarea", "fine")
    console.press("main.link footer button:last-child")
    console.until(lambda: "Done: Agree" in console.shown("main.link"))


async def test_a_task_is_decided_by_its_link_on_a_phone(
    console: Console, company: Running, admin: Client, people: People
) -> None:
    (boss,) = await several(people, 1)
    made = await ask(admin, await define(admin, {**node("first", boss), "reason": "always"}))
    token = make_token(company.service, made["id"], 0, id_of(boss), utc_now() + timedelta(hours=1))
    await do(decide_by_link, console, company.url, token, boss)
    last = (await read(admin, made))["history"][-1]
    assert (last["user_id"], last["way"], last["comment"]) == (id_of(boss), "link", "fine")
    assert [one for one in await do(console.complaints) if "401 (Unauthorized)" not in one] == []  # before the log-in
