"""The page of a list: search, filters, columns, pages, and the actions on the list and on its rows."""

from collections.abc import Iterator, Mapping, Sequence

from plugins.api import Field, View
from plugins.api.records import ACTION_TITLES
from plugins.console.actions import (
    Offer,
    action_offers,
    acts,
    create_button,
    decisions,
    delete_offer,
    edit_offer,
    entry_buttons,
    export_button,
    facts_of,
    making_offers,
    plain_requests,
    rehearsed_buttons,
)
from plugins.console.forms import DAY, MOMENT, choices, picker, plain_control
from plugins.console.nodes import (
    PAGE_SIZES,
    RECORD_PAGE,
    Node,
    addressed,
    as_text,
    asking,
    call,
    link,
    node,
    opens,
    rows,
    values_of,
)
from plugins.console.shown import MOST_COLUMNS, columns, in_some, is_long, value
from plugins.console.site import Subject
from plugins.console.viewer import Viewer

FILTER = {"wrapWithPanel": False, "mode": "inline", "submitOnChange": True, "className": "filters"}
_FEWEST_TELLING, _MOST_WHOLE, _AMOUNT, _FILTERS_AT_ONCE, _IN_A_ROW = 4, 10, "amount", 4, 2
_SIDES, _CURRENCY = ("direction", "kind"), "currency"
_VIEWS = "/api/v1/meta/views"
_PAGING = ("page", "page_size", "sort", "with_total", "cursor", "q", "deleted", "format", "sum")


def listing(viewer: Viewer, subject: Subject, fixed: Mapping[str, str] | None = None) -> Node:
    """Return the list with the actions that the viewer may take; `fixed` are parameters that it always sends."""
    fixed, records = fixed or {}, viewer.site.records_of(subject)
    view = viewer.site.view_of(records.collection)
    id = "-".join((subject.name, *(value for value in fixed.values() if "$" not in value)))
    first = (view.columns if view is not None else ()) or default_columns(viewer, subject)
    own_page = f"#/records/{records.name}/" if viewer.may(records.read) and not subject.nested else ""
    sorts = "sort" in subject.list.query
    named = columns(viewer, subject.fields, first, own_page, view)
    shown = [{**one, "sortable": sorts and one["sortable"]} for one in named]
    if subject.computed:  # such as margins, which are by customer or by product
        referring = [one for one in shown if subject.fields[str(one["of"])].ref]
        shown = [{**one, "visibleOn": in_some("items", str(one["name"]))} if one in referring else one for one in shown]
    box = subject.list.query.get(view.boxes) if view is not None else None
    desk = view is not None and fixed.get(view.boxes, "") == (box.default if box is not None else None)
    if buttons := [*acts(viewer, _row_offers(viewer, subject, view, id, desk), _IN_A_ROW)]:
        shown.append(node("operation", label=viewer.word("actions"), fixed="right", buttons=buttons))
    summed = _summed(subject, first)
    sums = {"sum": ",".join(summed)} if summed else {}
    api = call("GET", asking(addressed(subject.list.path), {**fixed, **sums}))
    verbs = {"views": "view"} if viewer.site.called("GET", _VIEWS) is not None else {}
    verbs |= {"rows": "sheet"} if subject.list.paged and "$" not in str(api["url"]) else {}
    of_shell = [link(viewer.word(word), f"{verb}:{id}", level="default") for word, verb in verbs.items()]
    bulk = [*_bulk(viewer, subject, id, desk)] if subject.list.paged and not subject.nested else []
    bar = [*_toolbar(viewer, subject, fixed, id), *(["bulkActions"] if bulk else []), "columns-toggler", *of_shell]
    more: Node = {"id": id, "columnsTogglable": True, "headerToolbar": bar, "bulkActions": bulk}
    if filters := [*filter_controls(viewer, subject.list.query, subject.fields, fixed)]:
        more["filter"] = filter_form(viewer, filters, id, _state_of(subject))
    if not subject.list.paged:  # a tree, which comes in one response
        more |= {"loadDataOnce": True, "expandConfig": {"expand": "first"}, "syncLocation": False}
        return node("crud", api={**api, "data": {}}, columns=shown, **more)
    foot = [*(_totals(viewer, subject, summed) if summed else ()), "statistics", "pagination", "switch-per-page"]
    return rows(api, shown, footerToolbar=foot, perPageAvailable=[*PAGE_SIZES], **more)


def chosen_rows(viewer: Viewer, subject: Subject) -> Node:
    """Return the rows of a list that the parameters in `query` select; each opens its page."""
    records = viewer.site.records_of(subject)
    view = viewer.site.view_of(records.collection)
    first = (view.columns if view is not None else ()) or default_columns(viewer, subject)
    own_page = f"#/records/{records.name}/" if viewer.may(records.read) else ""
    shown = columns(viewer, {name: subject.fields[name] for name in first}, first, own_page, view)
    asked = {"page": "${page}", "perPage": "${perPage}", "&": "${query}"}
    return rows(call("GET", subject.list.path, asked), [{**one, "sortable": False} for one in shown])


def months(viewer: Viewer, subject: Subject, by: str = "") -> Iterator[tuple[str, list[Node]]]:
    """Yield the calendar of a list if its view declares one; on a record's page, `by` is the filter that names the record."""
    view = viewer.site.view_of(subject.collection)
    day, state, of = (*(view.calendar if view is not None else ()), "", "", "")[:3]
    if f"{day}_from" not in subject.list.query or state not in subject.fields or by not in ("", of):
        return
    field, shown = subject.fields.get(of), value(viewer, state, subject.fields[state])
    label = viewer.label(of, field) if field is not None else ""
    about = {"from": "record_id" if by else of, "ask": viewer.word("which", field=label)}
    body = [node("days-of-month", path=subject.list.path, day=day, state=shown, of=of, **about)]
    if field is not None and field.ref and not by and viewer.may_pick(field.ref):
        chosen = {**picker(viewer, of, field.ref), "name": of, "label": label, "clearable": True}
        body = [{**node("form", body=[chosen, *body], actions=[]), **FILTER}]
    yield viewer.word("calendar"), body


def boxes(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, list[Node]]]:
    """Yield the boxes of a list, each as a list with its title, then those that only the list of its records has."""
    records = viewer.site.records_of(subject)
    view = viewer.site.view_of(records.collection)
    name, known = view.boxes if view is not None else "", set[str]()
    if name in subject.list.query and subject.list.query[name].default is None:
        yield viewer.word("all"), [listing(viewer, subject)]
    for one in (subject, records):
        parameter = one.list.query.get(name) if viewer.may(one.list) else None
        labels = viewer.values(parameter) if parameter is not None else {}
        for box in [one for one in labels if one not in known]:
            known.add(box)
            yield labels[box], [listing(viewer, one, {name: box})]


def default_columns(viewer: Viewer, subject: Subject) -> list[str]:
    """Return the fields that a list shows first: the name, the state, amounts, and fields by which people find records.

    Rows that are computed, such as the shifts of a week, are shown whole if they have few fields, or else with all of their
    amounts. Who made and changed a record, and bare ids, are never among them.
    """
    fields, hidden = subject.fields, (*viewer.site.stamps, "id")
    shown = {
        name: field
        for name, field in fields.items()
        if name not in hidden and not _is_bare_id(name, field) and not viewer.hides(field)
    }
    whole = [name for name, one in shown.items() if not (is_long(one) or one.holds_fields)]
    if subject.computed:
        amounts = [name for name in whole if shown[name].kind == "money"]
        others = [name for name in whole if name not in amounts][: MOST_COLUMNS - len(amounts)]
        return whole if len(whole) <= _MOST_WHOLE else [name for name in whole if name in amounts or name in others]
    label = subject.collection.label_field if subject.collection is not None else ""
    found = [name for name, one in shown.items() if (one.filter or one.sort or one.required) and one.kind != "boolean"]
    first = [name for name in dict.fromkeys((label, _state_of(subject), _AMOUNT, _CURRENCY, *found)) if name in shown]
    return (first if len(first) >= _FEWEST_TELLING else whole)[:MOST_COLUMNS]


def _is_bare_id(name: str, field: Field) -> bool:
    """Return whether it names a record that no declaration says how to show."""
    return name.endswith("_id") and not field.ref and field.kind in ("text", "object_id")


def _state_of(subject: Subject) -> str:
    machine = subject.collection.states if subject.collection is not None else None
    return machine.field if machine is not None else ""


def _summed(subject: Subject, first: Sequence[str]) -> list[str]:
    """Return the amounts that are added up: what the list can, and no prices, which people enter by other names."""
    asked = subject.list.query.get("sum")
    names = asked.items.rules["enum"] if asked is not None and asked.items is not None else ()
    return [
        name
        for name in first or subject.fields
        if name in names and (name == _AMOUNT or subject.fields[name].read_only)
    ]


def _totals(viewer: Viewer, subject: Subject, names: Sequence[str]) -> Iterator[Node]:
    """Yield the sums of amounts: of all pages or, where the list has too many rows, of the page that is shown.

    There are none while rows are of two sides, such as in and out: all of a list are of one if its filter says so. Nor are there
    any of rows in several currencies.
    """
    sides = [name for name in _SIDES if name in subject.fields]
    units = [name for name in (*sides, _CURRENCY) if name in subject.fields]
    alike = "".join(f" && !ARRAYSOME(items, one => one.{name} != items[0].{name})" for name in units)
    filtered = "".join(f" && (total == items.length || ({name} && !CONTAINS({name}, ',')))" for name in sides)
    whole = f"sums && items && items.length{alike}{filtered}"
    for word, shown, seen in (
        ("sum", "sums.{} | amount", whole),
        ("sums", "items | total:{}", f"items && items.length > 1{alike} && !({whole})"),
    ):
        sums = (f"{viewer.label(one, subject.fields[one])} {as_text(shown.format(one))}" for one in names)
        words = f"{viewer.word(word)} {' · '.join(sums)}"
        yield node("tpl", tpl=words, className="sums", visibleOn=f"${{{seen}}}")


def _bulk(viewer: Viewer, subject: Subject, id: str, desk: bool) -> Iterator[Node]:
    """Yield the actions that can be taken with several rows: those that ask for nothing but the record."""
    records = viewer.site.records_of(subject)
    of_states = (offer for offer in action_offers(viewer, subject) if offer.reason and "dialog" in offer.button)
    offers = decisions(viewer, records) if desk else (*of_states, *delete_offer(viewer, subject))
    for place, (title, request) in enumerate(plain_requests(offer.button for offer in offers)):
        told = [name for name, _, _ in facts_of(viewer, subject)]
        button = link(title, f"bulk:{id}:{place}", level="default")
        yield {**button, "request": request, "told": told, "className": "bulk"}


def _row_offers(viewer: Viewer, subject: Subject, view: View | None, id: str, desk: bool) -> Iterator[Offer]:
    records = viewer.site.records_of(subject)
    if desk:
        yield from decisions(viewer, records)
    if view is not None and view.boxes and viewer.may(records.read):
        yield Offer(_beside(viewer, records, id))
    acting = subject if any(subject.actions) or (view is not None and view.boxes) else records
    shown = [] if subject.read is not None and not subject.nested else [*action_offers(viewer, acting)]
    if subject is viewer.site.inbox:  # the shell knows what a message speaks of
        yield Offer(link(viewer.word("open"), "place:${link}"), "link")
    if subject.read is None:
        shown += making_offers(viewer, subject)
    yield from (*edit_offer(viewer, subject), *shown, *delete_offer(viewer, subject))


def _beside(viewer: Viewer, records: Subject, id: str) -> Node:
    """Return the button that opens a record beside its list; the list is reloaded when the record is closed."""
    body = node("service", schemaApi=call("GET", RECORD_PAGE.replace("{list}", records.name)))
    data = {"record_id": "${id}", "me": "${me}"}
    shown = opens("drawer", viewer.word("details"), body, reloads=id, actions=[], data=data)
    return node("button", label=viewer.word("open"), level="link", **shown)


def _toolbar(viewer: Viewer, subject: Subject, fixed: Mapping[str, str], id: str) -> Iterator[Node]:
    yield from create_button(viewer, subject, fixed)
    if not fixed:
        yield from entry_buttons(viewer, subject)
        yield from rehearsed_buttons(viewer, subject)
    yield from export_button(viewer, subject.route("GET", "/export"), {**values_of(subject.list.query), **fixed})
    yield from _import(viewer, subject, id)
    if "q" in subject.list.query:
        yield node("search-box", name="q", placeholder=viewer.word("search"), align="right", clearable=True)


def _import(viewer: Viewer, subject: Subject, id: str) -> Iterator[Node]:
    route, template = subject.route("POST", "/import"), subject.route("GET", "/template")
    if route is None or not viewer.may(route):
        return
    title = viewer.say(ACTION_TITLES["import"])
    body = node("importer", path=route.path.removesuffix("/import"), template=viewer.may(template))
    yield node("button", label=title, **opens("dialog", title, body, reloads=id, actions=[]))


def filter_form(viewer: Viewer, controls: list[Node], id: str, first: str) -> Node:
    """Return the filters of a list: a few in one row, the others behind a button, and below what is chosen in them."""
    telling = [one for one in controls if not _is_of_all(viewer, one)]
    ranked = sorted(telling, key=lambda one: (one["name"] != first, _rank(one)))[:_FILTERS_AT_ONCE]
    at_once = [{"placeholder": one["label"], **one, "label": False} for one in ranked]
    rest = [one for one in controls if one not in ranked]
    more = [node("more", label=viewer.word("filters"), body=rest)] if rest else []
    chips = node("chips", list=id, chosen=controls)
    return {**FILTER, "canAccessSuperData": False, "body": [*at_once, *more, chips], "actions": []}


def _is_of_all(viewer: Viewer, control: Node) -> bool:
    """Return whether it filters by who made and changed a record, and when, which every list can."""
    return str(control["name"]).removesuffix("_from") in viewer.site.stamps


def _rank(control: Node) -> int:
    """Return how late a filter comes: choices among many come first, then days."""
    options = control.get("options")
    chosen = "source" in control or (isinstance(options, list) and len(options) > 2)
    return 0 if chosen else 1 if control["type"] == "input-date-range" else 2


def filter_controls(
    viewer: Viewer, query: Mapping[str, Field], fields: Mapping[str, Field], fixed: Mapping[str, str]
) -> Iterator[Node]:
    """Yield a control for each parameter that filters, one for both ends of a range; `fields` are those of the list."""
    for name, parameter in query.items():
        if name in _PAGING or name in fixed or (name.endswith("_to") and f"{name[:-3]}_from" in query):
            continue
        base = name.removesuffix("_from")
        field = fields.get(name) or fields.get(base)
        made = _filter(viewer, name, parameter, field, ranged=f"{base}_to" in query)
        if made is not None and not viewer.hides(field or parameter):
            label, usual = viewer.label(base, field or parameter), viewer.values(parameter).get(str(parameter.default))
            unless = {"placeholder": f"{label}: {usual}"} if usual else {}
            yield {"name": name, "label": label, "clearable": True, **unless, **made}


def _filter(viewer: Viewer, name: str, parameter: Field, field: Field | None, *, ranged: bool) -> Node | None:
    end = f"{name.removesuffix('_from')}_to"
    if ranged and parameter.kind in ("day", "timestamp"):
        return {"type": "input-date-range", "extraName": end, "valueFormat": DAY if parameter.kind == "day" else MOMENT}
    if ranged:
        ends = [
            node("input-text", name=one, placeholder=viewer.word(word)) for one, word in ((name, "from"), (end, "to"))
        ]
        return node("input-group", body=ends, ends=[name, end])
    named = field or parameter
    if named.named_by and not named.holds_fields:  # a code that pages do not show
        return None
    target = named.ref or (named.items.ref if named.items is not None else None)
    several = parameter.kind == "array"
    if target:
        return {**picker(viewer, name, target), "multiple": several} if viewer.may_pick(target) else None
    kept = field if field is not None and field.kind != "array" else (field.items if field is not None else None)
    if labels := viewer.values(kept or parameter, name):
        return {**choices(labels), "multiple": several}
    if parameter.kind == "boolean":
        return choices({"true": viewer.word("yes"), "false": viewer.word("no")})
    return plain_control(parameter) if parameter.kind in ("day", "text", "integer") else None
