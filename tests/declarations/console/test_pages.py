"""Page descriptions: what is in them for whom; every test over all pages covers a new plugin once it is declared."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from handlers.access.requests import OWN_REQUEST
from handlers.catalogue.declarations import View
from handlers.route import SUPER
from handlers.routing import Router
from handlers.schema.messages import Language
from plugins.checks.pages import page_problems
from plugins.console.nodes import WORDS, Node, plain
from plugins.console.pages import menu_page, new_record
from plugins.console.records import panel, record_page
from plugins.console.site import Site
from plugins.console.viewer import Viewer
from plugins.rbac.messages import NAMES_ONESELF
from tests.browser.walk import calls, nodes, routes_of, texts
from tests.browser.work import TAKEN, made_by_hand
from tests.support.catalogue import CATALOGUE

SITE, ROUTER = Site(CATALOGUE), Router(CATALOGUE.routes)
ENTRIES = {dictionary.type: dictionary.entries for dictionary in CATALOGUE.dictionaries}
OF_AN_OPTION = {"label", "value"}
EVERYTHING = frozenset(route.name for route in CATALOGUE.routes)
RECORDS = "/api/v1/console/records"


def pages_for(allowed: frozenset[str], language: Language = "en") -> dict[str, Node]:
    """Every page that somebody with these routes gets, by what it shows."""
    viewer = Viewer(SITE, language, ENTRIES, allowed)
    of_menus = {code: menu_page(viewer, code) for code in SITE.menus}
    of_records = {f"a record of {name}": record_page(viewer, one) for name, one in SITE.subjects.items()}
    return {name: page for name, page in {**of_menus, **of_records}.items() if page is not None}


class Pages(Mapping[str, Node]):
    """Every page of somebody with all routes; made when it is first asked for, as that takes seconds."""

    def __init__(self, language: Language) -> None:
        self.language = language

    @cached_property
    def made(self) -> dict[str, Node]:
        return pages_for(EVERYTHING, self.language)

    def __getitem__(self, name: str) -> Node:
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


WHOLE, CHINESE = Pages("en"), Pages("zh")


def test_every_list_of_records_is_on_the_page_of_a_menu() -> None:
    shown = {one.path for code in SITE.menus for one in routes_of(WHOLE[code], ROUTER)}
    listed = {one.path for one in CATALOGUE.routes if one.paged and one.access.endswith(":list") and not one.parameters}
    asks_first = {one.path for one in CATALOGUE.routes if any(field.required for field in one.query.values())}
    assert sorted(listed - shown - asks_first) == []


def test_what_our_own_pages_show_and_ask_for_is_no_fault_in_a_plugin() -> None:
    tabs = {(name, name): page for name, page in WHOLE.items()}
    assert [*page_problems("acme", [View(CATALOGUE.collections["crm_customers"], tabs=tabs)], CATALOGUE.routes)] == []


def test_every_menu_of_a_resource_shows_something_of_it() -> None:
    nothing = WORDS["no_page"].en
    assert [code for code, menu in SITE.menus.items() if menu.resource and nothing in texts(WHOLE[code])] == []


def test_a_report_asks_for_what_it_must_be_told_before_it_asks_the_server() -> None:
    for code in ("finance.statement", "system.authorization"):
        asking = [node for node in nodes(WHOLE[code]) if node.get("type") == "service"]
        assert asking
        assert not any(node["initFetch"] for node in asking)
    (ageing,) = [node for node in nodes(WHOLE["finance.ageing"]) if node.get("type") == "crud"]
    (kind,) = [node for node in nodes(ageing["filter"]) if node.get("name") == "kind"]
    assert (kind["required"], kind["value"]) == (True, "receivable")


def test_a_page_calls_only_what_there_is_with_parameters_that_it_takes() -> None:
    wrong = []
    for name, page in WHOLE.items():
        for method, path, given in calls(page):
            route, _ = ROUTER.match(method, path)
            wrong += [f"{name}: {route.name} takes no {other}" for other in given - set(route.query)]
    assert wrong == []


def test_a_page_offers_only_what_the_viewer_may_do() -> None:
    names = [one.name for one in CATALOGUE.routes if one.guarded or one.access == SUPER]
    half = set(random.Random(1).sample(sorted(names), len(names) // 2))
    for lost in (half, set(names) - half):
        offered = {one.name for page in pages_for(EVERYTHING - lost).values() for one in routes_of(page, ROUTER)}
        assert offered & lost == set()


def test_a_list_whose_records_only_the_service_makes_offers_no_form_to_anybody() -> None:
    by_hand = {subject.at for subject in made_by_hand(SITE)}
    posted = {one.path for page in WHOLE.values() for one in routes_of(page, ROUTER) if one.method == "POST"}
    listed = {subject.at for subject in SITE.subjects.values()}
    created = {one.path for one in CATALOGUE.routes if one.method == "POST" and one.guarded and one.body is not None}
    # `/all` lists what is made at the path above it
    assert {at.removesuffix("/all") for at in by_hand} == {at.removesuffix("/all") for at in listed} & created
    assert (listed - by_hand) & posted == set()
    assert len(listed - by_hand) > 20


def test_what_is_done_at_lists_without_a_form_is_known() -> None:
    by_hand = {subject.name for subject in made_by_hand(SITE)}
    others = {name: one for name, one in SITE.subjects.items() if name not in by_hand}
    done = {name for name, one in others.items() if [*one.actions] or one.route("DELETE", "/{id}")}
    # a customer must have paid too much of something before it settles something else; views have no page of their own;
    # somebody must have asked for a swap, or for agreement on a month, or have revised a purchase
    asked = {"hrm.requests.swaps", "hrm.attendance.sheets", "inventory.purchase-order-revisions"}
    assert done == (TAKEN.keys() - by_hand) | {"finance.receivables", "meta.views"} | asked


def test_every_dashboard_has_a_chart_or_figures() -> None:
    cards = [node for node in nodes(WHOLE["dashboard"]) if node.get("type") == "panel"]
    assert len(cards) == len(SITE.dashboards) >= 13
    for card in cards:
        assert any(node.get("type") in ("chart", "tpl") for node in nodes(card)), card["title"]


def test_a_text_is_no_template_and_no_markup() -> None:
    for hostile in ("${1+1}", "$name", "<img src=x onerror=alert(1)>", "<%= 1 %>", "&lt;b&gt;"):
        made = plain(hostile)
        assert made.replace("\u200b", "") == hostile
        assert "${" not in made
        assert "<i" not in made
        assert "<%" not in made
        assert "&l" not in made
        assert "$n" not in made


def chinese_nodes() -> Iterator[tuple[str, Node]]:
    """Every part of every Chinese page, with the name of the page."""
    return ((name, node) for name, page in CHINESE.items() for node in nodes(page))


def test_a_chinese_page_calls_no_field_by_its_name_in_the_interface() -> None:
    named = [(name, str(one["label"])) for name, one in chinese_nodes() if "label" in one and set(one) != OF_AN_OPTION]
    assert [(name, label) for name, label in named if re.fullmatch("[a-z0-9 ]+", label)] == []


def test_a_chinese_page_calls_no_value_by_its_code() -> None:
    said = set()
    for name, node in chinese_nodes():
        mapped = node["map"].values() if node.get("type") == "mapping" else ()
        said |= {(name, str(label)) for label in (*(one["label"] for one in node.get("options", ())), *mapped)}
    assert [(name, label) for name, label in said if re.fullmatch("[a-z][a-z0-9_-]*", label)] == []


def test_a_value_is_shown_in_the_words_of_the_control_that_a_view_has_for_it() -> None:
    groups, templates = ([*nodes(CHINESE[name])] for name in ("hrm.attendance-group", "system.print-template"))
    (days,) = [one for one in groups if one.get("of") == "working_days"]
    assert [*days["items"]["map"].values()][:7] == ["周一", "周二", "周三", "周四", "周五", "周六", "周日"]
    (paper,) = [one for one in templates if one.get("of") == "paper"]
    assert (paper["map"]["invoice"], paper["map"]["sales-order"]) == ("发票", "销售订单")
    (events,) = [one for one in nodes(CHINESE["system.webhook"]) if one.get("of") == "events"]
    said = events["items"]["map"]
    assert (said["crm_contracts.submit"], said["crm_contracts.*"]) == ("合同：提交审批", "合同：全部变更")
    assert said["*"] == "${item == '*' ? \"全部变更\" : item}"  # the renderer takes `*` for any other value


def test_the_tabs_of_a_page_have_distinct_titles_in_both_languages() -> None:
    pages = [*CHINESE.items(), *WHOLE.items()]
    tabs = [(name, node["tabs"]) for name, page in pages for node in nodes(page) if node.get("type") == "tabs"]
    titles = [(name, [tab["title"] for tab in each]) for name, each in tabs]
    assert [(name, each) for name, each in titles if len(set(each)) < len(each)] == []


def test_the_tabs_of_a_chinese_page_are_called_in_chinese() -> None:
    titles = [(name, tab["title"]) for name, node in chinese_nodes() for tab in node.get("tabs", ())]
    assert [(name, title) for name, title in titles if not re.search("[\u4e00-\u9fff]", title)] == []


def box_titles(code: str, allowed: frozenset[str] = EVERYTHING) -> list[str]:
    page = menu_page(Viewer(SITE, "en", ENTRIES, allowed), code)
    return [tab["title"] for node in nodes(page) if node.get("type") == "tabs" for tab in node["tabs"]]


def test_a_business_type_that_is_no_record_has_its_label() -> None:
    columns = [one for one in nodes(CHINESE["approval.instance"]) if one.get("name") == "biz_type" and "map" in one]
    assert columns
    assert {(one["map"]["GENERAL"], one["map"]["CUSTOMER"]) for one in columns} == {("通用", "客户")}


def test_a_desk_has_a_tab_for_each_box_that_the_viewer_may_see() -> None:
    assert box_titles("approval.task")[:4] == ["To do", "Done", "Mine", "Copied to me"]
    without = EVERYTHING - {"GET /api/v1/approvals/instances"}
    assert box_titles("approval.task", without)[:2] == ["To do", "Done"]
    assert "Mine" not in box_titles("approval.task", without)
    assert box_titles("approval.instance")[0] == WORDS["all"].en


def test_a_record_opens_beside_a_desk_and_is_decided_on_by_those_who_are_asked() -> None:
    opened = [node for node in nodes(WHOLE["approval.task"]) if "schemaApi" in node]
    assert {node["schemaApi"]["url"] for node in opened} == {f"{RECORDS}/approvals.instances"}
    buttons, menu = buttons_of("a record of approvals.instances")
    assert {"Agree", "Reject", "Send back"} <= buttons.keys() & menu.keys()
    assert "user_id == me" in buttons["Agree"]["fits"]
    assert "status == 'pending'" in buttons["Withdraw"]["fits"]


def buttons_of(page: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The buttons of a record that are in sight, and the reasons in its menu, both by label."""
    offers = next(node for node in nodes(WHOLE[page]) if node.get("type") == "acts")["offers"]
    reasons = {one["button"]["label"]: one["reason"] for one in offers if one["reason"]}
    return {one["button"]["label"]: {**one, **one["button"]} for one in offers}, reasons


def test_what_does_not_fit_a_record_is_in_a_menu_with_the_reason_or_hidden() -> None:
    buttons, menu = buttons_of("a record of crm.contracts")
    assert menu["Complete"] == "Only in status: In force"
    assert buttons["Release"]["fits"] == "on_hold"
    assert "Release" not in menu
    # who did not submit it takes it back from the menu
    assert (buttons["Withdraw"]["fits"], buttons["Withdraw"]["aside"]) == (
        "(status == 'pending')",
        "submitted_by != me",
    )
    # nobody decides on their own request, nor is asked to
    assert buttons["Approve"]["aside"] == "creator_id == me || submitted_by == me || owner_id == me"


def test_hr_asks_for_agreement_and_answers_are_offered_on_the_own_sheet_or_entered_on_those_of_others() -> None:
    buttons, reasons = buttons_of("a record of hrm.attendance.sheets")
    answered = "user_id == me && (status == 'open' || status == '{}' || status == 'changed')"
    assert buttons["Agree"]["fits"] == answered.format("objected")
    assert buttons["Object"]["fits"] == answered.format("agreed")
    assert buttons["Enter the answer"]["fits"].startswith("user_id != me && (")
    assert reasons == {}
    (asks,) = [one for one in nodes(WHOLE["hrm.attendance-sheet"]) if one.get("label") == "Ask or remind"]
    assert {one["name"] for one in asks["drawer"]["body"]["body"] if "name" in one} == {"month", "group_ids"}
    told = texts(asks["drawer"]["body"]["feedback"])
    assert all(label in told for label in ("People", "New sheets", "Notified"))


def test_the_form_of_an_action_begins_with_what_the_view_proposes() -> None:
    buttons, _ = buttons_of("a record of inventory.sales-orders")
    begun = buttons["Deliver"]["button"]["drawer"]["data"]
    assert (begun["warehouse_id"], begun["lines"]) == (
        "${warehouse_id}",
        "${lines | open:delivered:line:product_id}",
    )


def test_a_line_shows_its_amount_while_it_is_entered() -> None:
    for menu in ("inventory.quotation", "inventory.sales-order", "inventory.purchase-order"):
        cells = {one["cell"] for one in nodes(WHOLE[menu]) if one.get("type") == "totals" and "count" in one}
        assert cells == {"amount"}, menu


def test_an_invoice_is_begun_from_what_it_bills() -> None:
    (owed,) = [one for one in nodes(WHOLE["finance.invoice"]) if one.get("id") == "finance.receivables"]
    (begun,) = [one for one in nodes(owed) if one.get("label") == "New invoice…"]
    assert begun["drawer"]["title"] == "New invoice"
    assert begun["drawer"]["data"].items() >= {"open_item_id": "${id}", "direction": "${direction}"}.items()


def test_who_decides_on_a_task_agrees_and_does_not_agree_a_record() -> None:
    buttons, _ = buttons_of("a record of approvals.instances")
    assert buttons["Agree"]["button"]["dialog"]["title"] == "Agree"
    assert buttons_of("a record of crm.contracts")[0]["Approve"]["button"]["dialog"]["title"] == "Approve contract"


def test_a_list_begins_with_no_id() -> None:
    report = next(one for one in nodes(WHOLE["hrm.attendance"]) if "attendance/monthly" in str(one.get("api")))
    assert next(one["of"] for one in report["columns"] if one.get("toggled", True)) == "number"


def test_several_rows_can_be_decided_on_and_moved_by_what_asks_for_nothing_more() -> None:
    (todo,) = [one for one in nodes(WHOLE["approval.task"]) if one.get("id") == "approvals.tasks-todo"]
    assert {one["label"] for one in todo["bulkActions"]} >= {"Agree"}
    (acts,) = todo["columns"][-1]["buttons"]
    in_rows = [one["button"]["label"] for one in acts["offers"]]
    assert (acts["most"], in_rows[0], in_rows[-1]) == (2, "Agree", "Open")
    (contracts,) = [one for one in nodes(WHOLE["crm.contract"]) if one.get("type") == "crud"]
    offered = [(one["label"], one["request"]["url"].rpartition("/")[2]) for one in contracts["bulkActions"]]
    assert [label for label, _ in offered] == ["Submit", "Withdraw", "Approve", "Reject", "Complete", "Delete"]
    assert [verb for _, verb in offered][:2] == ["submit", "withdraw"]


def test_a_list_has_the_totals_of_its_amounts_where_its_rows_are_of_one_side() -> None:
    lists = {
        one["id"]: one
        for menu in ("crm.contract", "finance.invoice")
        for one in nodes(WHOLE[menu])
        if "footerToolbar" in one
    }
    assert lists["crm.contracts"]["api"]["url"] == "/api/v1/crm/contracts?sum=amount"
    sums, of_page = [one["tpl"] for one in lists["crm.contracts"]["footerToolbar"] if isinstance(one, dict)]
    assert sums == "Total Contract amount ${sums.amount | amount | html}"
    assert of_page == "Total of this page: Contract amount ${items | total:amount | html}"
    for one in lists["finance.invoices"]["footerToolbar"]:
        assert isinstance(one, str) or "one.direction != items[0].direction" in one["visibleOn"]


def test_moments_are_chosen_in_the_business_time_zone_and_months_as_months() -> None:
    asked = [node for page in WHOLE.values() for node in nodes(page) if str(node.get("type")).startswith("input-date")]
    assert {node["valueFormat"] for node in asked} == {"YYYY-MM-DD", "YYYY-MM-DDTHH:mm:ss.SSSZ"}
    assert [node for node in asked if "utc" in node] == []
    months = [node["type"] for node in nodes(WHOLE["hrm.attendance"]) if node.get("name") == "month"]
    assert "input-month" in months


def test_a_part_of_a_whole_is_a_percentage() -> None:
    shown = [
        node["tpl"]
        for node in nodes(WHOLE["a record of inventory.sales-orders"])
        if node.get("name") == "tax_rate" and "tpl" in node
    ]
    assert set(shown) == {"${tax_rate | percent | html}"}
    typed = {one["name"] for one in nodes(WHOLE["inventory.sales-order"]) if one.get("type") == "percent"}
    assert typed == {"discount", "tax_rate", "tolerance"}


def test_prices_are_not_added_up() -> None:
    sums = [
        one["sums"] for page in WHOLE.values() for one in nodes(page) if one.get("type") == "totals" and "sums" in one
    ]
    assert {name for one in sums for name in one} == {"amount"}
    (products,) = [one for one in nodes(WHOLE["inventory.product"]) if one.get("id") == "inventory.products"]
    assert "sum=" not in products["api"]["url"]


def test_what_an_action_must_fit_is_a_field_of_its_records() -> None:
    actions = [(one, route) for one in SITE.subjects.values() for route in one.actions if route.fits]
    assert len(actions) > 8
    for subject, route in actions:
        assert set(route.fits) <= {**subject.shape, **subject.fields}.keys(), route.name


def test_what_is_asked_before_an_action_names_the_record_its_amount_and_what_becomes_of_it() -> None:
    buttons, _ = buttons_of("a record of crm.contracts")
    asked = buttons["Approve"]["dialog"]
    assert asked["title"] == "Approve contract"
    told = [one["content"]["name"] for one in asked["body"]["body"][0]["items"]]
    assert told == ["name", "number", "status", "amount"]
    assert asked["body"]["body"][1]["tpl"] == "Its status will be “In force”."
    assert [one.get("level") for one in asked["actions"]] == [None, "primary"]
    deleting = [one for one in nodes(WHOLE["a record of crm.contracts"]) if one.get("level") == "danger"]
    assert {one["label"] for one in deleting} == {"Delete"}
    # also before an action with a form; what no state tells, the route does
    reversing = buttons_of("a record of finance.vouchers")[0]["Reverse"]["drawer"]["body"]["body"]
    assert [one["content"]["name"] for one in reversing[0]["items"]] == ["number", "amount"]
    assert reversing[1]["tpl"] == "Its opposite is booked; the voucher itself is kept."


def test_a_decision_asks_for_its_comment_in_the_question_with_what_tells_the_record() -> None:
    for page, title, asked in (
        ("approvals.instances", "Agree", "comment"),
        ("approvals.instances", "Reject", "comment"),
        ("crm.contracts", "Reject", "reason"),
    ):
        buttons, _ = buttons_of(f"a record of {page}")
        question = buttons[title]["dialog"]
        assert [one.get("name") for one in question["body"]["body"]][-1] == asked, page
        assert asked in question["body"]["api"]["data"]
        assert asked not in question["data"]  # what an earlier decision left in the record is no comment of this one


def test_a_picker_offers_to_make_a_record_to_those_who_may_and_a_panel_shows_its_main_fields() -> None:
    (customer,) = [
        one for one in nodes(form_page("crm.contracts")) if one.get("name") == "customer_id" and "source" in one
    ]
    assert customer["description"]["form"] == "crm.customers"
    assert customer["createBtnLabel"] == "New customer…"
    without = EVERYTHING - {"POST /api/v1/crm/customers"}
    assert not [one for one in nodes(form_page("crm.contracts", without)) if one.get("form") == "crm.customers"]
    assert form_page("crm.customers", without) is None
    shown = panel(Viewer(SITE, "en", ENTRIES, EVERYTHING), "crm.customers")
    assert "#/records/crm.customers/${record_id}" in texts(shown)
    assert panel(Viewer(SITE, "en", ENTRIES, EVERYTHING - {"GET /api/v1/crm/customers/{id}"}), "crm.customers") is None


def form_page(name: str, allowed: frozenset[str] = EVERYTHING) -> Node | None:
    """The button that makes a record of a list, with its form."""
    return new_record(Viewer(SITE, "en", ENTRIES, allowed), name)


def test_lines_have_a_tab_where_there_are_some() -> None:
    (tabs,) = [node["tabs"] for node in nodes(WHOLE["a record of finance.invoices"]) if node.get("type") == "tabs"]
    seen = {one["title"]: one.get("visibleOn") for one in tabs}
    assert (seen["Shares"], seen["Details"], seen["Files"]) == ("${billed_items && billed_items.length}", None, None)


def test_empty_fields_of_a_record_are_folded_and_who_made_it_comes_last() -> None:
    page = WHOLE["a record of crm.contracts"]
    shown = [one for one in nodes(page) if one.get("type") == "property" and one.get("column") == 2]
    first = next(
        number for number, one in enumerate(shown) if "all_fields" in str(one)
    )  # an action's answer may be before
    fields, stamps = shown[first : first + 2]
    assert all("all_fields" in item["visibleOn"] for item in fields["items"])
    assert {"creator_name", "created_at"} <= {item["content"]["name"] for item in stamps["items"]}


def test_a_button_says_why_a_field_of_the_record_forbids_its_action() -> None:
    (pay,) = [node for node in nodes(WHOLE["finance.invoice"]) if "paid_elsewhere" in str(node.get("fits"))]
    assert pay["button"]["label"] == "Enter payment"
    assert pay["fits"] == "(status == 'open' || status == 'partly_paid') && !paid_elsewhere"
    assert pay["reason"] == (
        '${paid_elsewhere ? "Enter the payment at the source: the contract, order, invoice or expense claim"'
        ' : "Only in status: Open, Partly paid"}'
    )


def test_what_a_record_is_about_is_shown_by_the_fields_of_its_kind_and_opens() -> None:
    page = WHOLE["a record of approvals.instances"]
    for biz_type, collection in CATALOGUE.biz_types.items():
        (part,) = [one for one in nodes(page) if f"'{biz_type}' &&" in str(one.get("visibleOn"))]
        shown = {one["content"]["name"] for one in nodes(part) if isinstance(one.get("content"), dict)}
        label = collection.label_field
        assert not label or f"record.{label}" in shown, biz_type
    assert "#/records/crm.contracts/${resource_id}" in texts(page)


def test_a_response_that_is_no_record_is_shown() -> None:
    feedback = [node["feedback"] for node in nodes(WHOLE["a record of system.roles"]) if "feedback" in node]
    assert any({"gains", "losses"} <= {one.get("source", "")[2:-1] for one in nodes(shown)} for shown in feedback)
    users = texts([node["feedback"] for node in nodes(WHOLE["a record of system.users"]) if "feedback" in node])
    assert '"name": "password"' in users


def test_what_says_a_code_in_words_is_shown_instead_of_it() -> None:
    rehearsals = [node["feedback"] for node in nodes(WHOLE["a record of system.roles"]) if "feedback" in node]
    for shown, words, codes in (
        (rehearsals, {"permission_names", "row_names"}, {"permissions", "rows"}),
        (WHOLE["finance.audit"], {"title", "number", "message"}, {"check", "resource_id", "collection", "about"}),
        (WHOLE["approval.figure"], {"node_name"}, {"node"}),
        (WHOLE["system.job"], {"title"}, {"name"}),
        (WHOLE["a record of approvals.instances"], {"to_name", "branch"}, set()),
    ):
        names = {
            node.get("name")
            for node in nodes(shown)
            if "tpl" in node or node.get("type") in ("text", "mapping", "each")
        }
        assert words <= names
        assert not codes & names


def test_what_is_counted_by_codes_is_shown_by_their_words() -> None:
    counted = {
        one.get("name"): one["map"] for one in nodes(CHINESE["hrm.attendance"]) if one.get("type") == "named-values"
    }
    assert counted.keys() == {"leave_by_own_type", "leave_hours_by_own_type", "leave_by_type", "leave_minutes_by_type"}
    assert {words["annual"] for words in counted.values()} == {"年假"}


def test_a_rule_from_which_somebody_was_exempt_is_shown_by_what_it_says() -> None:
    shown = [one["map"] for one in nodes(CHINESE["system.operation-log"]) if one.get("of") == "exemption"]
    said = {"own_request": OWN_REQUEST.zh, "named_oneself": NAMES_ONESELF.zh}
    assert [{name: one[name] for name in said} for one in shown] == [said]


def test_the_items_of_a_dictionary_are_made_changed_and_deleted_one_by_one() -> None:
    (items,) = [
        one
        for one in nodes(WHOLE["a record of system.dictionaries"])
        if one.get("type") == "crud" and "items" in str(one.get("id"))
    ]
    sent = {(method, path) for method, path, _ in calls(items)}
    at = "/api/v1/system/dictionaries/1/items"
    assert {("GET", at), ("POST", at), ("PATCH", f"{at}/1"), ("DELETE", f"{at}/1")} <= sent


def test_a_setting_has_a_control_by_its_schema_or_its_labels() -> None:
    form = next(one for one in nodes(WHOLE["system.config"]) if one.get("type") == "form" and "initApi" in one)
    assert form["api"]["url"] == "/api/v1/system/configs/${id | url_encode}"
    (control,) = [one for one in form["body"] if one["name"] == "value"]
    assert [(one["type"], one["visibleOn"]) for one in control["body"]] == [
        ("select", "${schema.enum}"),
        ("json-schema", "${!schema.enum}"),
    ]


def test_the_list_of_settings_shows_their_values_and_no_schema() -> None:
    names = {one.get("name") for one in nodes(WHOLE["system.config"]["body"][0]["columns"])}
    assert {"key", "value", "description"} <= names
    assert "schema" not in names


def test_dashboards_offer_departments_to_permitted_users_only() -> None:
    def offered(allowed: frozenset[str]) -> int:
        page = menu_page(Viewer(SITE, "en", ENTRIES, allowed), "dashboard")
        return sum(one.get("name") == "department_id" and "source" in one for one in nodes(page))

    assert offered(EVERYTHING) == 12
    assert offered(EVERYTHING - set(SITE.writers["departments"])) == 0


def test_a_change_of_a_role_is_rehearsed_in_the_form_that_makes_it() -> None:
    page = WHOLE["a record of system.roles"]
    form = next(node for node in nodes(page) if node.get("type") == "form" and "initApi" in node)
    (rehearsal,) = [node for node in form["body"] if "api" in node]
    assert rehearsal["api"]["url"] == "/api/v1/system/roles/${record_id | url_encode}/rehearse"
    assert set(rehearsal["api"]["data"]) == {node["name"] for node in form["body"] if "name" in node}


def test_what_changes_many_records_at_once_is_rehearsed_in_its_form_and_then_done() -> None:
    (form,) = [
        node
        for node in nodes(WHOLE["system.user"])
        if "/wecom/directory" in str(node.get("api")) and node.get("type") == "form"
    ]
    (rehearsal,) = [node for node in form["body"] if "api" in node]
    assert (rehearsal["api"]["data"]["apply"], form["api"]["data"]["apply"]) == (False, True)
    assert {"departments", "people"} <= {one.get("source", "")[2:-1] for one in nodes(form["feedback"])}


def test_a_history_calls_what_was_decided_at_an_approval_as_approvals_do() -> None:
    (history,) = [one for one in nodes(CHINESE["a record of crm.contracts"]) if "agree" in one.get("map", {})]
    assert (history["map"]["agree"], history["map"]["send-back"]) == ("同意", "退回")


def test_a_list_whose_records_have_no_page_has_their_actions_in_its_rows() -> None:
    page = menu_page(Viewer(SITE, "en", ENTRIES, EVERYTHING), "notifications")
    (acts,) = [node for node in nodes(page) if node.get("type") == "acts"]
    assert [one["button"]["label"] for one in acts["offers"]] == ["Open", "Mark as read", "Confirm", "Delete"]


TEMPLATE = re.compile(r"\$\{(?:[^}|]|\|\|)+\|(?!\|)\s*([^}]+)\}")
OF_DATA = (
    "data",
    "schema",
    "source",
    "trackExpression",
    "url",
)  # these give the renderer data, a series of a chart for example


def test_a_value_that_a_filter_shows_is_text() -> None:
    acting = []
    for name, page in {**WHOLE, **CHINESE}.items():
        for node in nodes(page):
            for place, template in node.items():
                filters = TEMPLATE.findall(template) if isinstance(template, str) and place not in OF_DATA else []
                # lines, or what is left of them, are data of a form
                filters = [one for one in filters if "open:" not in one and "only:" not in one]
                acting += [f"{name}: {template}" for one in filters if not one.endswith("| html")]
    assert acting == []


def test_a_value_in_the_path_of_a_request_is_encoded() -> None:
    raw = [
        f"{name}: {node['url']}"
        for name, page in WHOLE.items()
        for node in nodes(page)
        if re.search(r"\$\{\w+\}", str(node.get("url", "") if "method" in node else "").partition("?")[0])
    ]
    assert raw == []
