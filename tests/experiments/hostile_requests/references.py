"""Other people's records: every operation on the record of somebody else must be refused."""

from __future__ import annotations

import re
from typing import Any

from tests.experiments.hostile_requests.target import Attack, Judge, Operation, Part, Target, json_attack

_OBJECT_ID = re.compile(r"^[0-9a-f]{24}$")
# records that belong to the company, and public pages, are visible to everybody
_HIDDEN = frozenset({"40400", "40300", "40302", "40001", "40901", "40010", "40902"})


async def attack_references(target: Target) -> Part:
    """As a person who sees only their own rows, request the records of the demo data that this person may not see."""
    part = Part("other people's records")
    stranger = await target.make_person("self")
    judge = Judge(part, target.server.port, stranger.token)
    attacks: list[tuple[str, Attack]] = []
    seen = 0
    for lister in [each for each in target.operations if _lists(target, each)]:
        rows = await _rows(target, lister)
        own = await stranger.call("GET", f"{lister.path}?page_size=200")
        visible = {str(row.get("id")) for row in _items(own.data)} if own.outcome == "0" else set()
        hidden = [row for row in rows if row not in visible][:5]
        seen += len(hidden)
        for operation in target.operations:
            if operation.path.startswith(lister.path + "/{"):
                attacks += [_attack(operation, row) for row in hidden]
    await judge.send_all(attacks)
    answered = {outcome: n for outcome, n in part.outcomes.items() if outcome not in _HIDDEN}
    part.notes = {"records out of scope": seen, "outcomes other than refusals": answered}
    for outcome, count in answered.items():
        part.fault(f"{count} operations on other people's records gave {outcome}")
    stranger.drop()
    return part


def _lists(target: Target, operation: Operation) -> bool:
    has_page = any(parameter["name"] == "page_size" for parameter in operation.parameters)
    return operation.method == "GET" and has_page and "{" not in operation.path and not operation.is_public


async def _rows(target: Target, lister: Operation) -> list[str]:
    reply = await target.admin.call("GET", f"{lister.path}?page_size=200")
    found = [str(row["id"]) for row in _items(reply.data) if "id" in row] if reply.outcome == "0" else []
    return [row for row in found if _OBJECT_ID.match(row)]


def _items(data: Any) -> list[dict[str, Any]]:
    return list(data["items"]) if isinstance(data, dict) and "items" in data else []


def _attack(operation: Operation, row: str) -> tuple[str, Attack]:
    body = {"version": 1} if operation.method in ("POST", "PUT", "PATCH") else None
    return f"{operation.name} of {row}", json_attack(operation.method, operation.at(row), body)
