"""Drives the rules of the plugin as its routes do, without a database, beside the model."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

from plugins.approval import flow as rules
from plugins.approval.engine import choose_branch
from plugins.approval.panels import Person, Staff
from plugins.approval.tree import find_path, find_tree_faults
from tests.declarations.approval.flow_model import BOSS, Ask, Branch, Company, Flow

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def stored(flow: Flow) -> list[dict[str, Any]]:
    """The nodes of a flow of the model as the plugin stores them."""
    nodes: list[dict[str, Any]] = []
    below: list[dict[str, Any]] = []
    for step in flow:
        node: dict[str, Any] = {"key": step.key, "name": step.key, "mode": "any", "on_reject": "end", "approvers": {}}
        nodes.append(node)
        parts: list[Flow] = []
        if isinstance(step, Ask):
            level = {"initiator_leader": step.level} if step.level else {}
            node.update(approvers={"users": step.users, **level}, mode=step.mode, on_reject=step.on_reject)
            node.update(absent=step.absent, substitutes={"users": step.substitutes})
        elif isinstance(step, Branch):
            parts = [flow for _, _, flow in step.cases]
            bounds = [(("gte", low), ("lt", high)) for low, high, _ in step.cases]
            node["branches"] = [
                {
                    "name": str(number),
                    "conditions": [
                        {"field": "amount", "op": op, "value": str(value)} for op, value in bound if abs(value) < 100
                    ],
                    "nodes": [one.key for one in part],
                }
                for number, (bound, part) in enumerate(zip(bounds, parts, strict=True))
            ]
        else:
            parts = step.lanes
            node["lanes"] = [{"name": f"{n}", "nodes": [one.key for one in lane]} for n, lane in enumerate(parts)]
        for part in parts:
            below += stored(part)
    return [*nodes, *below]


def staff_of(company: Company) -> Staff:
    people = {
        one: Person(
            enabled=one not in company.gone,
            away=one in company.away,
            is_super=one == BOSS,
            leaders=company.leaders.get(one, []),
        )
        for one in company.people
    }
    return Staff(people, {}, {}, company.delegates)


class Driven:
    """An approval that the plugin's rules move."""

    def __init__(self, approval: dict[str, Any], company: Company) -> None:
        self.approval = approval
        self.staff = staff_of(company)
        self.panels = partial(self.staff.panel, approval=approval)

    @property
    def waiting(self) -> set[tuple[str, int]]:
        return {(one["node"], one["user_id"]) for one in self.approval["tasks"] if one["status"] == "pending"}

    def act(self, who: int, key: str, action: str, to: Any) -> bool:
        """Do what the route of this action does; return whether it is refused."""
        approval = self.approval
        task = rules.find_task(approval, who, key) if approval["status"] == "pending" else None
        if task is None:
            return False
        visit = rules.visit_of(approval, task)
        if action == "transfer":
            barred = self.staff.excluded(rules.people_behind(approval))
            if to in rules.get_statuses(approval, visit) or to in barred or not self.staff.is_enabled(to):
                return False
            rules.complete_task(approval, task, "transferred", NOW, None)
            rules.add_task(approval, visit, rules.Assignee(to, who))
            return True
        if action == "send-back" and to not in rules.earlier_nodes(approval, visit):
            return False
        done = {"agree": "agreed", "reject": "rejected", "send-back": "sent_back"}[action]
        rules.complete_task(approval, task, done, NOW, None)
        try:
            if action == "send-back":
                rules.send_back(approval, to, False, self.panels, NOW)
            else:
                rules.settle(approval, self.panels, NOW)
        except rules.TooFew as lack:
            rules.give_back(approval, who, lack.node, "too few", NOW)
        return True


def submit(flow: Flow, amount: float, company: Company, initiator: int, skip: bool) -> Driven | None:
    """Submit a request as the plugin does; None if it refuses."""
    nodes = stored(flow)
    assert [*find_tree_faults(nodes)] == []
    path = find_path(nodes, partial(choose_branch, {"amount": str(amount)}, {}))
    if path.open_node is not None or not path.nodes:
        return None
    approval = {
        **rules.initial_values(initiator, path.nodes),
        "initiator_id": initiator,
        "status": "pending",
        "repeated": "skip" if skip else "ask",
    }
    driven = Driven(approval, company)
    try:
        rules.start(approval, driven.panels, NOW)
    except rules.TooFew:
        return None
    return driven
