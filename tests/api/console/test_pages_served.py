"""Page descriptions as they are served to people with different rights."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.browser.walk import calls, nodes, texts
from tests.support.dictionary_entries import Entries

pytestmark = pytest.mark.gen_test(timeout=30)
PAGES, RECORDS = "/api/v1/console/pages", "/api/v1/console/records"


async def test_a_page_is_in_the_language_of_the_reader(admin: Client) -> None:
    chinese, english = [
        expect(await admin.get(f"{PAGES}/crm.lead", headers={"Accept-Language": language})) for language in ("zh", "en")
    ]
    assert (chinese["title"], english["title"]) == ("线索", "Leads")


async def test_nobody_gets_a_button_that_is_refused(people: People) -> None:
    reader = await people.person(["crm:lead:list", "crm:lead:read"])
    page = expect(await reader.get(f"{PAGES}/crm.lead"))
    asked = {(method, path) for method, path, _ in calls(page)}
    pickers = {(method, path) for method, path in asked if path.startswith("/api/v1/meta/options/")}
    assert asked - pickers == {("GET", "/api/v1/crm/leads")}
    for method, path in sorted(pickers):
        expect(await reader.call(method, path))
    record = expect(await reader.get(f"{RECORDS}/crm.leads"))
    assert {path for _, path, _ in calls(record)} <= {
        "/api/v1/crm/leads/1",
        "/api/v1/crm/leads/1/history",
        "/api/attachments",
    }
    assert "/api/v1/crm/contracts" not in texts(expect(await reader.get(f"{PAGES}/crm.contract")))


async def test_a_form_offers_only_what_its_request_takes_also_in_its_lines(admin: Client) -> None:
    page = expect(await admin.get(f"{PAGES}/inventory.purchase-order"))
    tables = [one for one in nodes(page) if one.get("name") == "lines" and one["type"] == "combo"]
    assert len(tables) == 2  # of the forms that make and change an order
    for table in tables:
        assert [one["name"] for one in table["items"] if "name" in one and one["type"] != "hidden"] == [
            "product_id",
            "quantity",
            "price",
            "discount",
            "tax_rate",
            "tax_id",
            "description",
            "price_per",
            "discount_amount",
            "unit",
            "reference",
            "tolerance",
        ]


async def test_two_people_get_pages_of_their_own_one_after_the_other(admin: Client, people: People) -> None:
    reader = await people.person(["crm:lead:list"])
    first, second, again = [expect(await one.get(f"{PAGES}/crm.lead")) for one in (admin, reader, admin)]
    assert "POST" in {method for method, _, _ in calls(first)}
    assert "POST" not in {method for method, _, _ in calls(second)}
    assert first == again


async def test_a_changed_dictionary_changes_the_page(admin: Client, entries: Entries) -> None:
    await entries.add("crm_lead_source", label="展台${1+1}")
    page = texts(expect(await admin.get(f"{PAGES}/crm.lead")))
    assert "展台$\u200b{1+1}" in page


async def test_units_have_the_same_names_in_lines_of_orders_and_of_invoices(admin: Client, entries: Entries) -> None:
    added = await entries.add("inventory_unit", label="托盘")
    orders, invoices = [
        [one for one in nodes(expect(await admin.get(f"{RECORDS}/{kind}"))) if one.get("name") == "unit"]
        for kind in ("inventory.sales-orders", "finance.invoices")
    ]
    shown, typed = ([one for one in invoices if one["type"] == type] for type in ("mapping", "input-text"))
    assert shown[0]["map"][added] == "托盘"
    assert shown[0]["map"] == next(one["map"] for one in orders if one["type"] == "mapping")
    assert {one["value"] for one in typed[0]["options"]} >= {added, "piece"}, "offered, and others can be typed"


async def test_a_page_of_nothing_is_40400(nobody: Client) -> None:
    for path in (f"{PAGES}/nothing", f"{RECORDS}/nothing", f"{RECORDS}/crm.leads"):
        expect(await nobody.get(path), 40400)


async def test_the_shell_runs_no_script_of_others(anonymous: Client) -> None:
    shell = await anonymous.get("/console")
    policy = shell.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert b"<script>" not in shell.body
    assert b" on" not in shell.body.replace(b" only", b"")


async def columns_of(admin: Client, menu: str) -> dict[str, dict[str, Any]]:
    """The columns of the first list of a menu that have a name, in their order."""
    page = expect(await admin.get(f"{PAGES}/{menu}", headers={"Accept-Language": "en"}))
    crud = next(one for one in nodes(page) if one.get("type") == "crud")
    return {one["name"]: one for one in crud["columns"] if "name" in one}


async def test_a_list_begins_with_a_link_to_the_record_by_its_name_and_shows_no_id(admin: Client) -> None:
    columns = await columns_of(admin, "crm.contract")
    assert [name for name, one in columns.items() if one.get("toggled", True)][:3] == ["name", "status", "amount"]
    assert (columns["name"]["pages"], columns["name"]["by"]) == ("#/records/crm.contracts/", "id")
    assert columns["id"]["toggled"] is False
    # what it refers to is a link as well
    customer = columns["customer_name"]
    assert (customer["pages"], customer["by"]) == ("#/records/crm.customers/", "customer_id")


async def test_a_state_is_a_tag_in_the_colour_of_its_dictionary_or_of_its_declaration(admin: Client) -> None:
    contract = (await columns_of(admin, "crm.contract"))["status"]["map"]
    assert (contract["in_force"]["className"], contract["in_force"]["tpl"]) == ("tag green", "In force")
    invoice = (await columns_of(admin, "finance.invoice"))["status"]["map"]
    colours = {state: invoice[state]["className"] for state in ("draft", "confirmed", "paid", "void")}
    assert colours == {"draft": "tag gray", "confirmed": "tag blue", "paid": "tag green", "void": "tag red"}


async def test_a_filter_of_amounts_takes_both_ends_and_one_of_several_days_one_range(admin: Client) -> None:
    page = expect(await admin.get(f"{PAGES}/crm.contract"))
    filters = {one["name"]: one for one in next(one for one in nodes(page) if one.get("type") == "chips")["chosen"]}
    assert [one["name"] for one in filters["amount_from"]["body"]] == ["amount_from", "amount_to"]
    assert filters["signed_date_from"]["extraName"] == "signed_date_to"


async def test_a_flow_is_drawn_from_the_declaration_of_its_nodes(admin: Client) -> None:
    page = expect(await admin.get(f"{PAGES}/approval.definition"))
    flow = next(one for one in nodes(page) if one.get("type") == "flow" and "items" in one)
    asked = {"key", "name", "approvers", "mode", "absent", "substitutes", "on_reject", "copies", "deadline", "reason"}
    assert {one["name"] for one in flow["items"]} == asked | {"choice", "branches", "lanes"}
    assert flow["parts"].keys() >= {"conditions", "copies"}
    (biz_type,) = {one["source"]["url"] for one in nodes(page) if one.get("name") == "biz_type" and "source" in one}
    expect(await admin.get(biz_type))


async def test_what_refers_to_records_of_a_tree_is_ticked_in_it(admin: Client, people: People) -> None:
    page = expect(await admin.get(f"{PAGES}/system.role"))
    tree = next(one for one in nodes(page) if one.get("name") == "menu_ids" and "source" in one)
    assert (tree["type"], tree["source"]["url"]) == ("input-tree", "/api/v1/system/menus/all")
    rows = expect(await admin.get(tree["source"]["url"]))
    assert {tree["labelField"], tree["valueField"], "children"} <= rows[0].keys()
    who = await people.person([f"system:role:{action}" for action in ("list", "read", "create")])
    picked = next(one for one in nodes(expect(await who.get(f"{PAGES}/system.role"))) if one.get("name") == "menu_ids")
    assert picked["type"] == "select"  # of who may not read the tree


async def test_a_refusal_is_explained_for_a_person_and_an_action_chosen_by_their_titles(admin: Client) -> None:
    page = expect(await admin.get(f"{PAGES}/system.authorization", headers={"Accept-Language": "en"}))
    asked = {one["name"]: one for one in nodes(page) if one.get("name") in ("user_id", "request", "method", "path")}
    assert asked.keys() == {"user_id", "request"}
    assert asked["user_id"]["source"]["url"].startswith("/api/v1/meta/options/users")
    titles = {one["label"]: one["value"] for one in asked["request"]["options"]}
    method, path = titles["CRM › Contracts › Approve"].split()
    explained = expect(
        await admin.get(
            f"/api/v1/system/authorization/explain?user_id=1&method={method}&path={path.replace('{id}', ':id')}"
        )
    )
    assert explained["route"]["permission"] == "crm:contract:approve"


async def test_a_home_page_is_chosen_among_the_menus(admin: Client) -> None:
    page = expect(await admin.get(f"{PAGES}/system.user", headers={"Accept-Language": "en"}))
    control = next(one for one in nodes(page) if one.get("name") == "home_path" and "options" in one)
    assert {"value": "/crm/customers", "label": "CRM › Customers"} in control["options"]


async def test_a_declared_calendar_is_beside_the_list_and_on_the_pages_of_whom_it_is_about(admin: Client) -> None:
    for address, whose in ((f"{PAGES}/hrm.attendance", "employee_id"), (f"{RECORDS}/hrm.employees", "record_id")):
        months = [one for one in nodes(expect(await admin.get(address))) if one.get("type") == "days-of-month"]
        (month,) = [one for one in months if one["path"] == "/api/v1/hrm/attendance"]
        assert (month["day"], month["of"]) == ("day", "employee_id")
        assert month["from"] == whose
    department = expect(await admin.get(f"{RECORDS}/system.departments"))
    assert "days-of-month" not in texts(department)
