"""The page of a menu without lists: the responses of its routes as figures and tables, and the actions on them."""

from collections.abc import Iterator, Mapping

from plugins.api import Field, Menu, Message, Route
from plugins.console.actions import drawer, export_button, print_button, question
from plugins.console.forms import choices, controls
from plugins.console.lists import FILTER, filter_controls
from plugins.console.nodes import Node, call, node, rows, values_of
from plugins.console.shown import OF_PAGES, columns_of, figures, lines, tables, tiles
from plugins.console.viewer import Viewer

_REQUEST = ("method", "path")  # parameters that name a request together
_CHOSEN = {"method": "${SPLIT(request, ' ')[0]}", "path": "${SPLIT(request, ' ')[1]}"}


def reports(viewer: Viewer, menu: Menu) -> Iterator[tuple[str, list[Node]]]:
    """Yield the reports of a menu that the viewer may see, each with its title."""
    for route in viewer.site.reports_of(menu):
        if viewer.may(route):
            declared = viewer.site.catalogue.permission_title(route.access)
            title = viewer.say(Message(*route.title) if route.title is not None else declared)
            name = route.path.strip("/").replace("/", "-")  # the name by which the renderer reloads it
            yield title, [*_buttons(viewer, route, name), *_report(viewer, route, name)]


def _report(viewer: Viewer, route: Route, name: str) -> Iterator[Node]:
    fields = route.returns.fields or {}
    listed = next((inside for name, _, inside in lines(fields) if name == "items"), {})
    asked = [*filter_controls(viewer, route.query, {**fields, **listed}, {})]
    for control in asked:
        _complete(route.query[str(control["name"])], control)
    if "page" in route.query and listed:
        yield _list(viewer, route, asked, listed)
        return
    sent = values_of(dict.fromkeys(sorted(one for one in route.query if one not in OF_PAGES)))
    if all(name in route.query and route.query[name].required for name in _REQUEST):
        asked = [one for one in asked if one["name"] not in _REQUEST]
        asked.insert(1, _request_picker(viewer))
        sent |= _CHOSEN
    shown: list[Node] = [*figures(viewer, fields), *tables(viewer, fields)]
    if asked:
        button = node("submit", label=viewer.word("query"), level="primary")
        paper, table = (viewer.site.called("GET", f"{route.path}/{one}") for one in ("print", "export"))
        files = (*print_button(viewer, paper, sent), *export_button(viewer, table, sent))
        yield node("form", target=name, wrapWithPanel=False, mode="inline", body=[*asked, button, *files])
    # with a form, nothing is loaded before the form is sent
    api = {**call("GET", route.path, sent), "responseData": {"&": "$$", "shown": True}}
    found = node("container", body=shown, visibleOn="${shown}")
    hint = node("alert", level="info", body=viewer.word("ask"), visibleOn="${!shown}")
    yield node("service", name=name, id=name, api=api, initFetch=not asked, body=[hint, found] if asked else shown)


def _complete(parameter: Field, control: Node) -> None:
    """Mark a control that must have a value; one with options starts with the default or the first."""
    options = control.get("options")
    if parameter.required:
        control["required"] = True
    if (parameter.required or parameter.default is not None) and isinstance(options, list):
        control["value"] = parameter.default if parameter.default is not None else options[0]["value"]


def _list(viewer: Viewer, route: Route, asked: list[Node], inside: Mapping[str, Field]) -> Node:
    """Return a report that is read page by page."""
    fields = {name: field for name, field in (route.returns.fields or {}).items() if name not in route.query}
    sent = values_of(dict.fromkeys(sorted(one for one in route.query if one not in OF_PAGES)))
    table = viewer.site.called("GET", f"{route.path}/export")
    head = {
        "filter": {**FILTER, "body": asked, "actions": []},
        "headerToolbar": [tiles(viewer, fields), *export_button(viewer, table, sent)],
        "perPage": 50,
        "affixHeader": False,
    }
    return rows(call("GET", route.path), columns_of(viewer, inside), **head)


def _buttons(viewer: Viewer, route: Route, name: str) -> Iterator[Node]:
    """Yield the buttons that change what the report shows: a form for routes with a body, else a plain button."""
    for one in viewer.site.catalogue.routes:
        here = one.path == route.path or (one.path.startswith(f"{route.path}/") and not one.parameters)
        if here and one.writes and one.bare is None and viewer.may(one):
            title = viewer.say(viewer.site.catalogue.permission_title(one.access))
            api, sure = call(one.method, one.path), node("tpl", tpl=viewer.word("sure", action=title))
            button = question(viewer, title, node("form", api=api, body=[sure]), title)
            if one.body is not None:
                body = controls(viewer, one.body, route.returns.fields or {})
                button = drawer(title, api, body, {}, initApi=call("GET", route.path))
            yield {**button, "reload": name}


def _request_picker(viewer: Viewer) -> Node:
    """Return a control that chooses a request by its page and what is done there. `_CHOSEN` sends what was chosen."""
    label = f"{viewer.word('page')} / {viewer.word('actions')}"
    labels = choices(dict(_requests(viewer)))
    return {**labels, "name": "request", "label": label, "required": True, "size": "lg"}


def _requests(viewer: Viewer) -> Iterator[tuple[str, str]]:
    """Yield a request for each permission with its title, in the order of the menus."""
    menus = viewer.site.menus
    groups = {code: menus.get(menu.parent) for code, menu in menus.items()}
    order = {code: (group.order if group is not None else menus[code].order) for code, group in groups.items()}
    for menu in sorted(menus.values(), key=lambda one: (order[one.code], one.parent, one.order)):
        routes = [one for one in viewer.site.catalogue.routes if _allows(menu, one)]
        # one request for each permission, as they are allowed together
        for one in {one.access: one for one in reversed(routes)}.values():
            done = viewer.say(viewer.site.catalogue.permission_title(one.access))
            yield one.name, f"{viewer.menu_title(menu)} › {done}"


def _allows(menu: Menu, route: Route) -> bool:
    return bool(menu.resource) and route.access.rpartition(":")[0] == menu.resource and not route.socket
