"""The page of a list: search, filters, columns, pages, and what can be done with the list and with its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plugins.api import ACTION_TITLES, Field, Route
from plugins.console.forms import choices, controls, picker
from plugins.console.nodes import Node, call, values_of
from plugins.console.shown import columns
from plugins.console.site import Subject
from plugins.console.viewer import Viewer

_PAGING = ("page", "page_size", "sort", "with_total", "cursor", "q", "deleted", "format")
PAGED = {"forceAppendDataToQuery": True}  # page and filters, also where the address has variables
_PAGE_SIZES = (20, 50, 100, 200)


def listing(viewer: Viewer, subject: Subject, fixed: Mapping[str, str] | None = None) -> Node:
    """The list, with what the viewer may do; `fixed` are parameters that it always sends."""
    fixed = fixed or {}
    query = "&".join(f"{name}={value}" for name, value in fixed.items())
    view = viewer.site.view_of(subject.collection)
    shown = [*columns(viewer, subject.fields, view.columns if view is not None else ())]
    buttons = [*_row_buttons(viewer, subject)]
    if buttons:
        shown.append({"type": "operation", "label": viewer.word("actions"), "fixed": "right", "buttons": buttons})
    filters = [*filter_controls(viewer, subject.list.query, subject.fields, fixed)]
    return {
        "type": "crud",
        "id": subject.name,
        "api": _request(subject, f"{subject.list.path}?{query}" if query else subject.list.path),
        "columns": shown,
        "columnsTogglable": True,
        "syncLocation": False,
        "perPage": _PAGE_SIZES[0],
        "perPageAvailable": list(_PAGE_SIZES),
        "headerToolbar": [
            *_toolbar(viewer, subject, fixed),
            *(["filter-toggler"] if filters else []),
            "columns-toggler",
        ],
        "footerToolbar": ["statistics", "pagination", "switch-per-page"] if not subject.tree else [],
        **({"loadDataOnce": True, "expandConfig": {"expand": "first"}} if subject.tree else {}),
        **({"filter": filter_form(filters), "filterTogglable": True, "filterDefaultVisible": False} if filters else {}),
    }


def filter_form(body: list[Node]) -> Node:
    """The form of the filters of a list."""
    return {"title": "", "mode": "horizontal", "body": body}


def _request(subject: Subject, address: str) -> Node:
    """The request of a list. A tree is one response: it has no pages to ask for."""
    return call("GET", address, {}) if subject.tree else {**call("GET", address), **PAGED}


def form_button(
    viewer: Viewer, title: str, route: Route, subject: Subject, path: str, *, knows: Mapping[str, str], **more: object
) -> Node:
    """A button with a form of the body of a route. The form knows these values of what is around it, and no others."""
    shape = route.body
    view = viewer.site.view_of(subject.collection)
    body = [] if shape is None else controls(viewer, shape, subject.fields, view)
    form: Node = {"type": "form", "api": call(route.method, path), "body": body, "mode": "horizontal", **more}
    drawer = {"title": title, "size": "lg", "closeOnEsc": True, "data": dict(knows), "body": form}
    return {"type": "button", "label": title, "actionType": "drawer", "drawer": drawer}


def edit_button(viewer: Viewer, subject: Subject, id: str = "id") -> Node | None:
    """The button that changes a record, which the form reads anew; None where the viewer may not."""
    update, read = subject.route("PATCH", "/{id}"), subject.read
    if update is None or not viewer.may(update) or not viewer.may(read):
        return None
    path, title = update.path.replace("{id}", f"${{{id}}}"), viewer.say(ACTION_TITLES["update"])
    return form_button(viewer, title, update, subject, path, knows={id: f"${{{id}}}"}, initApi=call("GET", path))


def delete_button(viewer: Viewer, subject: Subject, id: str = "id") -> Node | None:
    """The button that deletes a record, as of the version that is shown; None where the viewer may not."""
    delete = subject.route("DELETE", "/{id}")
    if delete is None or not viewer.may(delete):
        return None
    path = delete.path.replace("{id}", f"${{{id}}}")
    request = call("DELETE", f"{path}?version=${{version}}" if "version" in delete.query else path)
    title = viewer.say(ACTION_TITLES["delete"])
    asked = {"confirmText": viewer.word("delete?"), "level": "danger"}
    return {"type": "button", "label": title, "actionType": "ajax", "api": request, **asked}


def _row_buttons(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    if viewer.may(subject.read):
        link = f"#/records/{subject.name}/${{id}}"
        yield {
            "type": "button",
            "label": viewer.word("open"),
            "level": "link",
            "actionType": "url",
            "url": link,
            "blank": False,
        }
    for button in (edit_button(viewer, subject), delete_button(viewer, subject)):
        if button is not None:
            yield {**button, "level": "link"}


def _toolbar(viewer: Viewer, subject: Subject, fixed: Mapping[str, str]) -> Iterator[Node]:
    create, export = subject.route("POST"), subject.route("GET", "/export")
    if create is not None and viewer.may(create) and create.body is not None:
        title = viewer.say(ACTION_TITLES["create"])
        yield {**form_button(viewer, title, create, subject, create.path, knows=fixed), "level": "primary"}
    if export is not None and viewer.may(export):
        sent_too = {name: one for name, one in subject.list.query.items() if name in export.query}
        data = {**values_of(sent_too), **fixed, "format": "xlsx", "headers": "labels"}
        request = {**call("GET", export.path, data), "responseType": "blob"}
        yield {"type": "button", "label": viewer.say(ACTION_TITLES["export"]), "actionType": "download", "api": request}
    yield from _import(viewer, subject)
    if "q" in subject.list.query:
        yield {
            "type": "search-box",
            "name": "q",
            "placeholder": viewer.word("search"),
            "align": "right",
            "clearable": True,
        }


def _import(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    route, template = subject.route("POST", "/import"), subject.route("GET", "/template")
    if route is None or not viewer.may(route):
        return
    title = viewer.say(ACTION_TITLES["import"])
    body: list[Node] = [
        {
            "type": "input-file",
            "name": "file",
            "label": viewer.word("file"),
            "accept": ".csv,.xlsx",
            "asBlob": True,
            "required": True,
        },
        {"type": "switch", "name": "dry_run", "label": viewer.word("dry_run"), "value": True},
        {"type": "hidden", "name": "headers", "value": "labels"},
    ]
    if template is not None and viewer.may(template):
        request = {**call("GET", template.path, {"format": "xlsx", "headers": "labels"}), "responseType": "blob"}
        body.append({"type": "button", "label": viewer.word("template"), "actionType": "download", "api": request})
    done = {"title": viewer.word("result"), "body": {"type": "tpl", "tpl": viewer.word("done")}}
    api = {**call("POST", route.path, values_of({"file": 0, "dry_run": 0, "headers": 0})), "dataType": "form-data"}
    form = {"type": "form", "api": api, "body": body, "feedback": done, "mode": "horizontal"}
    yield {"type": "button", "label": title, "actionType": "dialog", "dialog": {"title": title, "body": form}}


def filter_controls(
    viewer: Viewer, query: Mapping[str, Field], fields: Mapping[str, Field], fixed: Mapping[str, str]
) -> Iterator[Node]:
    """A control for each parameter that filters; the two ends of a range of days are one. `fields` are what it shows."""
    for name, parameter in query.items():
        if name in _PAGING or name in fixed or (name.endswith("_to") and f"{name[:-3]}_from" in query):
            continue
        base = name.removesuffix("_from")
        field = fields.get(name) or fields.get(base)
        made = _filter(viewer, name, parameter, field, ranged=f"{base}_to" in query)
        if made is not None:
            yield {"name": name, "label": viewer.label(base, field or parameter), "clearable": True, **made}


def _filter(viewer: Viewer, name: str, parameter: Field, field: Field | None, *, ranged: bool) -> Node | None:
    if ranged and parameter.kind in ("day", "timestamp"):
        end = f"{name.removesuffix('_from')}_to"
        moments = {"valueFormat": "YYYY-MM-DDTHH:mm:ss[Z]", "utc": True}
        given = {"valueFormat": "YYYY-MM-DD"} if parameter.kind == "day" else moments
        return {"type": "input-date-range", "extraName": end, **given}
    target = field.ref or (field.items.ref if field.items is not None else None) if field is not None else None
    several = parameter.kind == "array"
    if target:
        return {**picker(viewer, name, target), "multiple": several} if viewer.may_pick(target) else None
    kept = field if field is not None and field.kind != "array" else (field.items if field is not None else None)
    if labels := viewer.values(kept or parameter):
        return {**choices(labels), "multiple": several}
    if parameter.kind == "boolean":
        return choices({"true": viewer.word("yes"), "false": viewer.word("no")})
    if parameter.kind == "day":
        return {"type": "input-date", "valueFormat": "YYYY-MM-DD"}
    return {"type": "input-text"} if parameter.kind in ("text", "integer") else None
