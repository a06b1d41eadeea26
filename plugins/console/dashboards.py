"""The page of the dashboards: for each one its figures, its chart and its period, by the shape of its response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plugins.api import Field, Route
from plugins.console.behind import opened_by
from plugins.console.forms import controls
from plugins.console.nodes import Node, call, notice, page, values_of
from plugins.console.viewer import Viewer

_FIGURES = ("money", "quantity", "integer", "number")
_TIMES = ("date", "month")


def dashboards_page(viewer: Viewer, title: str) -> Node:
    """All dashboards that the viewer may see, two in a row."""
    cards = [_card(viewer, route) for route in viewer.site.dashboards if viewer.may(route)]
    if not cards:
        return page(title, notice(viewer.word("no_right")))
    columns = [{"sm": 12, "md": 6, "body": [card]} for card in cards]
    return page(title, {"type": "grid", "columns": columns})


def _card(viewer: Viewer, route: Route) -> Node:
    """One dashboard: a service that loads it, again whenever its period changes."""
    name = route.path.rpartition("/")[2]
    title = viewer.say(viewer.site.catalogue.permission_title(route.access))
    period = [_control(viewer, route, one) for one in route.query]
    query = values_of(route.query)
    fields = route.returns.fields or {}
    figures = [_figure(viewer, route, one, field) for one, field in fields.items() if _is_figure(one, field, route)]
    charts = [
        _chart(viewer, route, one, field.items.fields or {})
        for one, field in fields.items()
        if _is_rows(field) and field.items
    ]
    tiles: list[Node] = [{"type": "flex", "className": "figures", "items": figures}] if figures else []
    service = {"type": "service", "api": call("GET", route.path, query), "body": [*tiles, *charts]}
    form = {
        "type": "form",
        "target": f"figures-{name}",
        "wrapWithPanel": False,
        "mode": "inline",
        "submitOnChange": True,
        "submitOnInit": False,
        "body": period,
    }
    shown = {**service, "name": f"figures-{name}", "id": f"figures-{name}"}
    return {
        "type": "panel",
        "title": title,
        "className": f"dashboard dashboard-{name}",
        "body": [*([form] if period else []), shown],
    }


def _control(viewer: Viewer, route: Route, name: str) -> Node:
    field = route.query[name]
    (made,) = controls(viewer, field.but(kind="object", fields={name: field}), {})
    return {**made, "size": "sm", "clearable": True}


def _is_figure(name: str, field: Field, route: Route) -> bool:
    return field.kind in _FIGURES and field.items is None and name not in route.query


def _is_rows(field: Field) -> bool:
    return field.kind == "array" and field.items is not None and bool(field.items.fields)


def _figure(viewer: Viewer, route: Route, name: str, field: Field) -> Node:
    """A figure, with what it is; a button where it has records."""
    number = f"${{{name} | {'amount' if field.kind in ('money', 'quantity') else 'text'}}}"
    opens = opened_by(viewer, route, "", name)
    label = viewer.label(name, field)
    if opens is None:
        return {"type": "tpl", "className": "figure", "tpl": f"<b>{number}</b><span>{label}</span>"}
    button = {"type": "button", "level": "link", "label": number, "className": "number", **opens}
    return {"type": "wrapper", "size": "none", "className": "figure", "body": [button, {"type": "tpl", "tpl": label}]}


def _chart(viewer: Viewer, route: Route, source: str, row: Mapping[str, Field]) -> Node:
    """The chart of a list of rows: lines over time, slices of a whole, the steps of a funnel, else bars by name."""
    measures = [name for name, field in row.items() if field.kind in _FIGURES and not field.ref and name != "rank"]
    over = next((name for name in _TIMES if name in row), "")
    if over:
        config = _over_time(viewer, source, over, row, measures)
    elif "stage" in row:
        config = _shares("funnel", "count", f"${{{source} | pick:name,count~value}}")
    elif measures == ["value"]:
        config = _shares("pie", "value", f"${{{source}}}")
    else:
        config = _bars(viewer, source, row, measures)
    opens = opened_by(viewer, route, source, "")
    # drawn when the rows are there, and again when they are others
    return {
        "type": "chart",
        "height": 280,
        "config": config,
        "visibleOn": f"${{{source}}}",
        "trackExpression": f"${{{source} | json}}",
        **({"clickAction": opens} if opens is not None else {}),
    }


def _over_time(viewer: Viewer, source: str, over: str, row: Mapping[str, Field], measures: Sequence[str]) -> Node:
    made = [*_series(viewer, source, row, measures, "line" if over == "date" else "bar")]
    return {
        **_axes(viewer, row, measures),
        "xAxis": {"type": "category", "data": f"${{{source} | pick:{over}}}"},
        "series": made,
    }


def _bars(viewer: Viewer, source: str, row: Mapping[str, Field], measures: Sequence[str]) -> Node:
    named = {"type": "category", "data": f"${{{source} | pick:name}}"}
    return {**_axes(viewer, row, measures), "xAxis": named, "series": [*_series(viewer, source, row, measures, "bar")]}


def _axes(viewer: Viewer, row: Mapping[str, Field], measures: Sequence[str]) -> Node:
    """The axes: amounts on the left, counts on the right where there are both."""
    both = len({row[name].kind == "money" for name in measures}) == 2
    axes = [{"type": "value"}, {"type": "value", "splitLine": {"show": False}}] if both else [{"type": "value"}]
    return {
        "tooltip": {"trigger": "axis"},
        "legend": {},
        "grid": {"containLabel": True, "left": 8, "right": 8, "bottom": 8},
        "yAxis": axes,
    }


def _series(
    viewer: Viewer, source: str, row: Mapping[str, Field], measures: Sequence[str], kind: str
) -> Iterator[Node]:
    both = len({row[name].kind == "money" for name in measures}) == 2
    for name in measures:
        axis = 1 if both and row[name].kind != "money" else 0
        yield {
            "type": "line" if axis else kind,
            "id": name,
            "name": viewer.label(name, row[name]),
            "yAxisIndex": axis,
            "data": f"${{{source} | pick:{name}}}",
        }


def _shares(kind: str, measure: str, data: str) -> Node:
    series = {"type": kind, "id": measure, "data": data}
    return {"tooltip": {"trigger": "item"}, "legend": {"type": "scroll"}, "series": [series]}
