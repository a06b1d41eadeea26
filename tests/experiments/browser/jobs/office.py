"""Jobs of employees and administrators: leave, claims, flows of approval, accounts."""

from __future__ import annotations

import time
from datetime import datetime
from zoneinfo import ZoneInfo

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from plugins.testing import PASSWORD, unique
from tests.experiments.browser.jobs.hand import Hand
from tests.experiments.browser.jobs.jobs import Desk, picture
from tests.experiments.browser.jobs.orders import PRODUCTS, enter_lines

_SECONDS_OF_AN_ORDER, _SECONDS_OF_A_KEY = 120, 0.2  # sixty words a minute


def leave_approved(desk: Desk) -> None:
    """An employee asks for leave; the manager approves it."""
    hand, years = desk.sit_down("sales"), 1 if desk.language == "zh" else 2
    hour = datetime.now(ZoneInfo("Asia/Shanghai")).hour  # where the wheels stand at first
    hand.go("hrm.leave")
    hand.press("Create")
    hand.pick("type", "Personal leave", typed=False)
    hand.day("starts_at", desk.say("2031-03-10 09:00", "2031-03-17 09:00"), (1, years), (4, 9 - hour))
    hand.day("ends_at", desk.say("2031-03-10 18:00", "2031-03-17 18:00"), (1, years), (4, 18 - hour))
    hand.type("reason", desk.say("探亲", "Family visit"))
    hand.shot("leave-form")
    hand.confirm()
    hand.click("main tbody tr a")
    hand.shown()
    hand.act("Submit")
    hand.confirm()
    hand = desk.sit_down("manager")
    hand.open_news("李销售")
    hand.act("Approve")
    hand.confirm()
    hand.sees(desk.say("已批准", "Approved"))


def claim_approved(desk: Desk) -> None:
    """An employee claims expenses with photographed receipts; the manager looks at these and approves."""
    hand, title = desk.sit_down("sales"), unique(desk.say("出差", "Trip"))
    _claim(desk, hand, title, "386.50")
    hand.tab("Files")
    with picture("taxi") as taxi, picture("hotel") as hotel:
        for photo in (taxi, hotel):
            hand.choose(photo, part=".attachments .camera")
        hand.console.until(lambda: hand.console.count(".attachments .files img") == 2)
    hand.shot("claim-receipts")
    hand.act("Submit")
    hand.confirm()
    hand = desk.sit_down("manager")
    hand.open_news(title)
    hand.tab("Files")
    hand.console.until(lambda: hand.console.count(".attachments .files img") == 2)
    hand.act("Approve")
    hand.confirm()
    hand.tab("Details")
    hand.sees(desk.say("已批准", "Approved"))


def _claim(desk: Desk, hand: Hand, title: str, amount: str) -> None:
    hand.go("finance.expense-claim")
    hand.press("Create")
    hand.type("title", title)
    if not hand.console.count(".antd-Drawer .lines [name=amount]"):
        hand.click(".lines .antd-Combo-addBtn")
    hand.day("day", "2026-11-20")
    hand.type("category", desk.say("交通", "travel"))
    hand.type("amount", amount)
    hand.shot("claim-form")
    hand.confirm()
    hand.row(title)


def flow_by_amount(desk: Desk) -> None:
    """An administrator draws a flow for large claims; a large one and a small one take their ways."""
    hand, name = desk.sit_down("admin"), unique(desk.say("大额报销", "Large claims"))
    hand.go("approval.definition")
    hand.press("Create")
    hand.type("name", name)
    hand.pick("biz_type", "Expense claim", typed=False)
    hand.click(".flow .when button")
    hand.press("Add a condition")
    hand.tap(
        lambda: hand.find(
            "[class*=PopOver] a, [class*=PopOver] li, [class*=DropDown] li", hand.text("Amount"), anywhere=True
        )
    )
    hand.type("value", "5000")
    hand.shot("flow-condition")
    hand.confirm()
    hand.click(".flow .add button")
    hand.type("name", desk.say("部门经理", "Manager"))
    hand.pick("users", "王经理")
    hand.console.keys(Keys.TAB)
    hand.shot("flow-node")
    hand.confirm()
    hand.shot("flow")
    hand.confirm()
    large, small = (unique(desk.say("设备", "Equipment")) for _ in range(2))
    hand = desk.sit_down("sales")
    for title, amount in ((large, "8000"), (small, "80")):
        _claim(desk, hand, title, amount)
        hand.act("Submit")
        hand.confirm()
    hand = desk.sit_down("manager")
    hand.click(".bar a:nth-of-type(2)" if desk.phone else "main .home .card .more", anywhere=True)
    hand.sees(large)
    assert small not in hand.console.shown("main")
    hand.open_news(small)
    hand.act("Approve")
    hand.confirm()
    hand.sees(desk.say("已批准", "Approved"))


def person_created(desk: Desk) -> None:
    """An administrator creates a person with a new role; the person logs in, and sees what the role has, and no more."""
    hand, username = desk.sit_down("admin"), unique("li")
    hand.go("system.user")
    hand.press("Create")
    hand.type("username", username)
    hand.type("password", PASSWORD)
    hand.type("real_name", desk.say("李明", "Li Ming"))
    hand.pick("department_id", "销售部")
    hand.click('[data-amis-name="role_ids"] .antd-Select')
    hand.click(".antd-Select-addBtn", anywhere=True)
    hand.type("code", unique("support"))
    hand.type("name", unique(desk.say("客服", "Support")))
    hand.pick("data_scope", "Own department and below", typed=False)
    hand.type(
        "",
        hand.text("Customers"),
        selector=".antd-Tree-search input, .antd-TreeControl-searchbox input, [class*=Tree] input[type=text]",
    )
    # the tree is still drawn: dashboards of customers come first
    named = "[class*=Tree-item] label, [class*=Tree-itemText]"
    hand.tap(lambda: hand.find(named, hand.text("Customers"), whole=True))
    hand.shot("role-form")
    hand.confirm()
    hand.shot("user-form")
    hand.confirm()
    hand = desk.sit_down(username, PASSWORD)
    menus = {
        one.get_attribute("data-menu") for one in hand.browser.find_elements(By.CSS_SELECTOR, "nav.menu a[data-menu]")
    }
    assert menus == {"crm.customer"}, menus
    hand.go("crm.customer")
    hand.shot("person-menu")


def keys_alone(desk: Desk) -> None:
    """Without a mouse: log in, create a customer, enter an order of ten lines in two minutes, and approve a request."""
    name = unique(desk.say("键盘公司", "Keyboard Ltd"))
    keys = desk.sit_down("sales", keys=True)
    _open_with_keys(keys, "crm.customer")
    keys.reach("one.matches('.antd-Drawer input[name=name]')")
    keys.console.keys(name)
    keys.reach("one.matches('.antd-Drawer-footer .antd-Button--primary')", press=True)
    keys.console.until(lambda: not keys.console.count(".antd-Drawer") and name in keys.console.shown())
    pressed, spent, seconds = _order_with_keys(keys, name)
    print(
        f"an order of ten lines: {pressed} keys, {spent:.1f} s of the page, {seconds:.0f} s of who presses them at once"
    )
    assert pressed * _SECONDS_OF_A_KEY + spent < _SECONDS_OF_AN_ORDER, (pressed, spent)
    keys = desk.sit_down("manager", keys=True)
    keys.reach("one.matches('main .home .card .more')", press=True)
    keys.console.until(lambda: keys.console.count("main tbody tr .acts"))
    keys.reach(f"one.closest('tbody .acts') && one.textContent.trim() === '{keys.text('Agree')}'", press=True)
    keys.console.until(lambda: keys.console.count(".antd-Modal .antd-Button--primary"))
    keys.shot("keys-decision")
    keys.reach("one.matches('.antd-Modal .antd-Button--primary')", press=True)
    keys.console.until(lambda: not keys.console.count(".antd-Modal"))


def _order_with_keys(keys: Hand, customer: str) -> tuple[int, float, float]:
    """Enter an order of ten lines; returns how many keys its form takes, the seconds of the page, and those it took here."""
    _open_with_keys(keys, "inventory.sales-order")
    began, before = time.monotonic(), keys.spent()
    keys.browser.execute_script("window.pressed = 0; addEventListener('keydown', () => { window.pressed += 1; }, true)")
    _pick_with_keys(keys, "customer_id", customer)
    _pick_with_keys(keys, "warehouse_id", "上海仓")
    keys.reach("one.matches('.lines .antd-Combo-addBtn')", press=True)
    keys.console.until(
        lambda: keys.browser.execute_script("return document.activeElement.matches('.lines [role=combobox]')")
    )
    enter_lines(keys, [(sku, "3", "20") for sku in PRODUCTS])
    keys.shot("keys-order")
    keys.reach("one.matches('.antd-Drawer-footer .antd-Button--primary')", press=True)
    keys.console.until(
        lambda: not keys.console.count(".antd-Drawer") and "600.00" in keys.console.shown("main tbody tr")
    )
    pressed: int = keys.browser.execute_script("return window.pressed")
    return pressed, keys.spent() - before, time.monotonic() - began


def _open_with_keys(hand: Hand, menu: str) -> None:
    """Open a page by the menu and the form that makes a record there, whose first field gets the focus."""
    group = f"document.querySelector('nav.menu details:has([data-menu=\"{menu}\"]) > summary')"
    if not hand.browser.execute_script(f"return {group}.parentElement.open"):
        hand.reach(f"one === {group}", press=True)
    hand.reach(f"one.dataset.menu === '{menu}'", press=True)
    hand.console.until(lambda: hand.console.count("main .antd-Crud button.antd-Button--primary"))
    hand.console.robot("rest")
    hand.reach("one.matches('main button.antd-Button--primary')", press=True)
    hand.console.until(lambda: hand.console.count(".antd-Drawer form"))
    hand.console.robot("rest")


def _pick_with_keys(hand: Hand, name: str, text: str) -> None:
    """Choose what a picker of the form offers for a text."""
    hand.reach(f"one.matches('[role=combobox]') && one.closest('[data-amis-name=\"{name}\"]')")
    hand.console.keys(Keys.SPACE)
    hand.console.until(
        lambda: hand.browser.execute_script("return document.activeElement.matches('[aria-autocomplete]')")
    )
    hand.console.keys(text)
    hand.fields += 1
    hand.console.until(lambda: hand.console.count("[role=option]") == 1)
    hand.console.keys(Keys.ARROW_DOWN, Keys.ENTER)
    hand.console.robot("rest")
