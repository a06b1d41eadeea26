"""Checks of what a view adds to pages: components that the renderer has, requests to declared routes, known boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from handlers.catalogue.declarations import View
from handlers.route import Route

_REQUESTS = ("api", "initApi", "source")
_INSIDE = ("body", "tabs", "columns", "controls", "actions")  # where a component holds others
# what amis 6.13 registers, with its aliases; besides these it has `static-…` and an editor of each language
_KNOWN = """
action alert amis anchor-nav app audio avatar barcode breadcrumb button button-group button-group-select
button-toolbar calendar card card-item-field card2 cards carousel cascader-select cell cell-field
chained-select chart chart-radios checkbox checkboxes code collapse collapse-group color column-toggler combo
condition-builder container control crud crud2 custom date date-range datetime dialog divider drawer
dropdown-button each editor field fieldset flex flex-item form formula grid grid-2d grid-nav group hbox hidden
html icon icon-picker icon-select iframe image images input-array input-city input-color input-date
input-date-range input-datetime input-datetime-range input-email input-excel input-file input-formula
input-group input-image input-kv input-kvs input-month input-month-range input-number input-password
input-quarter input-quarter-range input-range input-rating input-repeat input-rich-text input-signature
input-sub-form input-table input-tag input-text input-time input-time-range input-tree input-url
input-verification-code input-year input-year-range json json-schema link list list-item list-item-field
list-select location-picker log map mapping markdown matrix-checkboxes month multi-select multiline-text
native-date native-number native-time nav navigation nested-select number office-viewer operation page pager
pagination pagination-wrapper panel password pdf-viewer picker plain portlet progress property qr-code qrcode
radio radios remark reset search-box select service shape slider sparkline spinner status steps submit switch
switch-container table table-view table2 tabs tabs-transfer tabs-transfer-picker tag tags tasks text textarea
time timeline tooltip-wrapper tpl transfer transfer-picker tree-select users-select uuid vbox video
web-component wizard words wrapper
"""
_OF_LISTS = ("acts", "chips", "counts", "maker", "more", "reference", "trail")  # the console's own, of `lists.js`
# and of `parts.js`
_OF_FORMS = """
attached-files attachments counted days-of-month declared-fields draft file-names flow flow-choices geo-position
importer menu-path named-values percent quorum rich-text stored-file totals
"""
_COMPONENTS = frozenset((*_KNOWN.split(), *_OF_LISTS, *_OF_FORMS.split()))


def page_problems(plugin: str, views: Iterable[View], routes: Sequence[Route]) -> Iterator[str]:
    """Yield a sentence for each part of a page that could never be shown; `routes` are those of all plugins."""
    for view in views:
        where = f"Plugin {plugin}: view of {view.collection.name}"
        named = {f"the widget of {name}": part for name, part in view.widgets.items()}
        named |= {f"the tab {' '.join(heading)}": part for heading, part in view.tabs.items()}
        for name, part in named.items():
            for fault in dict.fromkeys(_faults(part, routes)):
                yield f"{where}: {name} {fault}"
        lists = [route for route in routes if route.method == "GET" and route.collection == view.collection.name]
        if view.boxes and not any(view.boxes in route.query for route in lists):
            yield f"{where} has the boxes {view.boxes}, which is no query parameter of a list of these records."
        for action, begun in view.proposals.items():
            taken = [
                one.body.fields or {} for one in routes if one.path.endswith(f"/{action}") and one.body is not None
            ]
            for name in begun:
                if not any(name in fields for fields in taken):
                    yield f"{where} proposes {name} for the action {action}, which takes no such field."
        for made in view.makes:
            bodies = [one.body.fields or {} for one in routes if one.name == made.route and one.body is not None]
            for name in made.values if bodies else ("a record",):
                if not any(name in fields for fields in bodies):
                    yield f"{where} makes {name} by {made.route}, which takes no such field."
        if view.calendar and not any(f"{view.calendar[0]}_from" in route.query for route in lists):
            yield f"{where} has a calendar of {view.calendar[0]}, by which no list of these records can be filtered."


def _faults(part: object, routes: Sequence[Route]) -> Iterator[str]:
    if isinstance(part, Mapping):
        kind = part.get("type")
        if isinstance(kind, str) and not (kind in _COMPONENTS or kind.startswith("static") or kind.endswith("-editor")):
            near = get_close_matches(kind, _COMPONENTS, 1)
            yield f"has the type {kind}, which the renderer does not know{f'; did you mean {near[0]}?' if near else '.'}"
        for request in (one for name in _REQUESTS if isinstance(one := part.get(name), Mapping)):
            method, url = (str(request.get(name, "")) for name in ("method", "url"))
            if not any(_answers(route, method, url) for route in routes):
                yield f"calls {method.upper()} {url}, which no route answers."
        for name in _INSIDE:
            yield from _faults(part.get(name), routes)
    elif isinstance(part, list | tuple):
        for one in part:
            yield from _faults(one, routes)


def _answers(route: Route, method: str, url: str) -> bool:
    """Return whether a request leads to the route; `${id}` in its address stands for any value."""
    wanted, given = route.path.split("/"), url.partition("?")[0].split("/")
    alike = (one == other or one.startswith("{") for one, other in zip(wanted, given, strict=False))
    return route.method == method.upper() and len(wanted) == len(given) and all(alike)
