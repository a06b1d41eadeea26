"""Random flows, companies and actions, against the model; and the check of branches, against all amounts.

`tests/experiments/approval/test_flows.py` does the same twenty thousand times.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress

from plugins.api import Field, money, text
from plugins.approval.coverage import Coverage
from plugins.approval.flow import copy_approval
from plugins.approval.tree import MAX_DEPTH, find_tree_faults
from tests.declarations.approval.engine_driver import Driven, stored, submit
from tests.declarations.approval.flow_model import (
    Ask,
    Branch,
    Company,
    Flow,
    Lanes,
    Model,
    begin,
    random_company,
    random_flow,
)

ACTIONS = ("agree", "agree", "agree", "agree", "reject", "send-back", "transfer")
AMOUNTS = [one / 2 for one in range(-2, 21)]
RUNS = 80


def compare(seed: int) -> str:
    """Play a random case on the plugin's rules and on the model; return how it ended."""
    chance = random.Random(seed)
    company = random_company(chance)
    flow, skip = random_flow(chance, company.people), chance.random() < 0.4
    amount, initiator = chance.choice(AMOUNTS), chance.choice(company.people)
    model, driven = (one(flow, amount, company, initiator, skip) for one in (begin, submit))
    assert (model is None) == (driven is None), seed
    if model is None or driven is None:
        return "refused"
    keys = [one["key"] for one in driven.approval["nodes"]]
    for _ in range(40):
        assert (driven.approval["status"], driven.waiting) == (model.status, model.waiting), seed
        if model.status != "pending":
            break
        assert model.waiting, seed  # whatever waits, waits for somebody
        key, who = chance.choice(sorted(model.waiting))
        who = who if chance.random() < 0.9 else chance.choice(company.people)
        action = chance.choice(ACTIONS)
        to = chance.choice(keys) if action == "send-back" else chance.choice(company.people)
        assert model.act(who, key, action, to) == driven.act(who, key, action, to), (seed, action)
        assert initiator == 1 or all(one != initiator for _, one in driven.waiting), seed
    return model.status


def test_random_flows_ask_and_end_as_the_model_says() -> None:
    ends = {compare(seed) for seed in range(RUNS)}
    assert ends >= {"refused", "approved", "rejected", "returned"}


# -- the check of branches


def amount_only(path: str) -> Field:
    return {"amount": money(nullable=False), "level": text(nullable=False)}[path]


def walked(flow: Flow, amounts: list[float]) -> Iterator[tuple[str, str | None]]:
    """What is wrong with a flow, by trying each of these amounts."""
    branches = [*_branches(flow)]
    seen: set[tuple[str, str]] = set()
    unasked = False
    for amount in amounts:
        with suppress(LookupError):
            unasked = not Model.path(flow, amount) or unasked
        _visit(flow, amount, seen)
    for step in branches:
        for number, _ in enumerate(step.cases):
            if (step.key, str(number)) not in seen and _reached(flow, step, amounts):
                yield "unreachable", step.key
        if (step.key, "open") in seen:
            yield "uncovered", step.key
    if unasked:
        yield "nobody_asked", None


def _branches(flow: Flow) -> Iterator[Branch]:
    for step in flow:
        parts = [part for _, _, part in step.cases] if isinstance(step, Branch) else []
        parts += step.lanes if isinstance(step, Lanes) else []
        if isinstance(step, Branch):
            yield step
        for part in parts:
            yield from _branches(part)


def _visit(flow: Flow, amount: float, seen: set[tuple[str, str]]) -> None:
    for step in flow:
        if isinstance(step, Lanes):
            for lane in step.lanes:
                _visit(lane, amount, seen)
        elif isinstance(step, Branch):
            at = next((n for n, (low, high, _) in enumerate(step.cases) if low <= amount < high), None)
            seen.add((step.key, "here"))
            seen.add((step.key, "open" if at is None else str(at)))
            if at is not None:
                _visit(step.cases[at][2], amount, seen)


def _reached(flow: Flow, branch: Branch, amounts: list[float]) -> bool:
    seen: set[tuple[str, str]] = set()
    for amount in amounts:
        _visit(flow, amount, seen)
    return (branch.key, "here") in seen


def check(seed: int) -> int:
    """Compare the findings about a random flow with what trying all amounts shows; return how many there are."""
    chance = random.Random(seed)
    flow = random_flow(chance, [2, 3, 4], depth=3)
    nodes = stored(flow)
    found = {(one.rule, one.node) for one in Coverage({"nodes": nodes, "conditions": []}, amount_only).find()}
    expected = {*walked(flow, AMOUNTS)}
    if any(rule == "uncovered" for rule, _ in expected):  # then it is not said who else is not asked
        expected.discard(("nobody_asked", None))
    assert found == expected, (seed, found, expected)
    return len(found)


def test_the_check_of_branches_finds_what_trying_every_amount_finds() -> None:
    counts = [check(seed) for seed in range(RUNS)]
    assert 0 in counts
    assert any(counts)


def test_conditions_on_texts_lists_and_missing_values_are_told_apart() -> None:
    def flow(*branches: list[tuple[str, str, object]]) -> dict[str, object]:
        parts = [
            {"name": f"{n}", "nodes": [], "conditions": [{"field": f, "op": op, "value": v} for f, op, v in one]}
            for n, one in enumerate(branches)
        ]
        return {"nodes": [{"key": "b", "branches": parts, "name": "b"}, {"key": "end", "name": "end"}]}

    def rules(*branches: list[tuple[str, str, object]]) -> list[tuple[str, str | None]]:
        return [(one.rule, one.branch) for one in Coverage(flow(*branches), fields.get).find()]

    fields = {"text": text(nullable=False)}
    assert rules([("text", "contains", "x")], [("text", "contains", "xy")], []) == [("unreachable", "1")]
    assert rules([("text", "contains", "xy")], [("text", "contains", "x")], []) == []
    assert (
        rules([("a", "contains", "x")], [("a", "contains", "xy")], []) == []
    )  # a list may have the one and not the other
    assert rules([("a", "exists", True)], [("a", "eq", None)]) == []
    assert rules([("a", "in", ["x", "y"])], [("a", "not_in", ["y", "x"])]) == []
    assert rules([("a", "gte", 5)], [("a", "lt", 5)]) == [("uncovered", None)]  # nothing is neither
    assert rules([("a", "eq", "x"), ("b", "eq", "y")], [("a", "ne", "x")], [("b", "ne", "y")]) == []
    assert rules([("a", "eq", "x")], [("a", "eq", "x"), ("b", "eq", 1)], []) == [("unreachable", "1")]


def test_nodes_deeper_than_allowed_are_no_tree() -> None:
    inner: Flow = [Ask("end", [2], 0, "any", "end", "leader", [])]
    for number in range(MAX_DEPTH):
        assert not [*find_tree_faults(stored(inner))]
        inner = [Branch(f"b{number}", [(float("-inf"), 5, inner), (5, float("inf"), [])])]
    assert {one.rule for one in find_tree_faults(stored(inner))} == {"levels"}


def test_an_approval_of_a_version_without_lanes_goes_on() -> None:
    """It says which node is the current one, and nothing else; so does one that such a version moved on meanwhile."""
    company = Company([1, 2, 3, 4], set(), set(), {}, {})
    flow: Flow = [Ask(f"n{number}", [number], 0, "any", "end", "leader", []) for number in (2, 3, 4)]
    driven = submit(flow, 1, company, 1, skip=False)
    assert driven is not None
    for moved in (False, True):
        old = {name: value for name, value in driven.approval.items() if moved or name not in ("visits", "passed")}
        if moved:
            old.update(
                node="n3", round=2, needed=1, tasks=[{**old["tasks"][0], "node": "n3", "round": 2, "user_id": 3}]
            )
        on = Driven(copy_approval(old), company)
        who = 3 if moved else 2
        assert on.act(who, f"n{who}", "agree", None)
        assert on.waiting == {(f"n{who + 1}", who + 1)}
        assert on.approval["passed"] == [f"n{number}" for number in range(2, who + 1)]
