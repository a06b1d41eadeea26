"""The page of one record: its fields, its lines, what hangs below it, its files, its history, and its actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from plugins.api import ACTION_TITLES, Route, transitions_of
from plugins.console.lists import delete_button, edit_button, form_button, listing
from plugins.console.nodes import Node, call, page, tabs
from plugins.console.shown import details, grouped, lines
from plugins.console.site import Subject
from plugins.console.viewer import Viewer

ID = "record_id"  # what the shell gives the page
PAGE = "record"  # what its buttons load anew


def record_page(viewer: Viewer, subject: Subject) -> Node | None:
    """The page of a record; None where the viewer may read none."""
    read = subject.read
    if read is None or not viewer.may(read):
        return None
    label = subject.collection.label_field if subject.collection is not None else ""
    title = f"${{{label}}}" if label else viewer.word("details")
    buttons = [*_buttons(viewer, subject)]
    shown: list[tuple[str, list[Node]]] = [
        (viewer.word("details"), [*_fields(viewer, subject)]),
        *_lines(viewer, subject),
    ]
    shown += [*_children(viewer, subject), *_files(viewer, subject), *_history(viewer, subject)]
    request = call("GET", read.path.replace("{id}", f"${{{ID}}}"))
    return page(
        title, {"type": "flex", "justify": "flex-start", "items": buttons}, tabs(*shown), initApi=request, name=PAGE
    )


def _fields(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    shape = subject.read.returns.fields if subject.read is not None else None
    items: list[tuple[str, Node]] = []
    for node in details(viewer, shape or {}):
        label, name = node.pop("label"), str(node.pop("of"))
        items.append((name, {"label": label, "content": node}))
    for heading, nodes in grouped(viewer, viewer.site.view_of(subject.collection), items):
        yield {"type": "property", "column": 2, "items": [*nodes], **({"title": heading} if heading else {})}


def _lines(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    shape = subject.read.returns.fields if subject.read is not None else None
    for name, field, inside in lines(shape or {}):
        columns = [{key: part for key, part in node.items() if key != "of"} for node in details(viewer, inside)]
        yield viewer.label(name, field), [{"type": "table", "source": f"${{{name}}}", "columns": columns}]


def _children(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    """The lists of what refers to the record."""
    if subject.collection is None:
        return
    found = [
        (other, name, viewer.say(viewer.site.title_of(other)))
        for other in viewer.site.subjects.values()
        if (name := other.refers_to(subject.collection)) is not None
        and viewer.may(other.list)
        and other.collection is not subject.collection
    ]
    known = Counter(title for _, _, title in found)
    for other, name, title in found:
        group = viewer.site.group_of(other) if known[title] > 1 else None  # payments of contracts, and of finance
        named = f"{title} ({viewer.say(group)})" if group is not None else title
        yield named, [listing(viewer, other, {name: f"${{{ID}}}"})]


def _files(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    biz_type = viewer.site.biz_types.get(subject.collection.name) if subject.collection is not None else None
    files = viewer.site.attachments
    if biz_type is not None and files is not None and viewer.may(files.list):
        yield viewer.word("files"), [listing(viewer, files, {"biz_type": biz_type, "resource_id": f"${{{ID}}}"})]


def _history(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    route = subject.route("GET", "/{id}/history")
    if route is None or not viewer.may(route):
        return
    changes = [_text(viewer, "field", "label"), _text(viewer, "before", "before"), _text(viewer, "after", "after")]
    columns: list[Node] = [
        {"name": "at", "label": viewer.word("at"), "type": "tpl", "tpl": "${at | moment}"},
        {"name": "user_name", "label": viewer.word("by"), "type": "text"},
        {"name": "action", "label": viewer.word("actions"), "type": "mapping", "map": _made(viewer, subject)},
        {
            "name": "changes",
            "label": viewer.word("changes"),
            "type": "table",
            "source": "${changes}",
            "columns": changes,
        },
    ]
    api = call("GET", route.path.replace("{id}", f"${{{ID}}}"))
    yield (
        viewer.word("history"),
        [{"type": "crud", "api": api, "columns": columns, "syncLocation": False, "perPage": 20}],
    )


def _made(viewer: Viewer, subject: Subject) -> Node:
    """What people call the actions that a history names."""
    known = {name: viewer.say(ACTION_TITLES[name]) for name in ("create", "update", "delete", "restore")}
    return {
        **known,
        **{_verb(route): viewer.say(viewer.site.action_title(route)) for route in subject.actions},
        "*": "${action}",
    }


def _verb(route: Route) -> str:
    return route.action or route.path.rpartition("/")[2]


def _text(viewer: Viewer, word: str, name: str) -> Node:
    return {"name": name, "label": viewer.word(word), "type": "tpl", "tpl": f"${{{name} | text}}"}


def _buttons(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    edit, delete = edit_button(viewer, subject, ID), delete_button(viewer, subject, ID)
    if edit is not None:
        yield {**edit, "reload": PAGE}
    for route in subject.actions:
        if viewer.may(route):
            yield _action(viewer, subject, route)
    if delete is not None:
        yield {**delete, "redirect": f"#/{viewer.site.menu_of(subject)}"}


def _action(viewer: Viewer, subject: Subject, route: Route) -> Node:
    """The button of an action. In a state that does not allow it, it says in which it would be possible."""
    title = viewer.say(viewer.site.action_title(route))
    path = route.path.replace("{id}", f"${{{ID}}}")
    asks = [name for name in (route.body.fields or {}) if name != "version"] if route.body is not None else []
    made: Node
    if asks:
        knows = {ID: f"${{{ID}}}", "version": "${version}"}
        made = form_button(viewer, title, route, subject, path, knows=knows)
    else:
        data = {"version": "${version}"} if route.body is not None and "version" in (route.body.fields or {}) else {}
        sure = viewer.word("sure", action=title)
        made = {
            "type": "button",
            "label": title,
            "actionType": "ajax",
            "api": call(route.method, path, data),
            "confirmText": sure,
        }
    return {**made, "reload": PAGE, **_where(viewer, subject, route)}


def _where(viewer: Viewer, subject: Subject, route: Route) -> Node:
    machine = subject.collection.states if subject.collection is not None else None
    names = transitions_of(route, subject.collection) if subject.collection is not None else ()
    if machine is None or not names:
        return {}
    sources = [state for state in machine.states if any(state in machine.transitions[name].sources for name in names)]
    allowed = " || ".join(f"{machine.field} == '{state}'" for state in sources)
    states = "、" if viewer.language == "zh" else ", "
    said = viewer.word("only_in", states=states.join(viewer.say(machine.states[state]) for state in sources))
    return {"disabledOn": f"${{!({allowed})}}", "disabledTip": said}
