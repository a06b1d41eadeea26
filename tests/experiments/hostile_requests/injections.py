"""Query operators and wrong types in every parameter and every field of every body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tests.experiments.fault_injection.clients import Connection, Reply
from tests.experiments.hostile_requests.target import Attack, Judge, Operation, Part, Target, json_attack

# these end the attacker's own session, or have long responses on purpose
_LEFT_OUT = ("/api/v1/auth/logout", "/api/v1/auth/password", "/api/v1/auth/sessions", "/export", "/ws")
_BODY_VALUES: tuple[Any, ...] = (
    {"$ne": None},
    {"$gt": ""},
    {"$regex": ".*"},
    {"$where": "sleep(5000)"},
    {"$expr": {"$function": {"body": "function(){}", "args": [], "lang": "js"}}},
    [{"$ne": None}],
    [[[[]]]],
    {},
    {"a": {"b": {"c": {}}}},
    True,
    -1,
    1.5,
    2**63,
    10**30,
    1e308,
    "\x00",
    "$ne",
    "\ud800",
    "x" * 20_000,
)
_QUERY_VALUES = (
    "[$ne]=1",
    "[$gt]=",
    "[$regex]=.*",
    "[$where]=sleep(5000)",
    "[]=1",
    '={"$ne":null}',
    "=%00",
    "=%ff",
    "=%ed%a0%80",
    "=-1",
    "=1e400",
    "=99999999999999999999999",
    "=NaN",
    "=" + "x" * 3000,
    "=1&{name}=2",
)
_PATH_VALUES = (
    "0",
    "-1",
    "1.5",
    "9" * 30,
    "%00",
    "%ff",
    "..%2f..%2fetc%2fpasswd",
    "$ne",
    "{%22$ne%22:1}",
    "%F0%9F%92%A9",
    "0" * 24,
    "f" * 24,
    "x" * 2000,
)


async def attack_injections(target: Target, person: str) -> Part:
    """Send operators and wrong types as the administrator, whom no permission check stops, or an ordinary person."""
    part = Part(f"operators and types, {person}")
    token = target.admin.token if person == "administrator" else target.person.token
    counts = {"query": 0, "body": 0, "path": 0}
    attacks: list[tuple[str, Attack]] = []
    for operation in target.operations:
        if operation.path.startswith(_LEFT_OUT[:3]) or operation.path.endswith(_LEFT_OUT[3:]):
            continue
        for kind, made in (("query", _in_query), ("body", _in_body), ("path", _in_path)):
            found = list(made(target, operation))
            counts[kind] += len(found)
            attacks += found
    await Judge(part, target.server.port, token).send_all(attacks)
    part.notes = {**counts, "accepted": part.outcomes["0"]}
    return part


def _in_query(target: Target, operation: Operation) -> Iterator[tuple[str, Attack]]:
    for parameter in operation.parameters:
        if parameter["in"] == "query":
            for value in _QUERY_VALUES:
                name = parameter["name"]
                path = f"{operation.at('1')}?{quote(name)}{value.replace('{name}', quote(name)).replace(' ', '%20')}"
                yield f"{operation.method} {path[:200]}", json_attack(operation.method, path.replace('"', "%22"))


def _in_path(target: Target, operation: Operation) -> Iterator[tuple[str, Attack]]:
    if "{" in operation.path:
        for value in _PATH_VALUES:
            body: Any = {} if operation.method in ("POST", "PUT", "PATCH") else None
            path = operation.at(value)
            yield f"{operation.method} {path[:200]}", json_attack(operation.method, path, body)


def _in_body(target: Target, operation: Operation) -> Iterator[tuple[str, Attack]]:
    schema = target.body_of(operation)
    if schema is None:
        return
    for name in _places(target, schema):
        for value in _BODY_VALUES:
            sent = _put(name, value)
            yield (
                f"{operation.name} {'.'.join(name)} = {str(value)[:60]!r}",
                _raw_json(operation.method, operation.at("1"), sent),
            )


def _raw_json(method: str, path: str, body: Any) -> Attack:
    async def attack(connection: Connection) -> Reply:
        return await connection.call(method, path, body)

    return attack


def _places(target: Target, schema: dict[str, Any], depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all fields of a body, two levels deep; `[]` stands for an item of a list."""
    for name, child in schema.get("properties", {}).items():
        yield (name,)
        if depth < 2:
            child = target.resolve(child)
            inner = [child, *(target.resolve(option) for option in child.get("anyOf", ()))]
            for option in inner:
                for below in _places(target, option, depth + 1):
                    yield (name, *below)
                items = target.resolve(option.get("items", {}))
                for below in _places(target, items, depth + 1):
                    yield (name, "[]", *below)


def _put(place: tuple[str, ...], value: Any) -> Any:
    made = value
    for step in reversed(place):
        made = [made] if step == "[]" else {step: made}
    return made
