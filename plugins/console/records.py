"""The page of one record: its fields, its lines, the lists below it, its files, its history, and its actions."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from plugins.api import Field
from plugins.api.records import ACTION_TITLES
from plugins.console.actions import (
    Offer,
    action_offers,
    acts,
    delete_offer,
    edit_offer,
    form_of,
    making_offers,
    print_button,
    verb_of,
)
from plugins.console.lists import default_columns, listing, months
from plugins.console.nodes import Node, addressed, as_text, call, link, node, page, quoted, rows, tabs
from plugins.console.shown import columns_of, details, figures, grouped, in_some, lines, objects, properties, tables
from plugins.console.site import Subject
from plugins.console.viewer import Viewer

ID = "record_id"  # the shell gives the page this value
PAGE = "record"  # the name by which buttons reload the page
_IN_A_PANEL, _FORMATTED = 12, "formatted"
_PAIR = {"label", "value"}
_NAMES = ({"id", "name"}, {"key", "name"})  # what others refer to, and forms offer


def record_page(viewer: Viewer, subject: Subject) -> Node | None:
    """Return the page of a record, or None if the viewer may not read one."""
    read = subject.read
    if read is None or not viewer.may(read):
        return None
    label = subject.collection.label_field if subject.collection is not None else ""
    titled = viewer.say(viewer.site.title_of(subject))
    title = f"${{{label} || {quoted(titled)}}}" if label else titled  # such as a draft without a number
    buttons = [*_buttons(viewer, subject)]
    flags = {"true": viewer.word("yes"), "false": viewer.word("no")}
    kinds = subject.shape.items()
    view = viewer.site.view_of(subject.collection)
    labels = {
        name: flags if one.kind == "boolean" else viewer.values(one.items or one, name, view) for name, one in kinds
    }
    shown: list[tuple[str, list[Node]]] = [
        (viewer.word("details"), [*_fields(viewer, subject)]),
        *_lines(viewer, subject),
    ]
    shown += _parts(viewer, subject)
    children = [*_children(viewer, subject)]
    shown += [*children, *_files(viewer, subject), *_history(viewer, subject)]
    lists = {title: body[0]["api"] for title, body in shown[1:] if body[0]["type"] == "crud"}
    request = call("GET", addressed(read.path))
    trail = node("trail", menu=viewer.site.menu_of(subject), list=subject.name, path=subject.list.path, name=label)
    trail["title"] = titled
    bar = node("flex", justify="flex-start", items=buttons)
    amounts = {name: True for name, one in subject.shape.items() if one.kind in ("money", "quantity")}
    data = {"labels": {name: one for name, one in labels.items() if one}, "amounts": amounts}
    return page(
        title, trail, bar, tabs(*shown), node("counts", lists=lists), initApi=request, name=PAGE, id=PAGE, data=data
    )


def panel(viewer: Viewer, name: str) -> Node | None:
    """Return what is shown of a record beside another page: its main fields, and a link to its own page."""
    subject = viewer.site.subjects.get(name)
    if subject is None or subject.read is None or not viewer.may(subject.read):
        return None
    view = viewer.site.view_of(subject.collection)
    first = (view.columns if view is not None else ()) or default_columns(viewer, subject)
    order = [one for one in dict.fromkeys((*first, *subject.shape)) if one in subject.shape]
    shown = [*_details(viewer, subject, {one: subject.shape[one] for one in order if one not in viewer.site.stamps})]
    items = [
        {"label": label, "content": one, "visibleOn": _filled(str(one["name"]), subject.shape[name])}
        for name, label, one in shown[:_IN_A_PANEL]
    ]
    opens = link(viewer.word("open_page"), f"#/records/{subject.name}/${{{ID}}}", close=True)
    return node(
        "service", api=call("GET", addressed(subject.read.path)), body=[node("property", column=1, items=items), opens]
    )


def _fields(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    """Yield the fields in their groups. Empty ones are folded, and who made and changed the record comes last."""
    of_another = [*_about(viewer, subject.shape)]
    shape = {name: field for name, field in subject.shape.items() if not of_another or field.kind != "mapping"}
    items: list[tuple[str, Node]] = []
    stamps: list[Node] = []
    for name, label, one in _details(viewer, subject, shape):
        item: Node = {"label": label, "content": one, **({"span": 2} if one["type"] == _FORMATTED else {})}
        if name in viewer.site.stamps:
            stamps.append(item)
        else:
            items.append((name, {**item, "visibleOn": _filled(str(one["name"]), shape[name])}))
    for heading, nodes in grouped(viewer, viewer.site.view_of(subject.collection), items):
        some = " || ".join(str(one["visibleOn"])[2:-1] for one in nodes)
        titled = {"title": heading, "visibleOn": f"${{{some}}}"} if heading else {}
        yield node("property", column=2, items=[*nodes], **titled)
    yield from of_another
    yield from _inner(viewer, subject.shape)
    yield from _pairs(viewer, subject.shape)
    shows = {"actionType": "setValue", "componentId": PAGE, "args": {"value": {"all_fields": True}}}
    click = {"click": {"actions": [shows]}}
    yield node("button", label=viewer.word("empty"), level="link", onEvent=click, visibleOn="${!all_fields}")
    if stamps:
        yield node("more", label=viewer.word("record"), body=[node("property", column=2, items=stamps)])


def _details(viewer: Viewer, subject: Subject, fields: Mapping[str, Field]) -> Iterator[tuple[str, str, Node]]:
    """Yield the fields that are shown as a value; what is edited as text with markup is shown as such."""
    view = viewer.site.view_of(subject.collection)
    own = view.widgets if view is not None else {}
    for name, label, one in details(viewer, fields, (), view):
        formatted = own.get(name, {}).get("type") == "rich-text"
        yield name, label, node(_FORMATTED, name=name) if formatted else one


def _inner(viewer: Viewer, shape: Mapping[str, Field]) -> Iterator[Node]:
    """Yield the fields of the objects in a record, such as the recipients of an announcement."""
    for title, group in [*objects(viewer, shape)][1:]:
        shown = [*details(viewer, group)]
        items = [
            {"label": label, "content": one, "visibleOn": _filled(name, group[name])} for name, label, one in shown
        ]
        if items:
            some = " || ".join(_has_value(name, group[name]) for name, _, _ in shown)
            yield node("container", body=node("property", column=2, title=title, items=items), visibleOn=f"${{{some}}}")


def _pairs(viewer: Viewer, shape: Mapping[str, Field]) -> Iterator[Node]:
    """Yield the lists of labels and values, which show fields that no declaration knows."""
    for name, field, inside in lines(shape):
        if {*inside} == _PAIR:
            body = node(
                "table", title=viewer.label(name, field), source=f"${{{name}}}", columns=columns_of(viewer, inside)
            )
            yield node("container", body=body, visibleOn=f"${{{name} && {name}.length}}")


def _filled(name: str, field: Field) -> str:
    """Return a condition: the value is not empty, or all fields are to be shown."""
    return f"${{{_has_value(name, field)} || all_fields}}"


def _has_value(name: str, field: Field) -> str:
    """Return a formula: the value is not empty."""
    if field.kind == "array":
        return f"({name} && {name}.length > 0)"
    if field.kind == "mapping":
        return f"({name} && ENCODEJSON({name}) != '{{}}')"
    return f"({name} || {name} === 0 || {name} === false)"


def _about(viewer: Viewer, shape: Mapping[str, Field]) -> Iterator[Node]:
    """Yield the record that this one is about: the fields that are kept of it, and a link to its page."""
    if not {"biz_type", "resource_id"} <= shape.keys():
        return
    within = [name for name, field in shape.items() if field.kind == "mapping"]
    for name, biz_type in viewer.site.biz_types.items():
        collection = viewer.site.catalogue.collections[name]
        title = viewer.noun(collection)
        kept = {f"{outer}.{inner}": field for outer in within for inner, field in collection.fields.items()}
        shown: list[Node] = [node("property", column=2, title=title, items=properties(viewer, kept))] if kept else []
        address = viewer.page_of(collection, "${resource_id}")
        shown += [link(f"{viewer.word('open')} · {title}", address)] if address else []
        if shown:
            yield node("container", body=shown, visibleOn=f"${{biz_type == '{biz_type}' && resource_id}}")


def _lines(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    below = {at.rpartition("/")[2]: one for at, one in subject.below.items() if viewer.may(one.list)}
    made = subject.route("POST")
    view = viewer.site.view_of(subject.collection)
    own = view.widgets if view is not None else {}
    flows = {one["name"]: one for one in form_of(viewer, subject, made) if one["type"] == "flow"} if made else {}
    for name, field, inside in lines(subject.shape):
        if {*inside} in (_PAIR, *_NAMES) or own.get(name, {}).get("type") == "hidden":
            continue
        parts = {one: own.get(f"{name}.{one}") for one in inside}
        seen = {
            one: of for one, of in inside.items() if parts[one] != {} and (parts[one] or {}).get("type") != "hidden"
        }
        within = replace(view, widgets={one: of for one, of in parts.items() if of}) if view is not None else None
        columns = [{**one, "visibleOn": in_some(name, str(one["name"]))} for one in columns_of(viewer, seen, within)]
        some = f"${{{name} && {name}.length}}"
        table = node("table", source=f"${{{name}}}", columns=columns, visibleOn=some, columnsTogglable=False)
        if name in flows:
            drawn = {**flows[name], "fixed": True, "label": False}
            table = node("form", wrapWithPanel=False, actions=[], body=[drawn])
        yield viewer.label(name, field), [listing(viewer, below.pop(name)) if name in below else table]
    for one in below.values():
        yield viewer.say(viewer.site.title_of(one)), [listing(viewer, one)]


def _parts(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    """Yield what other routes tell of the record, such as what an amendment would change."""
    for route in subject.parts:
        if viewer.may(route):
            fields = route.returns.fields or {}
            body = [*figures(viewer, fields), *tables(viewer, fields)]
            yield (
                viewer.say(viewer.site.action_title(route)),
                [node("service", api=call("GET", addressed(route.path)), body=body)],
            )


def _children(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    """Yield the lists of records that refer to this one."""
    if subject.collection is None:
        return
    found = [
        (other, name, viewer.say(viewer.site.title_of(other)))
        for other in viewer.site.subjects.values()
        if (name := other.refers_to(subject.collection)) is not None
        and viewer.may(other.list)
        and not viewer.hides(other.fields.get(name))
        and other.collection is not subject.collection
    ]
    known = Counter(title for _, _, title in found)
    for other, name, title in found:
        group = viewer.site.group_of(other) if known[title] > 1 else None  # two menus may have the same title
        named = f"{title} ({viewer.say(group)})" if group is not None else title
        yield named, [listing(viewer, other, {name: f"${{{ID}}}"})]
        yield from ((f"{named} · {word}", body) for word, body in months(viewer, other, name))


def _files(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    biz_type = viewer.site.biz_types.get(subject.collection.name) if subject.collection is not None else None
    files = viewer.site.attachments
    if biz_type is not None and files is not None and viewer.may(files.list):
        yield viewer.word("files"), [node("attachments", biz_type=biz_type)]


def _history(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    route = subject.route("GET", "/{id}/history")
    if route is None or not viewer.may(route):
        return
    # references and states are shown by name, amounts with separators, moments in the business time zone
    made = {name: viewer.say(ACTION_TITLES[name]) for name in ("create", "update", "delete", "restore")}
    made = {**{verb: viewer.say(title) for verb, title in viewer.site.verbs.items()}, **made}
    made |= {verb_of(one): viewer.say(viewer.site.action_title(one)) for one in subject.actions}
    of_labels = "labels[field][{0}] || JOIN(ARRAYMAP({0}, one => labels[field][one] || one), ', ')"
    shows = f"{{0}}_name || (labels[field] && ({of_labels})) || (amounts[field] ? amount({{0}}) : {{0}}) | when"
    values = {one: as_text(shows.format(one)) for one in ("before", "after")}
    shown = {"field": "${label}", **values}
    changes = [node("tpl", name=name, label=viewer.word(name), tpl=text) for name, text in shown.items()]
    columns = [
        node("tpl", name="at", label=viewer.word("at"), tpl=as_text("at | moment"), className="nowrap"),
        node("text", name="user_name", label=viewer.word("by")),
        node("mapping", name="action", label=viewer.word("actions"), map={**made, "*": "${action}"}),
        node("table", name="changes", label=viewer.word("changes"), source="${changes}", columns=changes),
    ]
    yield viewer.word("history"), [rows(call("GET", addressed(route.path)), columns)]


def _buttons(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    removed = {"redirect": f"#/{viewer.site.menu_of(subject)}"}
    offers = [*edit_offer(viewer, subject, ID), *action_offers(viewer, subject, ID), *making_offers(viewer, subject)]
    offers += map(Offer, print_button(viewer, subject.route("GET", "/{id}/print")))
    offers = [replace(one, button={**one.button, "reload": PAGE}) for one in offers]
    yield from acts(viewer, (*offers, *delete_offer(viewer, subject, ID, **removed)))
