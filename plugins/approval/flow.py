"""What an answer does to an approval: plain values in, plain values out, no database.

A case is a copy of the stored approval that these functions change. Who is asked when a node is reached is fixed
then, as tasks; `round` tells the tasks of one visit to a node from those of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from plugins.api import CONFLICT, ApiError
from plugins.approval.messages import TOO_LONG
from plugins.approval.records import MAX_STEPS

Case = dict[str, Any]
Verdict = Literal["pending", "agreed", "rejected"]
_CHANGING = (
    "definition_id",
    "title",
    "record",
    "status",
    "nodes",
    "node",
    "round",
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
class Asked:
    """Somebody who is asked, maybe in the place of somebody else."""

    user_id: int
    on_behalf_of: int | None = None


def blank(initiator_id: int, nodes: Sequence[Mapping[str, Any]]) -> Case:
    """The part of a new approval that flows change."""
    return {
        "status": "draft",
        "nodes": list(nodes),
        "node": None,
        "round": 0,
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


def opened(instance: Mapping[str, Any]) -> Case:
    """A case to work on."""
    return deepcopy(dict(instance))


def changed(case: Case) -> dict[str, Any]:
    """What is to be stored of a case."""
    return {name: case[name] for name in _CHANGING}


def people_behind(case: Mapping[str, Any]) -> frozenset[int]:
    """Whose request it is: the initiator, and whoever made, submitted or owns the record."""
    return frozenset({case["initiator_id"], *(case.get("behind") or ())})


def node_of(case: Case, key: str | None) -> Mapping[str, Any]:
    """The node with this key."""
    found: Mapping[str, Any] = next(node for node in case["nodes"] if node["key"] == key)
    return found


def next_node(case: Case) -> Mapping[str, Any] | None:
    """The node behind the present one, or None at the end."""
    keys = [node["key"] for node in case["nodes"]]
    behind = keys.index(case["node"]) + 1
    return case["nodes"][behind] if behind < len(keys) else None


def earlier_nodes(case: Case) -> list[str]:
    """The keys of the nodes before the present one."""
    keys = [node["key"] for node in case["nodes"]]
    return keys[: keys.index(case["node"])]


def task_of(case: Case, user_id: int) -> dict[str, Any] | None:
    """The person's pending task, or None."""
    pending = (task for task in case["tasks"] if task["status"] == "pending" and task["user_id"] == user_id)
    return next(pending, None)


def ask(case: Case, node: Mapping[str, Any], people: Iterable[Asked]) -> None:
    """Reach a node: its people get a task each, and nobody else has one any more."""
    _cancel(case)
    case["round"] += 1
    case["node"] = node["key"]
    for one in people:
        add_task(case, one)
    _refresh(case)


def add_task(case: Case, one: Asked) -> None:
    """One more person who is asked at the present node."""
    case["tasks"].append(
        {
            "node": case["node"],
            "round": case["round"],
            "user_id": one.user_id,
            "on_behalf_of": one.on_behalf_of,
            "status": "pending",
            "acted_at": None,
            "comment": None,
        }
    )
    _refresh(case)


def answer(case: Case, task: dict[str, Any], status: str, now: datetime, comment: str | None) -> None:
    """Note what somebody did with their task."""
    task.update(status=status, acted_at=now, comment=comment)
    _refresh(case)


def note(case: Case, user_id: int, action: str, now: datetime, comment: str | None, to: str | None = None) -> None:
    """Put a step into the history; 40901 for an approval that never comes to an end."""
    if len(case["history"]) >= MAX_STEPS:
        raise ApiError(CONFLICT, TOO_LONG)
    case["history"].append(
        {"at": now, "user_id": user_id, "action": action, "node": case["node"], "to": to, "comment": comment}
    )


def asked_now(case: Case) -> dict[int, str]:
    """Person → answer, of those who are asked at this visit to the present node; transferred tasks do not count."""
    now = (task for task in case["tasks"] if task["round"] == case["round"] and task["status"] in _COUNTING)
    return {task["user_id"]: task["status"] for task in now}


def verdict(case: Case) -> Verdict:
    """What the answers at the present node amount to."""
    mode = node_of(case, case["node"])["mode"]
    answers = list(asked_now(case).values())
    agreed, rejected = answers.count("agreed"), answers.count("rejected")
    needed = _needed(mode, len(answers))
    if agreed >= needed:
        return "agreed"
    if len(answers) - rejected < needed or (mode == "any" and rejected):
        return "rejected"
    return "pending"


def _needed(mode: str, asked: int) -> int:
    kind, _, count = mode.partition(":")
    return {"any": 1, "all": asked}.get(kind) or min(int(count or 1), asked)


def close(case: Case, status: str, now: datetime) -> None:
    """End it: nobody is asked any more."""
    _cancel(case)
    case.update(status=status, node=None, finished_at=now)
    _refresh(case)


def _cancel(case: Case) -> None:
    for task in case["tasks"]:
        if task["status"] == "pending":
            task["status"] = "cancelled"


def _refresh(case: Case) -> None:
    """The fields by which lists are found."""
    tasks = case["tasks"]
    case["todo"] = sorted({task["user_id"] for task in tasks if task["status"] == "pending"})
    case["done"] = sorted({task["user_id"] for task in tasks if task["status"] in _ACTED})
    involved = {task["user_id"] for task in tasks} | {task["on_behalf_of"] for task in tasks} - {None}
    case["shared_with"] = sorted({*case["shared_with"], *involved, *case["copied"]})
