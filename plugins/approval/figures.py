"""Figures of approvals: how long each node takes, what waits there, and what is sent back, in the caller's data scope.

A visit is one time that a request is at a node. It begins when people are asked and ends with their last decision; the
tasks of the visit hold both, so a figure and the visits behind it come from the same tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import ceil
from typing import Any

from plugins.api import (
    Request,
    Route,
    array,
    choice,
    day,
    integer,
    number,
    object_id,
    route,
    shape,
    text,
    timestamp,
)
from plugins.api.data import Filter, rows_before
from plugins.api.reports import Figures, Period, period_of, summed
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.states import STATES


def _pending(period: Period) -> Filter:
    return {"status": STATES.after("submit")}


DASHBOARDS = (summed("overview", Figures(INSTANCES, {"pending_approvals": 1}, where=_pending)),)
_YEAR = timedelta(days=366)
_MOST_NODES, _MOST_REQUESTS = 500, 20_000
_OPEN, _DECIDED = ["pending", "waiting"], ["agreed", "rejected", "sent_back"]
_HOUR = 3_600_000
_FLOW = object_id(label=("审批流程", "Approval flow"), ref=DEFINITIONS.name, filter=True)
_NODE = text(label=("节点标识", "Key of the node"), max_length=64)
_NAME = text(label=("节点名称", "Node name"))
_STATE = choice("waiting", "decided", "sent_back", "ended", label=("处理情况", "State"))
_PERIOD = {
    "date_from": day(label=("提交日期", "Submitted"), description="By default the last year."),
    "date_to": day(label=("提交日期", "Submitted")),
}
_COUNT = integer(minimum=0, nullable=False)
FIGURES = shape(
    "ApprovalFigures",
    items=array(
        shape(
            "ApprovalNodeFigures",
            definition_id=_FLOW,
            node=_NODE.but(named_by="node_name"),
            node_name=_NAME,
            decided=_COUNT.but(label=("已处理次数", "Decided")),
            median_hours=number(label=("用时中位数（小时）", "Median, hours"), minimum=0),
            p90_hours=number(label=("九成用时（小时）", "90th percentile, hours"), minimum=0),
            waiting=_COUNT.but(label=("待处理", "Waiting")),
            waiting_since=timestamp(label=("最早待处理", "Waiting since")),
            sent_back=_COUNT.but(label=("退回次数", "Sent back")),
        ),
        label=("节点", "Nodes"),
        nullable=False,
        max_items=_MOST_NODES,
        description="Where most waits first. Hours are those of the clock.",
    ),
)
VISITS = shape(
    "ApprovalVisits",
    items=array(
        shape(
            "ApprovalVisit",
            instance_id=object_id(label=("审批", "Approval"), ref=INSTANCES.name),
            definition_id=_FLOW,
            node=_NODE.but(named_by="node_name"),
            node_name=_NAME,
            state=_STATE,
            since=timestamp(label=("开始时间", "Since")),
            until=timestamp(label=("处理时间", "Until")),
            hours=number(label=("用时（小时）", "Hours"), minimum=0),
            user_ids=array(integer(), label=("处理人", "People asked"), ref="users"),
        ),
        label=("明细", "Visits"),
        nullable=False,
    ),
    total=integer(label=("总数", "Total"), minimum=0, nullable=False),
    page=integer(minimum=1, nullable=False),
    page_size=integer(minimum=1, nullable=False),
    next_cursor=text(max_length=20, description="Give it as `cursor` for the next page; null at the end."),
)


async def read_figures(req: Request) -> dict[str, Any]:
    """Return the figures of each node of the requests that the caller may see and that were submitted in the period."""
    group = {
        "_id": {"definition_id": "$definition_id", "node": "$node"},
        "node_name": {"$last": "$node_name"},
        "decided": {"$sum": {"$cond": ["$decided", 1, 0]}},
        "hours": {"$push": {"$cond": ["$decided", "$hours", "$$REMOVE"]}},
        "waiting": {"$sum": {"$cond": ["$open", 1, 0]}},
        "waiting_since": {"$min": {"$cond": ["$open", "$since", None]}},
        "sent_back": {"$sum": {"$cond": ["$back", 1, 0]}},
    }
    order = {"$sort": {"waiting": -1, "decided": -1, "_id": 1}}
    stages = [*_visits(req), {"$group": group}, order, {"$limit": _MOST_NODES}]
    items = []
    for row in await req.store(INSTANCES).aggregate(stages):
        hours = sorted(row["hours"])
        ranks = {"median_hours": _at_rank(hours, 0.5), "p90_hours": _at_rank(hours, 0.9)}
        items.append({**row, **row["_id"], **ranks})
    return {"items": items}


def _at_rank(ordered: Sequence[float], part: float) -> float | None:
    """Return the smallest of these hours that this part of all does not exceed; None without any."""
    return _rounded(ordered[ceil(part * len(ordered)) - 1]) if ordered else None


async def list_visits(req: Request) -> dict[str, Any]:
    """Return a page of the visits behind the figures, the longest first."""
    state = req.query.get("state")
    states = {"waiting": {"open": True}, "decided": {"decided": True}, "sent_back": {"back": True}}
    chosen = {"open": False, "decided": False} if state == "ended" else states.get(state or "", {})
    page = [{"$sort": {"hours": -1, "_id": 1}}, {"$skip": rows_before(req.query)}, {"$limit": req.query["page_size"]}]
    parts = {"items": page, "count": [{"$count": "total"}]}
    (found,) = await req.store(INSTANCES).aggregate([*_visits(req), {"$match": chosen}, {"$facet": parts}])
    total, end = found["count"][0]["total"] if found["count"] else 0, rows_before(req.query) + req.query["page_size"]
    return {
        "items": [_shown(row) for row in found["items"]],
        "total": total,
        **{name: req.query[name] for name in ("page", "page_size")},
        "next_cursor": str(end) if end < total else None,
    }


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    state = "waiting" if row["open"] else "sent_back" if row["back"] else "decided" if row["decided"] else "ended"
    hours = {"hours": _rounded(row["hours"]), "until": None if row["open"] else row["until"]}
    return {**row, "instance_id": row["_id"]["id"], "state": state, **hours}


def _rounded(hours: float | None) -> float | None:
    return None if hours is None else round(hours, 2)


def _visits(req: Request) -> list[dict[str, Any]]:
    """Return the stages that make the visits of the newest requests that the query asks for; what waits has taken until now."""
    period = period_of(req)
    submitted = {"submitted_at": {"$gte": req.now - _YEAR}} if period.open else period.moments("submitted_at")
    flow = {"definition_id": req.query["definition_id"]} if req.query.get("definition_id") is not None else {}
    node = {"tasks.node": req.query["node"]} if req.query.get("node") else {}
    named = {"$filter": {"input": "$nodes", "cond": {"$eq": ["$$this.key", "$tasks.node"]}}}
    group = {
        "_id": {"id": "$_id", "round": "$tasks.round"},
        "definition_id": {"$first": "$definition_id"},
        "node": {"$first": "$tasks.node"},
        "node_name": {"$first": {"$first": {"$map": {"input": named, "in": "$$this.name"}}}},
        "since": {"$min": "$tasks.asked_at"},
        "until": {"$max": "$tasks.acted_at"},
        "user_ids": {"$push": "$tasks.user_id"},
        "open": {"$max": {"$in": ["$tasks.status", _OPEN]}},
        "decided": {"$max": {"$in": ["$tasks.status", _DECIDED]}},
        "back": {"$max": {"$eq": ["$tasks.status", "sent_back"]}},
    }
    end = {"$cond": ["$open", req.now, {"$ifNull": ["$until", "$since"]}]}
    derived = {
        "decided": {"$and": ["$decided", {"$not": "$open"}]},
        "hours": {"$divide": [{"$max": [0, {"$subtract": [end, "$since"]}]}, _HOUR]},
    }
    return [
        {"$match": {**submitted, **flow}},
        {"$sort": {"_id": -1}},
        {"$limit": _MOST_REQUESTS},
        {"$unwind": "$tasks"},
        {"$match": {"tasks.asked_at": {"$type": "date"}, "tasks.status": {"$nin": ["advice", "advised"]}, **node}},
        {"$group": group},
        {"$set": derived},
    ]


_ASKED = {name: one.but(nullable=False) for name, one in {"definition_id": _FLOW, "node": _NODE, **_PERIOD}.items()}
_PAGES = {
    "page": integer(minimum=1, default=1, nullable=False, example=1),
    "page_size": integer(minimum=1, maximum=200, default=50, nullable=False, example=50),
    "cursor": text(max_length=20, nullable=False, description="`next_cursor` of the page before.", example="50"),
}
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/approvals/figures",
        read_figures,
        summary="Read how long the nodes of flows take, what waits there, and what is sent back",
        access="approval:figure:read",
        query=_ASKED,
        returns=FIGURES,
        collection=INSTANCES.name,
    ),
    route(
        "GET /api/v1/approvals/figures/visits",
        list_visits,
        summary="List the visits to nodes behind the figures",
        access="approval:figure:list",
        query={**_ASKED, "state": _STATE.but(nullable=False), **_PAGES},
        returns=VISITS,
        collection=INSTANCES.name,
    ),
)
