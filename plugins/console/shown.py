"""How values are shown: in columns of lists, and in the details of a record."""

from collections.abc import Iterator, Mapping, Sequence

from plugins.api import Field, Message, View, obj
from plugins.console.nodes import Node, as_text, leads_to_rows, node, quoted, reference
from plugins.console.viewer import Viewer

_TEMPLATES = {"money": "amount", "quantity": "amount", "timestamp": "moment", "any": "text", "mapping": "text"}
_SHARE = ("0", "1")  # the bounds of a quantity that is a part of something
_NEVER = ("id", "version")
_OF_ROWS = ("list", "query", "path")  # by which a row leads to those of a list
_OF_FORMS = {"schema": "any", "labels": "mapping"}  # which they use
_LONG, _SHARED_MILLISECONDS = 500, 10_000  # the latter is how long rows share what they ask for
MOST_COLUMNS, _ON_A_CARD = 8, 5  # the latter is how many fields of a row a narrow screen shows
OF_PAGES = ("page", "page_size", "cursor", "next_cursor", "total", "format")


def columns(
    viewer: Viewer, fields: Mapping[str, Field], first: Sequence[str], own_page: str = "", view: View | None = None
) -> list[Node]:
    """Return the columns of a list: those in `first` are visible, or else the first few; others can be switched on.

    The first column is a link to the record, if `own_page` is what the addresses of the records begin with.
    """
    others = sorted((name for name in fields if name not in first), key=lambda name: name == "id")
    order = [*(name for name in first if name in fields), *others]
    made: list[Node] = []
    for place, (name, label, shown) in enumerate(
        details(viewer, {name: fields[name] for name in order}, ("id",), view)
    ):
        linked = reference(shown, own_page, "id") if own_page and not made else shown
        made.append(column := {**linked, "of": name, "label": label, "sortable": bool(fields[name].sort)})
        if name not in first if first else place >= MOST_COLUMNS or is_long(fields[name]) or name == "id":
            column["toggled"] = False
        if place >= _ON_A_CARD and own_page:  # which shows the others
            column["className"] = f"{column.get('className', '')} beyond".strip()
    return made


def is_long(field: Field) -> bool:
    """Return whether a text is too long for a cell."""
    return field.kind == "text" and int(field.rules.get("maxLength") or 0) > _LONG


def grouped(
    viewer: Viewer, view: View | None, named: Sequence[tuple[str, Node]]
) -> Iterator[tuple[str, Sequence[Node]]]:
    """Yield the nodes of fields under the headings of a view; those that it does not name have none.

    They come after its groups, and before those that are folded.
    """
    rest = dict(named)
    groups, folded = (view.groups, view.folded) if view is not None else ({}, {})
    named_by = {**groups, **folded}
    under = {heading: [rest.pop(name) for name in names if name in rest] for heading, names in named_by.items()}
    for heading in (*groups, None, *folded):
        nodes = [*rest.values()] if heading is None else under[heading]
        if nodes:
            yield "" if heading is None else viewer.say(Message(*heading)), nodes


def details(
    viewer: Viewer, fields: Mapping[str, Field], also: Sequence[str] = (), view: View | None = None
) -> Iterator[tuple[str, str, Node]]:
    """Yield the fields that are shown as a value, each with its name, its label and the node of its value."""
    beside = {one.name for one in obj(None, fields).siblings}  # shown with the reference whose name they hold
    for name, field in fields.items():
        hidden = (name in _NEVER and name not in also) or _OF_FORMS.get(name) == field.kind or viewer.hides(field)
        if _holds_files(field):
            yield name, viewer.label(name, field), node("file-names", name=name)
            continue
        if hidden or name in beside or field.secret or field.write_only or field.holds_fields or name == "children":
            continue
        if field.named_by in fields:  # a code: what says the same in words is shown instead
            continue
        shown = value(viewer, name, field, view)
        if field.kind == "any" and "labels" in fields:
            shown |= {"tpl": as_text(f"labels[{name}] || {name} | text")}
        yield name, viewer.label(name, field), shown


def _holds_files(field: Field) -> bool:
    """Return whether it is a list of stored files, each with its name and its key."""
    return field.items is not None and {"file_name", "object_key"} <= (field.items.fields or {}).keys()


def in_some(lines: str, name: str) -> str:
    """Return a condition: some row has a value of this name."""
    return f"${{{_some(lines, name)}}}"


def _some(lines: str, name: str) -> str:
    return f"ARRAYSOME({lines}, one => one.{name} || one.{name} === 0 || one.{name} === false)"


def lines(fields: Mapping[str, Field]) -> Iterator[tuple[str, Field, Mapping[str, Field]]]:
    """Yield the lists of objects in a record, each with the fields of one object."""
    for name, field in fields.items():
        inside = field.items.fields if field.items is not None and name != "children" else None
        if field.kind == "array" and inside:
            yield name, field, inside


def value(viewer: Viewer, name: str, field: Field, view: View | None = None) -> Node:
    """Return the node that shows the value of a field, in the words of the control that the view has for it."""
    beside = next((one.name for one in obj(None, {name: field}).siblings), None)
    if beside is not None:
        shown, address = _template(beside, "text"), viewer.pages_of(field.ref)
        return reference(shown, address, name) if address and field.kind != "array" else shown
    several = field.items if field.kind == "array" else None
    if field.key_of:
        called = f"ARRAYFIND({field.key_of}, one => one.key == {{0}}).name || {{0}}"
        each = f"JOIN(ARRAYMAP({name}, key => {called.format('key')}), ', ')"
        return {**_template(f"({each if several else called.format(name)})", "text"), "name": name}
    control = view.widgets.get(name, {}) if view is not None else {}
    if several is None and isinstance(source := control.get("source"), Mapping) and viewer.may_request(control):
        fields = {part: control[part] for part in ("labelField", "valueField") if part in control}
        return {
            "type": "mapping",
            "name": name,
            "map": {},
            "source": {**source, "cache": _SHARED_MILLISECONDS},
            **fields,
        }
    labels = viewer.values(several or field, name.rpartition(".")[2], view)
    if labels and field.kind == "mapping":
        return node("named-values", name=name, map=labels)
    if labels and several is None:
        colors = viewer.colors(field)
        tags = {
            value: node("tpl", tpl=label, className=f"tag {colors[value]}") if value in colors else label
            for value, label in labels.items()
        }
        return _mapping(name, tags)
    if labels:
        return node("each", name=name, items={**_mapping("item", labels), "className": "tag gray"})
    if several is not None:
        return _template(name, "text")
    if field.kind == "boolean":
        return {"type": "mapping", "name": name, "map": {"true": viewer.word("yes"), "false": viewer.word("no")}}
    if field.kind in _TEMPLATES:
        aligned = {"align": "right"} if field.kind in ("money", "quantity") else {}
        whole = {"className": "nowrap"} if field.kind == "timestamp" else aligned
        return {**_template(name, filter_of(field)), **whole}
    return {"type": "text", "name": name}


def _mapping(name: str, labels: Mapping[str, object]) -> Node:
    """Return the node that shows a value by its label; the renderer takes the value `*` for any without one."""
    other = f"{name} == '*' ? {quoted(labels['*'])} : {name}" if "*" in labels else name
    return {"type": "mapping", "name": name, "map": {**labels, "*": f"${{{other}}}"}}


def filter_of(field: Field) -> str:
    """Return which of the filters that `values.js` has shows a value of this field."""
    is_share = (field.rules.get("minimum"), field.rules.get("maximum")) == _SHARE
    return "percent" if field.kind == "quantity" and is_share else _TEMPLATES.get(field.kind, "text")


def _template(name: str, shown_as: str) -> Node:
    """Return a node that shows a value through one of the filters that `api.js` registers."""
    return {"type": "tpl", "name": name, "tpl": as_text(f"{name} | {shown_as}")}


def figures(viewer: Viewer, fields: Mapping[str, Field]) -> Iterator[Node]:
    """Yield the values that are not in a list: those of the response, and those of each object in it."""
    for title, group in objects(viewer, fields):
        if items := properties(viewer, group):
            yield node("property", column=2, items=items, **({"title": title} if title else {}))


def tiles(viewer: Viewer, fields: Mapping[str, Field]) -> Node:
    """Return the same values in one row, each above its label."""
    shown = [one for _, group in objects(viewer, fields) for one in details(viewer, group)]
    return node("flex", className="figures", items=[tile(one, label) for _, label, one in shown])


def tile(number: Node, label: str, *more: Node) -> Node:
    """Return a figure with its label."""
    body = [{**number, "className": "number"}, node("tpl", tpl=label), *more]
    return node("wrapper", size="none", className="figure", body=body)


def objects(viewer: Viewer, fields: Mapping[str, Field]) -> Iterator[tuple[str, Mapping[str, Field]]]:
    """Yield the fields themselves, without a title, and then those of each object among them, with its label."""
    plain = {name: field for name, field in fields.items() if name not in OF_PAGES}
    yield "", plain
    for name, one in plain.items():
        if one.fields and one.label is not None:
            yield viewer.label(name, one), {f"{name}.{inner}": field for inner, field in one.fields.items()}


def properties(viewer: Viewer, fields: Mapping[str, Field]) -> list[Node]:
    """Return the items of a property table: the label of each field, and the node of its value."""
    return [{"label": label, "content": shown} for _, label, shown in details(viewer, fields)]


def tables(viewer: Viewer, fields: Mapping[str, Field]) -> Iterator[Node]:
    """Yield a table for each list of objects that has a label, without the columns that are empty in all of its rows."""
    for name, field, inside in lines(fields):
        leads = inside.keys() >= set(_OF_ROWS)
        shown = {one: inside[one] for one in inside if not (leads and one in _OF_ROWS)}
        found = columns_of(viewer, shown) if field.label is not None and not viewer.hides(field) else []
        columns = [{**one, "visibleOn": f"${{!{name}.length || {_some(name, str(one['name']))}}}"} for one in found]
        columns += [leads_to_rows(viewer.word("open"))] if leads else []
        if columns:
            title, seen = (
                viewer.label(name, field),
                {"visibleOn": f"${{{name}}}"} if field.only_with is not None else {},
            )
            yield node("table", title=title, source=f"${{{name}}}", columns=columns, columnsTogglable=False, **seen)


def columns_of(viewer: Viewer, fields: Mapping[str, Field], view: View | None = None) -> list[Node]:
    """Return the columns of a table of objects with these fields."""
    return [{**shown, "label": label} for _, label, shown in details(viewer, fields, (), view)]
