"""The rules of an approval: what a decision leads to. The functions use plain values and no database.

An `Approval` is a copy of the stored instance, which these functions change. When a node becomes a current one, its
people get tasks; `round` distinguishes the tasks of one visit to a node from those of another. In parallel lanes
several nodes are current, each with an entry in `visits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from plugins.api import CONFLICT, ApiError
from plugins.approval.messages import TOO_LONG
from plugins.approval.records import INITIATOR, MAX_STEPS
from plugins.approval.states import STATES
from plugins.approval.tree import Tree, build_tree

Approval = dict[str, Any]
Visit = dict[str, Any]
NodeResult = Literal["pending", "agreed", "rejected"]
_STORED_FIELDS = (
    "definition_id",
    "title",
    "record",
    "status",
    "nodes",
    "node",
    "current",
    "visits",
    "passed",
    "kept",
    "taken",
    "repeated",
    "choices",
    "due",
    "round",
    "needed",
    "tasks",
    "history",
    "todo",
    "done",
    "copied",
    "mentioned",
    "shared_with",
    "behind",
    "submitted_at",
    "finished_at",
)
_COUNTING = ("pending", "waiting", "agreed", "rejected")
_ACTED = ("agreed", "rejected", "sent_back", "transferred", "advised")
_OPEN = ("pending", "waiting", "advice")


@dataclass(frozen=True)
class Assignee:
    """A person who gets a task, maybe in place of somebody else, and by which rule: `delegate`, or that of the node."""

    user_id: int
    on_behalf_of: int | None = None
    absent: str | None = None


@dataclass(frozen=True)
class Panel:
    """The people that a node asks, each once, how many of them must agree, and who is told besides."""

    people: Sequence[Assignee]
    needed: int
    copies: Sequence[int] = ()

    @property
    def is_complete(self) -> bool:
        """Whether there are as many people as must agree."""
        return len(self.people) >= self.needed


Panels = Callable[[Mapping[str, Any]], Panel]


class TooFew(Exception):
    """A node has fewer people than must agree."""

    def __init__(self, node: Mapping[str, Any]) -> None:
        super().__init__(node["key"])
        self.node = node


def initial_values(initiator_id: int, nodes: Sequence[Mapping[str, Any]]) -> Approval:
    """Return the fields of a new approval that the functions of this module change."""
    return {
        "status": "draft",
        "nodes": list(nodes),
        "node": None,
        "round": 0,
        **_defaults(),
        "tasks": [],
        "history": [],
        "todo": [],
        "done": [],
        "copied": [],
        "shared_with": [initiator_id],
        "behind": [initiator_id],
        "submitted_at": None,
        "finished_at": None,
    }


def _defaults() -> Approval:
    """Return the fields that approvals of older versions do not have."""
    return {
        "current": [],
        "visits": [],
        "passed": [],
        "kept": [],
        "taken": [],
        "repeated": "ask",
        "choices": {},
        "due": None,
        "mentioned": [],
        "needed": None,
    }


def copy_approval(instance: Mapping[str, Any]) -> Approval:
    """Return a copy of an approval to work on."""
    approval = {**_defaults(), **deepcopy(dict(instance))}
    # a version without lanes, which may still serve beside this one, moves on by `node`, `round` and `needed` alone
    if approval["status"] == "pending" and approval["node"] not in [one["node"] for one in current_visits(approval)]:
        visit = {"node": approval["node"], "round": approval["round"], "needed": approval.get("needed")}
        keys = [node["key"] for node in approval["nodes"]]
        approval.update(visits=[visit], current=[visit["node"]], passed=keys[: keys.index(visit["node"])])
    return approval


def select_stored(approval: Approval) -> dict[str, Any]:
    """Return the fields of an approval that are stored."""
    return {name: approval[name] for name in _STORED_FIELDS}


def people_behind(approval: Mapping[str, Any]) -> frozenset[int]:
    """Return the people whose own request it is: the initiator, and whoever created, submitted or owns the record."""
    return frozenset({approval["initiator_id"], *(approval.get("behind") or ())})


def get_node(approval: Approval, key: str | None) -> Mapping[str, Any]:
    """Return the node with this key."""
    found: Mapping[str, Any] = next(node for node in approval["nodes"] if node["key"] == key)
    return found


def current_visits(approval: Approval) -> list[Visit]:
    """Return the visits to nodes whose people are asked now, so not those that wait for an added signer."""
    return [one for one in approval["visits"] if not one.get("waits_for")]


def visit_of(approval: Approval, task: Mapping[str, Any]) -> Visit:
    """Return the visit to which an open task belongs."""
    found: Visit = next(one for one in approval["visits"] if one["round"] == task["round"])
    return found


def earlier_nodes(approval: Approval, visit: Visit) -> list[str]:
    """Return the keys of the nodes to which the people of this node may send back."""
    return build_tree(approval["nodes"]).before(visit["node"])


def find_task(
    approval: Approval, user_id: int, node: str | None = None, status: str = "pending"
) -> dict[str, Any] | None:
    """Return the person's pending task, of one node if it is named, or None."""
    found = (task for task in approval["tasks"] if task["status"] == status and task["user_id"] == user_id)
    return next((task for task in found if node is None or task["node"] == node), None)


def start(approval: Approval, panels: Panels, now: datetime) -> None:
    """Begin at the first node. Raises `TooFew` for a node without enough people."""
    approval.update(visits=[], passed=[])
    tree = build_tree(approval["nodes"])
    _enter(approval, tree, tree.main[0], panels, frozenset(), now)
    settle(approval, panels, now)


def settle(approval: Approval, panels: Panels, now: datetime) -> None:
    """Move on from every node whose decisions suffice, to the next ones or the outcome. Raises `TooFew`."""
    while approval["status"] == "pending":
        results = ((visit, evaluate(approval, visit)) for visit in current_visits(approval))
        visit, result = next(((one, result) for one, result in results if result != "pending"), (None, "pending"))
        if visit is None:
            break
        if result == "agreed":
            agreed = frozenset(one for one, status in get_statuses(approval, visit).items() if status == "agreed")
            _cancel(approval, [visit])
            approval["passed"].append(visit["node"])
            _follow(approval, build_tree(approval["nodes"]), visit["node"], panels, agreed, now)
        else:
            back = get_node(approval, visit["node"])["on_reject"] == "back"
            close(approval, STATES.after("return" if back else "reject"), now)
    _refresh(approval)


def _follow(approval: Approval, tree: Tree, key: str, panels: Panels, agreed: frozenset[int], now: datetime) -> None:
    """Enter what follows a node that was passed: the next one, what follows the lanes that join, or the end."""
    sequence = tree.sequence(key)
    following = sequence[sequence.index(key) + 1 :]
    if following:
        _enter(approval, tree, following[0], panels, agreed, now)
    elif key in tree.above:
        lanes = tree.above[key].node
        inside = {*tree.within([lanes])}
        if not any(visit["node"] in inside for visit in approval["visits"]):
            approval["passed"].append(lanes)
            _follow(approval, tree, lanes, panels, frozenset(), now)
    else:
        close(approval, STATES.after("approve"), now)


def _enter(approval: Approval, tree: Tree, key: str, panels: Panels, agreed: frozenset[int], now: datetime) -> None:
    """Make a node a current one; of one with lanes, the first node of each.

    A node that waited for an added signer goes on. One whose agreement is kept asks nobody.
    """
    for lane in tree.parts(key):
        _enter(approval, tree, lane[0], panels, agreed, now)
    waiting = next((one for one in approval["visits"] if one["node"] == key), None)
    if tree.parts(key):
        return
    if waiting is not None:
        waiting["waits_for"] = None
        _change_tasks(approval, waiting, "waiting", "pending")
    elif key in approval["kept"]:
        approval["kept"].remove(key)
        approval["visits"].append({"node": key, "round": -len(approval["visits"]) - 1, "needed": 0})
    else:
        _ask(approval, tree.nodes[key], panels, agreed, now)


def _ask(approval: Approval, node: Mapping[str, Any], panels: Panels, agreed: frozenset[int], now: datetime) -> None:
    """Give a task to each person of a node. Who agreed at the node before is not asked again if the flow says so."""
    panel = panels(node)
    if not panel.is_complete:
        raise TooFew(node)
    approval["round"] += 1
    visit = {"node": node["key"], "round": approval["round"], "needed": panel.needed, "since": now}
    approval["visits"].append(visit)
    approval["copied"] = sorted({*approval["copied"], *panel.copies})
    for one in panel.people:
        task = add_task(approval, visit, one)
        if approval["repeated"] == "skip" and one.user_id in agreed:
            task.update(status="agreed", acted_at=now, repeated=True)


def add_task(approval: Approval, visit: Visit, one: Assignee, status: str = "pending") -> dict[str, Any]:
    """Give one more person a task at a current node."""
    task = {
        "node": visit["node"],
        "round": visit["round"],
        "user_id": one.user_id,
        "on_behalf_of": one.on_behalf_of,
        "absent": one.absent,
        "status": status,
        "asked_at": visit.get("since"),
        "acted_at": None,
        "comment": None,
    }
    approval["tasks"].append(task)
    _refresh(approval)
    return task


def complete_task(approval: Approval, task: dict[str, Any], status: str, now: datetime, comment: str | None) -> None:
    """Complete a task with a status and a comment."""
    task.update(status=status, acted_at=now, comment=comment)
    _refresh(approval)


def send_back(approval: Approval, to: str, keep: bool, panels: Panels, now: datetime) -> None:
    """Ask an earlier node again. What was agreed after it is asked again too, unless it is kept.

    Nodes in the same sequence as `to`, and below, are left; lanes beside it go on. Raises `TooFew`.
    """
    tree = build_tree(approval["nodes"])
    sequence = tree.sequence(to)
    inside = {*tree.within(sequence)}
    _cancel(approval, [one for one in approval["visits"] if one["node"] in inside])
    later = {*tree.within(sequence[sequence.index(to) + 1 :])}
    kept = [key for key in approval["passed"] if key in later and not tree.parts(key)] if keep else []
    again = {*tree.within([to]), *later}
    approval["passed"] = [key for key in approval["passed"] if key not in again]
    approval["kept"] = list(dict.fromkeys(kept))
    _enter(approval, tree, to, panels, frozenset(), now)
    settle(approval, panels, now)


def wait_for(approval: Approval, visit: Visit, signer: dict[str, Any], panels: Panels, now: datetime) -> None:
    """Ask the node of an added signer first: the tasks of the current node wait for it. Raises `TooFew`."""
    visit["waits_for"] = signer["key"]
    _change_tasks(approval, visit, "pending", "waiting")
    _ask(approval, signer, panels, frozenset(), now)
    _refresh(approval)


def add_history(
    approval: Approval,
    user_id: int,
    action: str,
    now: datetime,
    comment: str | None,
    to: str | None = None,
    node: str | None = None,
) -> dict[str, Any]:
    """Add a step to the history, and return it. Raises 40901 for an approval with too many steps."""
    if len(approval["history"]) >= MAX_STEPS:
        raise ApiError(CONFLICT, TOO_LONG)
    at = node or approval["node"]
    step: dict[str, Any] = {"at": now, "user_id": user_id, "action": action, "node": at, "to": to, "comment": comment}
    approval["history"].append(step)
    return step


def get_statuses(approval: Approval, visit: Visit) -> dict[int, str]:
    """Return user id → status for the pending and decided tasks of a visit. Transferred tasks do not count."""
    now = (task for task in approval["tasks"] if task["round"] == visit["round"] and task["status"] in _COUNTING)
    return {task["user_id"]: task["status"] for task in now}


def evaluate(approval: Approval, visit: Visit) -> NodeResult:
    """Return the result of a current node according to the decisions so far."""
    mode = get_node(approval, visit["node"])["mode"]
    statuses = list(get_statuses(approval, visit).values())
    if statuses.count("agreed") >= _get_needed(approval, visit):
        return "agreed"
    if not can_pass(approval, visit) or (mode == "any" and "rejected" in statuses):
        return "rejected"
    return "pending"


def can_pass(approval: Approval, visit: Visit) -> bool:
    """Return whether enough people of a visit agreed or have not decided yet."""
    statuses = list(get_statuses(approval, visit).values())
    return len(statuses) - statuses.count("rejected") >= _get_needed(approval, visit)


def _get_needed(approval: Approval, visit: Visit) -> int:
    if visit["needed"] is not None:
        return int(visit["needed"])
    # of a node that was reached before approvals stored the number
    asked = len(get_statuses(approval, visit))
    return min(count_needed(get_node(approval, visit["node"])["mode"], asked), asked)


def count_needed(mode: str, asked: int) -> int:
    """Return how many people must agree in this mode if `asked` people are named."""
    kind, _, count = mode.partition(":")
    return {"any": 1, "all": max(asked, 1)}.get(kind) or int(count)


def give_back(approval: Approval, user_id: int, node: Mapping[str, Any], reason: str, now: datetime) -> None:
    """Return an approval to the initiator, because of a node that it cannot pass."""
    add_history(approval, user_id, "return", now, reason, INITIATOR, node["key"])
    close(approval, STATES.after("return"), now)


def close(approval: Approval, status: str, now: datetime) -> None:
    """End an approval and cancel its open tasks."""
    _cancel(approval, approval["visits"])
    approval.update(status=status, finished_at=now)
    _refresh(approval)


def _cancel(approval: Approval, visits: Iterable[Visit]) -> None:
    left = [*visits]
    rounds = {one["round"] for one in left}
    for task in approval["tasks"]:
        if task["status"] in _OPEN and task["round"] in rounds:
            task["status"] = "cancelled"
    approval["visits"] = [one for one in approval["visits"] if one not in left]


def _change_tasks(approval: Approval, visit: Visit, before: str, after: str) -> None:
    for task in approval["tasks"]:
        if task["round"] == visit["round"] and task["status"] == before:
            task["status"] = after


def _refresh(approval: Approval) -> None:
    """Update the fields that lists query."""
    tasks, current = approval["tasks"], [one["node"] for one in current_visits(approval)]
    approval["current"] = current
    approval["node"] = current[0] if current else None
    approval["needed"] = current_visits(approval)[0]["needed"] if current else None
    approval["todo"] = sorted({task["user_id"] for task in tasks if task["status"] in ("pending", "advice")})
    approval["done"] = sorted({task["user_id"] for task in tasks if task["status"] in _ACTED})
    involved = {task["user_id"] for task in tasks} | {task["on_behalf_of"] for task in tasks} - {None}
    approval["shared_with"] = sorted({*approval["shared_with"], *involved, *approval["copied"], *approval["mentioned"]})
