"""The rules of an approval: what a decision leads to. The functions use plain values and no database.

An `Approval` is a copy of the stored instance, which these functions change. When a node becomes the current one, its
people get tasks; `round` distinguishes the tasks of one visit to a node from those of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from plugins.api import CONFLICT, ApiError
from plugins.approval.messages import TOO_LONG
from plugins.approval.records import MAX_STEPS

Approval = dict[str, Any]
NodeResult = Literal["pending", "agreed", "rejected"]
_STORED_FIELDS = (
    "definition_id",
    "title",
    "record",
    "status",
    "nodes",
    "node",
    "round",
    "needed",
    "tasks",
    "history",
    "todo",
    "done",
    "copied",
    "shared_with",
    "behind",
    "submitted_at",
    "finished_at",
)
_COUNTING = ("pending", "agreed", "rejected")
_ACTED = ("agreed", "rejected", "sent_back", "transferred")


@dataclass(frozen=True)
class Assignee:
    """A person who gets a task, maybe in place of somebody else, and by which rule: `delegate`, or that of the node."""

    user_id: int
    on_behalf_of: int | None = None
    absent: str | None = None


@dataclass(frozen=True)
class Panel:
    """The people that a node asks, each once, and how many of them must agree."""

    people: Sequence[Assignee]
    needed: int

    @property
    def is_complete(self) -> bool:
        """Whether there are as many people as must agree."""
        return len(self.people) >= self.needed


def initial_values(initiator_id: int, nodes: Sequence[Mapping[str, Any]]) -> Approval:
    """Return the fields of a new approval that the functions of this module change."""
    return {
        "status": "draft",
        "nodes": list(nodes),
        "node": None,
        "round": 0,
        "needed": None,
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


def copy_approval(instance: Mapping[str, Any]) -> Approval:
    """Return a copy of an approval to work on."""
    return {"needed": None, **deepcopy(dict(instance))}


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


def next_node(approval: Approval) -> Mapping[str, Any] | None:
    """Return the node after the current one, or None at the end."""
    keys = [node["key"] for node in approval["nodes"]]
    following = keys.index(approval["node"]) + 1
    return approval["nodes"][following] if following < len(keys) else None


def earlier_nodes(approval: Approval) -> list[str]:
    """Return the keys of the nodes before the current one."""
    keys = [node["key"] for node in approval["nodes"]]
    return keys[: keys.index(approval["node"])]


def find_task(approval: Approval, user_id: int) -> dict[str, Any] | None:
    """Return the person's pending task, or None."""
    pending = (task for task in approval["tasks"] if task["status"] == "pending" and task["user_id"] == user_id)
    return next(pending, None)


def ask(approval: Approval, node: Mapping[str, Any], panel: Panel) -> None:
    """Make a node the current one: its people get a task each, and all other tasks are cancelled."""
    _cancel(approval)
    approval["round"] += 1
    approval["node"] = node["key"]
    approval["needed"] = panel.needed
    for one in panel.people:
        add_task(approval, one)
    _refresh(approval)


def add_task(approval: Approval, one: Assignee) -> None:
    """Give one more person a task at the current node."""
    approval["tasks"].append(
        {
            "node": approval["node"],
            "round": approval["round"],
            "user_id": one.user_id,
            "on_behalf_of": one.on_behalf_of,
            "absent": one.absent,
            "status": "pending",
            "acted_at": None,
            "comment": None,
        }
    )
    _refresh(approval)


def complete_task(approval: Approval, task: dict[str, Any], status: str, now: datetime, comment: str | None) -> None:
    """Complete a task with a status and a comment."""
    task.update(status=status, acted_at=now, comment=comment)
    _refresh(approval)


def add_history(
    approval: Approval, user_id: int, action: str, now: datetime, comment: str | None, to: str | None = None
) -> None:
    """Add a step to the history. Raises 40901 for an approval with too many steps."""
    if len(approval["history"]) >= MAX_STEPS:
        raise ApiError(CONFLICT, TOO_LONG)
    approval["history"].append(
        {"at": now, "user_id": user_id, "action": action, "node": approval["node"], "to": to, "comment": comment}
    )


def get_statuses(approval: Approval) -> dict[int, str]:
    """Return user id → status for the pending and decided tasks of this round. Transferred tasks do not count."""
    now = (task for task in approval["tasks"] if task["round"] == approval["round"] and task["status"] in _COUNTING)
    return {task["user_id"]: task["status"] for task in now}


def evaluate(approval: Approval) -> NodeResult:
    """Return the result of the current node according to the decisions so far."""
    mode = get_node(approval, approval["node"])["mode"]
    statuses = list(get_statuses(approval).values())
    if statuses.count("agreed") >= _get_needed(approval):
        return "agreed"
    if not can_pass(approval) or (mode == "any" and "rejected" in statuses):
        return "rejected"
    return "pending"


def can_pass(approval: Approval) -> bool:
    """Return whether enough people of this round agreed or have not decided yet."""
    statuses = list(get_statuses(approval).values())
    return len(statuses) - statuses.count("rejected") >= _get_needed(approval)


def _get_needed(approval: Approval) -> int:
    if approval["needed"] is not None:
        return int(approval["needed"])
    # of a node that was reached before approvals stored the number
    asked = len(get_statuses(approval))
    return min(count_needed(get_node(approval, approval["node"])["mode"], asked), asked)


def count_needed(mode: str, asked: int) -> int:
    """Return how many people must agree in this mode if `asked` people are named."""
    kind, _, count = mode.partition(":")
    return {"any": 1, "all": max(asked, 1)}.get(kind) or int(count)


def close(approval: Approval, status: str, now: datetime) -> None:
    """End an approval and cancel its pending tasks."""
    _cancel(approval)
    approval.update(status=status, node=None, finished_at=now)
    _refresh(approval)


def _cancel(approval: Approval) -> None:
    for task in approval["tasks"]:
        if task["status"] == "pending":
            task["status"] = "cancelled"


def _refresh(approval: Approval) -> None:
    """Update the fields that lists query."""
    tasks = approval["tasks"]
    approval["todo"] = sorted({task["user_id"] for task in tasks if task["status"] == "pending"})
    approval["done"] = sorted({task["user_id"] for task in tasks if task["status"] in _ACTED})
    involved = {task["user_id"] for task in tasks} | {task["on_behalf_of"] for task in tasks} - {None}
    approval["shared_with"] = sorted({*approval["shared_with"], *involved, *approval["copied"]})
