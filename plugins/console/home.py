"""The first page of a person: what waits for them, what is due, and their figures, as far as they may see them."""

from collections.abc import Iterator, Mapping, Sequence

from plugins.console.dashboards import figures_of
from plugins.console.forms import DAY, MOMENT
from plugins.console.lists import default_columns
from plugins.console.nodes import Node, asking, call, goes, link, node, page, rows
from plugins.console.shown import columns
from plugins.console.site import DASHBOARDS, Subject
from plugins.console.viewer import Viewer

HOME = "home"
_FEW, _COLUMNS, _DAYS = 5, 4, 7
_SOON = f"ENDOF(DATEMODIFY(NOW(), {_DAYS}, 'day'), 'day')"


def home_page(viewer: Viewer) -> Node:
    """Return the page; it says so if there is nothing on it for this person."""
    cards = [*_desk(viewer), *_news(viewer), *_figures(viewer), *_due(viewer)]
    nothing = [node("alert", level="info", body=viewer.word("no_right"))]
    return page(viewer.word("home"), node("container", className="home", body=cards or nothing))


def _desk(viewer: Viewer) -> Iterator[Node]:
    """Yield the first box of the desk, which is what waits for the person."""
    desk = viewer.site.desk
    if desk is None or not viewer.may(desk.list):
        return
    view = viewer.site.view_of(viewer.site.records_of(desk).collection)
    name = view.boxes if view is not None else ""
    value = next(iter(viewer.values(desk.list.query[name])), "")
    title = viewer.say(viewer.site.title_of(desk))
    yield _card(viewer, title, desk, {name: value}, view.columns if view is not None else ())


def _news(viewer: Viewer) -> Iterator[Node]:
    inbox = viewer.site.inbox
    if inbox is not None and viewer.may(inbox.list):
        view = viewer.site.view_of(inbox.collection)
        yield _card(viewer, viewer.word("unread"), inbox, {"unread": "true"}, view.columns[:1] if view else ())


def _due(viewer: Viewer) -> Iterator[Node]:
    """Yield the lists whose views say by which day their records are due: what is due within a week, the oldest first."""
    for subject in viewer.site.subjects.values():
        view = viewer.site.view_of(subject.collection)
        if view is not None and view.due and f"{view.due}_to" in subject.list.query and viewer.may(subject.list):
            format = MOMENT if subject.list.query[f"{view.due}_to"].kind == "timestamp" else DAY
            fixed = {**view.due_only, f"{view.due}_to": f"${{DATETOSTR({_SOON}, '{format}')}}", "sort": view.due}
            title = viewer.word("due", list=viewer.say(viewer.site.title_of(subject)))
            amounts = [name for name, field in subject.fields.items() if field.kind == "money"][:1]
            first = [view.collection.label_field, view.due, *amounts, *default_columns(viewer, subject)]
            yield {**_card(viewer, title, subject, fixed, first), "className": "card due"}


def _figures(viewer: Viewer) -> Iterator[Node]:
    """Yield the figures of the dashboards, with a link to these."""
    shown = [one for route in viewer.site.dashboards if viewer.may(route) for one in figures_of(viewer, route)]
    menu = next((one for one in viewer.site.menus.values() if one.resource == DASHBOARDS), None)
    if shown and menu is not None:
        more = link(viewer.word("see_all"), f"#/{menu.code}", className="more")
        yield node("panel", title=viewer.say(menu.title), className="card wide", body=[*shown, more])


def _card(viewer: Viewer, title: str, subject: Subject, fixed: Mapping[str, str], first: Sequence[str]) -> Node:
    """Return the first few records of a list, each of which opens its page, with a link to the list."""
    records = viewer.site.records_of(subject)
    names = [name for name in dict.fromkeys(first) if name in subject.fields]
    shown = columns(viewer, {name: subject.fields[name] for name in names}, names)
    if subject is viewer.site.inbox:
        opens: Node = {"itemAction": goes("place:${link}")}
    else:
        opens = {"itemAction": goes(f"#/records/{records.name}/${{id}}")} if viewer.may(records.read) else {}
    place = viewer.site.menu_of(subject) or subject.name
    foot = link(viewer.word("see_all"), f"#/{place}", className="more")
    few: Node = {"perPage": _FEW, "footerToolbar": [], "headerToolbar": [], "placeholder": viewer.word("nothing_here")}
    plain = [{**one, "sortable": False} for one in shown[:_COLUMNS]]
    table = rows(call("GET", asking(subject.list.path, fixed)), plain, **few, **opens)
    return node("panel", title=title, className="card", body=[table, foot])
