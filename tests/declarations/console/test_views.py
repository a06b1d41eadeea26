"""Views: what a plugin says of its pages besides its fields, shown at the example of docs/how-to/plugins.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from handlers.catalogue.declarations import Catalogue, View
from handlers.schema.messages import Language, Message
from plugins.boot.registry import freeze, load_plugins
from plugins.console.nodes import Node
from plugins.console.pages import menu_page
from plugins.console.records import record_page
from plugins.console.site import Site
from plugins.console.viewer import Viewer
from plugins.plugin import Plugin
from tests.browser.walk import nodes, texts
from tests.support.readme import PLUGINS, example, example_plugins

MOST_LINES = 20
API = {"method": "get", "url": "/api/v1/acme/agreements/${id}"}


def catalogue_with(tabs: Mapping[tuple[str, str], Node]) -> Catalogue:
    """The built-in plugins and the example, with these tabs."""
    acme, _ = example_plugins()
    return freeze([*load_plugins(()), replace(acme, views=(View(acme.collections[0], tabs=tabs),))])


def viewer_of(catalogue: Catalogue, language: Language = "en", lost: str = "") -> Viewer:
    allowed = frozenset(one.name for one in catalogue.routes if one.name != lost)
    return Viewer(Site(catalogue), language, {}, allowed)


def page_of(viewer: Viewer) -> Node:
    page = menu_page(viewer, "acme")
    assert page is not None
    return page


@pytest.fixture(scope="module")
def viewer() -> Viewer:
    names: dict[str, object] = {}
    for heading in ("## A complete plugin", "## The console"):
        exec(example(PLUGINS, heading), names)
    written = [one for one in (names["plugin"], names["pages"]) if isinstance(one, Plugin)]
    assert len(written) == 2
    return viewer_of(freeze([*load_plugins(()), *written]))


def test_the_example_is_short() -> None:
    lines = [line for line in example(PLUGINS, "## The console").splitlines() if line]
    assert len(lines) <= MOST_LINES


def test_a_list_shows_its_columns_first_and_in_their_order(viewer: Viewer) -> None:
    (crud,) = [node for node in nodes(page_of(viewer)) if node.get("type") == "crud"]
    shown = [column["name"] for column in crud["columns"] if column.get("toggled", True) and "name" in column]
    assert shown == ["number", "amount", "status"]


def test_a_form_has_its_groups_and_widgets(viewer: Viewer) -> None:
    form = next(node for node in nodes(page_of(viewer)) if node.get("type") == "form" and "initApi" in node)
    groups = {node["title"]: [one["name"] for one in node["body"]] for node in form["body"] if "title" in node}
    assert groups == {"Agreement": ["number", "customer_id"], "Price": ["amount"]}
    (amount,) = [node for node in nodes(form) if node.get("name") == "amount"]
    assert (amount["type"], amount["label"]) == ("input-number", "Amount")


def test_a_folded_group_comes_last_in_a_form_and_is_closed(viewer: Viewer) -> None:
    page = menu_page(viewer, "inventory.supplier")
    form = next(node for node in nodes(page) if node.get("type") == "form" and "initApi" in node)
    (group,) = [node for node in form["body"] if node.get("type") == "fieldset"]
    assert (group["collapsable"], group["collapsed"], group is form["body"][-1]) == (True, True, True)
    assert [one["name"] for one in group["body"]][:2] == ["terms_from", "instalments"]


def test_a_record_has_its_groups_and_then_the_rest(viewer: Viewer) -> None:
    page = record_page(viewer, viewer.site.subjects["acme.agreements"])
    details = next(node for node in nodes(page) if node.get("type") == "tabs")["tabs"][0]["body"]
    headings = [node.get("title") for node in details if node.get("type") == "property"]
    assert headings == ["Agreement", "Price", None]


def test_a_tab_is_in_the_language_of_the_reader(viewer: Viewer) -> None:
    assert "Signed is final" in texts(page_of(viewer))
    assert "签署后不可修改" in texts(page_of(replace(viewer, language="zh")))


def test_a_part_that_calls_what_the_reader_may_not_is_left_out() -> None:
    calling: Node = {"type": "service", "api": API}
    inside: Node = {"type": "wrapper", "body": [calling, {"type": "alert", "body": Message("一", "One")}]}
    catalogue = catalogue_with({("甲", "First"): calling, ("乙", "Second"): inside})
    assert texts(page_of(viewer_of(catalogue))).count('"service"') == 2
    lost = texts(page_of(viewer_of(catalogue, lost="GET /api/v1/acme/agreements/{id}")))
    assert '"service"' not in lost
    assert '"First"' not in lost
    assert '"One"' in lost
