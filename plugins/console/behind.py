"""The records behind a figure of a dashboard, opened by a click on the figure."""

from collections.abc import Iterator

from plugins.api import Route
from plugins.api.reports import Figures
from plugins.console.nodes import Node, as_text, asking, call, link, node, opens, rows, values_of
from plugins.console.viewer import Viewer

ROWS = "/rows"


def opened_by(viewer: Viewer, route: Route, array: str, measure: str) -> Node | None:
    """Return what a click on a figure does, or None if there are no records behind it or the viewer may not see them.

    `array` is empty for a figure of the response itself. The renderer knows the number of a row as `dataIndex`. If
    `measure` is empty, it stands for any measure, which is then the `seriesId` of the chart.
    """
    found = [*_figures(viewer, route, array, measure)]
    if not found or not viewer.may(viewer.site.called("GET", f"{route.path}{ROWS}")):
        return None
    by = found[0].by
    key = f"${{{array}[dataIndex].{by.name}}}" if array and by is not None else ""
    cell = f"{array}.{key}.{measure or '${seriesId}'}" if array else measure
    title = viewer.say(viewer.site.catalogue.permission_title(route.access))
    if measure and route.returns.fields:
        title = f"{title} · {viewer.label(measure, route.returns.fields[measure])}"
    known = {"cell": cell, **values_of(route.query)}
    return opens("drawer", title, _records(viewer, route, found), actions=[], data=known)


def _figures(viewer: Viewer, route: Route, array: str, measure: str) -> Iterator[Figures]:
    name = route.path.rpartition("/")[2]
    for part in viewer.site.catalogue.dashboards:
        for one in part.figures if part.name == name else ():
            here = one.array == array if array and one.by is not None else not array and (one.totals or one.by is None)
            if here and (not measure or measure in one.sums):
                yield one


def _records(viewer: Viewer, route: Route, found: list[Figures]) -> Node:
    """Return the list of the records with the amount that each adds, below the figure itself."""
    collections = {one.collection.name: one.collection for one in found}
    kinds = {name: viewer.noun(one) for name, one in collections.items()}
    columns = [
        *([node("mapping", name="collection", label=viewer.word("kind"), map=kinds)] if len(kinds) > 1 else []),
        node("text", name="name", label=viewer.word("name")),
        node("tpl", name="at", label=viewer.word("at"), tpl=as_text("at | when")),
        node("tpl", name="value", label=viewer.word("counts"), align="right", tpl=as_text("value | amount")),
    ]
    buttons = [
        link(viewer.word("open"), address, visibleOn=f"${{collection == '{name}'}}")
        for name, one in collections.items()
        if (address := viewer.page_of(one, "${id}"))
    ]
    if buttons:
        columns.append(node("operation", label=viewer.word("actions"), buttons=buttons))
    figure = node("tpl", className="figure", tpl=as_text("value | amount"))
    address = asking(f"{route.path}{ROWS}", values_of(dict.fromkeys(("cell", *route.query))))
    return rows(call("GET", address), columns, className="behind", headerToolbar=[figure])
