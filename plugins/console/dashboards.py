"""The page of the dashboards: for each one its figures, its charts and its period, by the shape of its response."""

from collections.abc import Mapping

from plugins.api import Field, Route, obj
from plugins.console.behind import opened_by
from plugins.console.forms import controls
from plugins.console.lists import filter_controls
from plugins.console.nodes import Node, as_text, asking, call, node, page, values_of
from plugins.console.shown import lines, tile
from plugins.console.viewer import Viewer

_FIGURES = ("money", "quantity", "integer", "number")
_TIMES = ("date", "month")
_GREY = {"color": "#7a8794"}  # legible on white and on black
_COLORS = ["#2f6fb7", "#e08e2b", "#2a9d8f", "#c4546b", "#7463b8", "#8c9aa8", "#b58a1f", "#4e9ad1"]
_CURRENCY, _BEFORE = "${currency}", "/before"  # the sign that the shell gives every page
_COMMON = {"color": _COLORS, "backgroundColor": "transparent"}


def dashboards_page(viewer: Viewer, title: str) -> Node:
    """Return the page of all dashboards that the viewer may see, in two columns; one without a chart spans both."""
    cards = [_card(viewer, route) for route in viewer.site.dashboards if viewer.may(route)]
    if not cards:
        return page(title, node("alert", level="info", body=viewer.word("no_right")))
    return page(title, node("container", className="dashboards", body=cards))


def figures_of(viewer: Viewer, route: Route) -> list[Node]:
    """Return what loads and shows the figures of a dashboard without its charts; nothing if it has none."""
    return [node("service", api=call("GET", route.path), body=one) for one in _figures(viewer, route)]


def _figures(viewer: Viewer, route: Route) -> list[Node]:
    """Return the figures of a dashboard in a row, with those of the period before; nothing if it has none."""
    found = {name: one for name, one in (route.returns.fields or {}).items() if one.kind in _FIGURES}
    before = viewer.site.called("GET", f"{route.path}{_BEFORE}")
    known = (before.returns.fields or {}) if before is not None and viewer.may(before) else {}
    shown = [_figure(viewer, route, name, one, name in known) for name, one in found.items() if name not in route.query]
    row = node("flex", className="figures", items=shown)
    if before is None or not known:
        return [row] if shown else []
    api = call("GET", asking(before.path, values_of(before.query)))
    day, first = "${before.date_to}", "${before.date_from}"
    since, than = viewer.word("since", day=day), viewer.word("than", first=first, last=day)
    notes = [
        node("tpl", className="compared", tpl=since, visibleOn="${before.date_to && !before.date_from}"),
        node("tpl", className="compared", tpl=than, visibleOn="${before.date_from}"),
    ]
    return [node("service", api={**api, "responseData": {"before": "$$"}}, body=[row, *notes])]


def _card(viewer: Viewer, route: Route) -> Node:
    """Return one dashboard: a service node that loads it, and loads it again when its period changes."""
    name = route.path.rpartition("/")[2]
    title = viewer.say(viewer.site.catalogue.permission_title(route.access))
    period = _period(viewer, route.query)
    if all(field.ref for field in route.query.values()):
        title = f"{title} · {viewer.word('so_far')}"  # it has no period
    charts = [_chart(viewer, route, one, inside) for one, _, inside in lines(route.returns.fields or {})]
    api, called = call("GET", route.path, values_of(route.query)), f"figures-{name}"
    shown = node("service", api=api, body=[*_figures(viewer, route), *charts], name=called, id=called)
    asks = {"wrapWithPanel": False, "mode": "inline", "submitOnChange": True, "submitOnInit": False}
    form = [node("form", target=called, body=period, **asks)] if period else []
    width = "" if charts else " wide"
    return node("panel", title=title, className=f"dashboard dashboard-{name}{width}", body=[*form, shown])


def _period(viewer: Viewer, query: Mapping[str, Field]) -> list[Node]:
    """Return the controls for the query; the first and the last day share one."""
    days = {name: field for name, field in query.items() if name.endswith(("_from", "_to"))}
    picked = [{**one, "label": viewer.word("period")} for one in filter_controls(viewer, days, {}, {})]
    others = {name: one for name, one in query.items() if name not in days and viewer.may_pick(one.ref)}
    made = controls(viewer, obj(None, others), {})
    return [*picked, *({**one, "size": "sm", "clearable": True} for one in made)]


def _figure(viewer: Viewer, route: Route, name: str, field: Field, compared: bool) -> Node:
    """Return a figure with its label, and its change if it is compared; a button if there are records behind it."""
    number = f"{_CURRENCY if field.kind == 'money' else ''}{as_text(f'{name} | amount')}"
    opens = opened_by(viewer, route, "", name)
    one = node("tpl", tpl=number) if opens is None else node("button", level="link", label=number, **opens)
    change = [node("tpl", className="change", tpl=as_text(f"[{name}, before.{name}] | change"))] if compared else []
    return tile(one, viewer.label(name, field), *change)


def _chart(viewer: Viewer, route: Route, source: str, row: Mapping[str, Field]) -> Node:
    """Return the chart of a list of rows: lines or bars over time, a pie, a funnel of stages, or bars by name."""
    measures = [name for name, field in row.items() if field.kind in _FIGURES and not field.ref and name != "rank"]
    over = next((name for name in _TIMES if name in row), "")
    if "stage" in row:
        config = _shares("funnel", "count", f"${{{source} | pick:name,value~count}}")
    elif not over and measures == ["value"]:
        config = _shares("pie", "value", f"${{{source}}}")
    else:
        drawn = "line" if over == "date" else "bar"
        config = _series(viewer, source, over or "name", {name: row[name] for name in measures}, drawn)
    opens = opened_by(viewer, route, source, "")
    more = {"clickAction": opens} if opens is not None else {}
    # drawn once the rows are there, and again when they change
    again = f"${{{source} | json}}"
    return node("chart", height=280, config=config, visibleOn=f"${{{source}}}", trackExpression=again, **more)


def _series(viewer: Viewer, source: str, by: str, measures: Mapping[str, Field], kind: str) -> Node:
    """Return lines or bars; if there are both amounts and counts, counts are drawn on the right axis."""
    kinds = {field.kind == "money" for field in measures.values()}
    counts: Node = {"type": "value", "minInterval": 1, "splitLine": {"show": len(kinds) == 1}}
    series: list[Node] = []
    for name, field in measures.items():
        right = len(kinds) == 2 and field.kind != "money"
        shown = {"type": "line" if right else kind, "yAxisIndex": int(right), "data": f"${{{source} | pick:{name}}}"}
        label = f"{viewer.label(name, field)}{f' ({_CURRENCY})' if field.kind == 'money' else ''}"
        series.append({"id": name, "name": label, "barMaxWidth": 40, **shown})
    return {
        **_COMMON,
        "tooltip": {"trigger": "axis"},
        "legend": {"textStyle": _GREY},
        "grid": {"containLabel": True, "left": 8, "right": 8, "top": 40, "bottom": 8},
        "xAxis": {"type": "category", "data": f"${{{source} | pick:{by}}}"},
        "yAxis": [*([{"type": "value"}] if True in kinds else []), *([counts] if False in kinds else [])],
        "series": series,
    }


def _shares(kind: str, measure: str, data: str) -> Node:
    shape = {"radius": ["42%", "72%"]} if kind == "pie" else {"top": 8, "bottom": 8, "sort": "none", "minSize": "20%"}
    label = {"formatter": "{b}  {c}", **(_GREY if kind == "pie" else {"position": "inside", "color": "#fff"})}
    series = {"type": kind, "id": measure, "data": data, "label": label, **shape}
    return {**_COMMON, "tooltip": {"trigger": "item"}, "series": [series]}
