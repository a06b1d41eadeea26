"""Forms: the control for each field of a body."""

import re
from collections.abc import Iterator, Mapping, Sequence

from plugins.api import Field, Message, Route, View
from plugins.api.fields import takes_file
from plugins.console.line_tables import table, totals
from plugins.console.nodes import Node, as_text, call, node
from plugins.console.shown import filter_of, grouped
from plugins.console.viewer import Viewer

OPTIONS = "/api/v1/meta/options/{collection}"
_LONG, _FEW = 500, 20
# the formats in which dates are sent; moments with the offset of the business time zone, in which they are chosen
DAY, MONTH, MOMENT = "YYYY-MM-DD", "YYYY-MM", "YYYY-MM-DDTHH:mm:ss.SSSZ"
_MONTHS = ("2026-11", "2026-13")  # what the pattern of a month takes, and what it does not
_FOLDED: Node = {"collapsable": True, "collapsed": True}
_PLAIN: Mapping[str, Node] = {
    "integer": {"type": "input-number", "precision": 0},
    "number": {"type": "input-number"},
    "money": {"type": "input-text", "validations": {"isNumeric": True}},
    "quantity": {"type": "input-text", "validations": {"isNumeric": True}},
    "day": {"type": "input-date", "valueFormat": DAY},
    "timestamp": {
        "type": "input-datetime",
        "inputFormat": "YYYY-MM-DD HH:mm",
        "timeFormat": "HH:mm",
        "valueFormat": MOMENT,
    },
    "object_id": {"type": "input-text"},
}


def controls(viewer: Viewer, shape: Field, labelled: Mapping[str, Field], view: View | None = None) -> list[Node]:
    """Return the controls of a body; `labelled` are the record's fields, for the labels that the body itself lacks."""
    widgets = view.widgets.items() if view is not None else ()
    own = {name: {part: viewer.said(one) for part, one in parts.items()} for name, parts in widgets}
    fields = shape.fields or {}
    made = [_own(one, own, fields.get(str(one["name"]))) for one in _controls(viewer, fields, labelled)]
    with_control = {str(one["name"]) for one in made}
    for name, field in fields.items():
        if name in own and name not in with_control and not field.read_only:  # such as JSON of any shape
            made.append({"name": name, "label": viewer.label(name, field), **own[name]})
    known = _known(viewer, [*fields], made)
    parts = [*grouped(viewer, view, [(str(one["name"]), {**one, **known.get(str(one["type"]), {})}) for one in made])]
    alone = sum(len(nodes) for heading, nodes in parts if heading) == 1  # one control needs no heading
    folded = {viewer.say(Message(*heading)) for heading in (view.folded if view is not None else ())}
    below = (
        [node("fieldset", title=heading, body=[*nodes], **(_FOLDED if heading in folded else {}))]
        if heading and (not alone or heading in folded)
        else nodes
        for heading, nodes in parts
    )
    return [*(one for nodes in below for one in nodes), *totals(viewer, shape, made)]


def _known(viewer: Viewer, names: Sequence[str], made: Sequence[Node]) -> Mapping[str, Node]:
    """Return what controls know of their form, with fields of these names, and of the console, by their types."""
    pages = {menu.path: viewer.menu_title(menu) for menu in viewer.site.menus.values() if menu.resource and menu.path}
    around = {str(one["name"]): one for one in made if one["type"] == "hidden"}
    return {
        "flow": {"parts": around, "kinds": _PLAIN},  # it edits what stands around its nodes, too
        "declared-fields": {"kinds": _PLAIN},
        "menu-path": {**choices(pages), "clearable": True},
        "geo-position": {"beside": names, "fixed": "fix_at" in names},  # evidence of a place is not typed
    }


def _own(control: Node, own: Mapping[str, Mapping[str, object]], field: Field | None) -> Node:
    """Return the control of a field with what a view replaces of it, and of the controls within it."""
    name = str(control["name"])
    made, items = {**control, **own.get(name, {})}, control.get("items")
    inner = {of.removeprefix(f"{name}."): parts for of, parts in own.items() if of.startswith(f"{name}.")}
    if inner and isinstance(items, list):
        unseen = {of for of, parts in inner.items() if not parts}
        known = [{**one, **inner.pop(str(one.get("name")), {})} for one in items if one.get("name") not in unseen]
        asked = field.items.fields if field is not None and field.items is not None else None
        further = ({"name": of, **parts} for of, parts in inner.items() if parts and of in (asked or {}))
        made["items"] = [*known, *further]  # such as JSON of any shape
    return made


def picker(viewer: Viewer, name: str, target: str) -> Node:
    """Return a control that chooses a record of a collection; `chosen` keeps the current record among the options."""
    path = OPTIONS.replace("{collection}", target)
    source = call("GET", f"{path}?q=${{term}}&chosen=${{{name}}}")
    chosen = {"joinValues": False, "extractValue": True}
    return node("select", source=source, autoComplete=source, labelField="name", valueField="id", **chosen)


def ticks(viewer: Viewer, tree: Route) -> Node:
    """Return a control that ticks records of a tree; a branch ticks what is below it, which can be unticked."""
    collection = viewer.site.catalogue.collections[tree.collection]
    name = collection.label_field
    english = f"{name}_en" if viewer.language == "en" and f"{name}_en" in collection.fields else name
    text = as_text(f"{english} || {name} | text")
    below = {"autoCheckChildren": True, "cascade": True, "initiallyOpen": False, "showIcon": False}
    of_record = {"labelField": english, "menuTpl": text, "valueField": "id", "joinValues": False, "extractValue": True}
    return node("input-tree", source=call("GET", tree.path), multiple=True, searchable=True, **below, **of_record)


def _making(viewer: Viewer, name: str, target: str, **more: object) -> Node:
    """Return what lets a picker make a record too, if the viewer may: the list whose form is opened."""
    for one, collection in viewer.site.lists_of(target):
        create = one.route("POST")
        if create is not None and create.body is not None and viewer.may(create):
            label = viewer.word("new", noun=viewer.say(Message(*collection.noun)))
            button = node("maker", form=one.name, label=label, name=name, **more)
            return {"creatable": True, "createBtnLabel": label, "description": button}
    return {}


def choices(labels: Mapping[str, str]) -> Node:
    """Return a control that chooses one of several values; many of them can be searched."""
    options = [{"value": value, "label": label} for value, label in labels.items()]
    searched = {"searchable": True} if len(options) > _FEW else {}
    return node("select", options=options, joinValues=False, extractValue=True, **searched)


def _controls(viewer: Viewer, fields: Mapping[str, Field], labelled: Mapping[str, Field]) -> Iterator[Node]:
    for name, field in fields.items():
        if name == "version":
            yield {"type": "hidden", "name": name}
        by_schema = field.kind == "any" and "schema" in labelled
        if name == "version" or field.read_only or viewer.hides(field) or not (_shown(field) or by_schema):
            continue
        label = viewer.label(name, field if field.label is not None else labelled.get(name, field))
        control = _of_schema(labelled, name, label) if by_schema else _control(viewer, name, field)
        made = {**control, "name": name, "label": label}
        if field.required:
            made["required"] = True
        if field.default is not None:
            made["value"] = field.default
        yield made


def _of_schema(labelled: Mapping[str, Field], name: str, label: str) -> Node:
    """Return the control for a value whose schema is in the record itself, perhaps with the labels of its choices."""
    said = {"description": as_text("description | text")} if "description" in labelled else {}
    typed: Node = {"type": "json-schema", "schema": "${schema | schema}", **said}
    if "labels" not in labelled:
        return typed
    chosen: Node = {
        "type": "select",
        "source": "${labels | choices}",
        "joinValues": False,
        "extractValue": True,
        **said,
    }
    both = ({**chosen, "visibleOn": "${schema.enum}"}, {**typed, "visibleOn": "${!schema.enum}"})
    return {"type": "container", "body": [{**one, "name": name, "label": label, "required": True} for one in both]}


def _shown(field: Field) -> bool:
    """Return whether a form has a control for the field: JSON of any shape has none."""
    inside = field.items if field.kind == "array" else field
    return inside is not None and inside.kind not in ("any", "mapping", "array")


def _control(viewer: Viewer, name: str, field: Field) -> Node:
    if field.kind == "array" and field.items is not None:
        return _several(viewer, name, field, field.items)
    if field.kind == "object" and {*(field.fields or {})} == {"lng", "lat"}:
        return {"type": "geo-position", **{one: viewer.label(one, of) for one, of in (field.fields or {}).items()}}
    if field.kind == "object":
        inside = _controls(viewer, field.fields or {}, {})  # an object that may be left out has no required fields
        items = [{**one, "required": bool(one.get("required")) and field.required} for one in inside]
        return {"type": "combo", "multiLine": True, "items": items}
    if field.ref and viewer.may_pick(field.ref):
        return {**picker(viewer, name, field.ref), **_making(viewer, name, field.ref), "clearable": field.nullable}
    if field.key_of:  # which lists do not have
        known = {"source": f"${{{field.key_of}}}", "labelField": "name", "valueField": "key"}
        return {**choices({}), **known, "visibleOn": f"${{{field.key_of}}}"}
    if labels := viewer.offered(field):
        chosen = {**choices(labels), "clearable": field.nullable}
        typed = field.labelled_by and not field.rules.get("enum")
        return {**chosen, **plain_control(field)} if typed else chosen
    if field.kind == "boolean":
        return {"type": "switch"}
    return plain_control(field)


def _several(viewer: Viewer, name: str, field: Field, item: Field) -> Node:
    target = field.ref or item.ref
    if (tree := viewer.site.tree_of(target)) is not None and viewer.may(tree):
        return ticks(viewer, tree)
    if target and viewer.may_pick(target):
        several = {"multiple": True, "maxTagCount": 20}
        return {**picker(viewer, name, target), **_making(viewer, name, target, multiple=True), **several}
    if labels := viewer.offered(item):
        return {**choices(labels), "multiple": True}
    if item.kind == "object":
        return table(item.fields or {}, [*_controls(viewer, item.fields or {}, {})])
    return {"type": "input-array", "items": {**_control(viewer, name, item)}}


def plain_control(field: Field) -> Node:
    """Return the control for a value that is typed, or for a day, a month or a moment."""
    longest, pattern = int(field.rules.get("maxLength") or 0), str(field.rules.get("pattern") or "")
    if filter_of(field) == "percent":
        return {**_PLAIN["quantity"], "type": "percent"}
    if field.kind in _PLAIN:
        return _PLAIN[field.kind]
    if takes_file(field):
        return {"type": "stored-file", "private": takes_file(field, private=True)}
    if field.secret:
        return {"type": "input-password"}
    if pattern and [re.fullmatch(pattern, one) is not None for one in _MONTHS] == [True, False]:
        return {"type": "input-month", "valueFormat": MONTH}
    return {"type": "textarea" if longest > _LONG else "input-text", **({"maxLength": longest} if longest else {})}
