"""The page of a menu without lists: what its routes return, as figures and tables, and what else can be done there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plugins.api import Field, Menu, Route
from plugins.console.forms import controls
from plugins.console.lists import PAGED, filter_controls, filter_form
from plugins.console.nodes import Node, call, values_of
from plugins.console.shown import details, lines
from plugins.console.viewer import Viewer

_ROWS = "items"
_OF_PAGES = ("page", "page_size", "cursor", "next_cursor", "total", "format")


def reports(viewer: Viewer, menu: Menu) -> Iterator[tuple[str, list[Node]]]:
    """The reports of a menu that the viewer may see, each with its title."""
    for route in viewer.site.reports_of(menu):
        if viewer.may(route):
            title = viewer.say(viewer.site.catalogue.permission_title(route.access))
            yield title, [*_buttons(viewer, route), *_report(viewer, route)]


def _name_of(route: Route) -> str:
    """By what name the renderer finds the report, to load it anew."""
    return route.path.strip("/").replace("/", "-")


def _report(viewer: Viewer, route: Route) -> Iterator[Node]:
    fields = route.returns.fields or {}
    rows = next((inside for name, _, inside in lines(fields) if name == _ROWS), {})
    asked = [*filter_controls(viewer, route.query, {**fields, **rows}, {})]
    for control in asked:
        _complete(route.query[str(control["name"])], control)
    if "page" in route.query and rows:
        yield _list(viewer, route, asked, rows)
        return
    name = _name_of(route)
    sent = {one for one in route.query if one not in _OF_PAGES}
    shown: list[Node] = [*_figures(viewer, fields), *_tables(viewer, fields)]
    if asked:
        button = {"type": "submit", "label": viewer.word("query"), "level": "primary"}
        yield {"type": "form", "target": name, "wrapWithPanel": False, "mode": "inline", "body": [*asked, button]}
    # what has to be asked for first is
    api = call("GET", route.path, values_of(dict.fromkeys(sorted(sent))))
    yield {"type": "service", "name": name, "id": name, "api": api, "initFetch": not asked, "body": shown}


def _complete(parameter: Field, control: Node) -> None:
    """Mark a control that must have a value; one with a choice begins with the first."""
    options = control.get("options")
    if parameter.required:
        control["required"] = True
    if (parameter.required or parameter.default is not None) and isinstance(options, list):
        control["value"] = parameter.default if parameter.default is not None else options[0]["value"]


def _list(viewer: Viewer, route: Route, asked: list[Node], rows: Mapping[str, Field]) -> Node:
    """A report that is read page by page."""
    fields = {name: field for name, field in (route.returns.fields or {}).items() if name not in route.query}
    return {
        "type": "crud",
        "api": {**call("GET", route.path), **PAGED},
        "syncLocation": False,
        "perPage": 50,
        "filter": filter_form(asked),
        "headerToolbar": [*_figures(viewer, fields)],
        "footerToolbar": ["statistics", "pagination"],
        "columns": _columns(viewer, rows),
    }


def _figures(viewer: Viewer, fields: Mapping[str, Field]) -> Iterator[Node]:
    """The values that are not in a list: those of the response, and those of each object in it."""
    plain = {name: field for name, field in fields.items() if name not in _OF_PAGES}
    groups = [("", plain)]
    objects = {name: (one, one.fields) for name, one in plain.items() if one.fields and one.label is not None}
    groups += [
        (viewer.label(name, one), {f"{name}.{inner}": field for inner, field in fields.items()})
        for name, (one, fields) in objects.items()
    ]
    for title, group in groups:
        items = [{"label": node["label"], "content": _cell(node)} for node in details(viewer, group)]
        if items:
            yield {"type": "property", "column": 2, "items": items, **({"title": title} if title else {})}


def _tables(viewer: Viewer, fields: Mapping[str, Field]) -> Iterator[Node]:
    for name, field, inside in lines(fields):
        columns = _columns(viewer, inside) if field.label is not None else []
        if columns:
            title = viewer.label(name, field)
            yield {"type": "table", "title": title, "source": f"${{{name}}}", "columns": columns}


def _columns(viewer: Viewer, fields: Mapping[str, Field]) -> list[Node]:
    return [{name: part for name, part in node.items() if name != "of"} for node in details(viewer, fields)]


def _cell(node: Node) -> Node:
    return {name: part for name, part in node.items() if name not in ("label", "of")}


def _buttons(viewer: Viewer, route: Route) -> Iterator[Node]:
    """What changes what the report shows: a form for what takes a body, else a button."""
    for one in viewer.site.catalogue.routes:
        here = one.path == route.path or (one.path.startswith(f"{route.path}/") and not one.parameters)
        if here and one.writes and one.bare is None and viewer.may(one):
            title = viewer.say(viewer.site.catalogue.permission_title(one.access))
            if one.body is None:
                api, sure = call(one.method, one.path), viewer.word("sure", action=title)
                button = {"type": "button", "label": title, "actionType": "ajax", "api": api, "confirmText": sure}
                yield {**button, "reload": _name_of(route)}
            else:
                body = controls(viewer, one.body, route.returns.fields or {})
                form = {"type": "form", "mode": "horizontal", "body": body, "api": call(one.method, one.path)}
                opened = {"title": title, "size": "lg", "body": {**form, "initApi": call("GET", route.path)}}
                button = {"type": "button", "label": title, "actionType": "drawer", "drawer": opened}
                yield {**button, "reload": _name_of(route)}
