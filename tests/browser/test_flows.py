"""Approval flows as diagrams: they are edited in the diagram."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
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
