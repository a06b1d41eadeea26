"""What every route promises; a new plugin is covered the moment it is declared.

What `handlers/lifecycle.py` does before a handler runs is proved by HTTP on one route of each kind, and for the others
by their declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from handlers.route import PUBLIC, SUPER, Route
from handlers.schema.errors import ValidationFailed
from handlers.schema.validation import bound_fields
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, expect, unique
from tests.support.catalogue import CATALOGUE, chosen_routes
from tests.support.openapi_checks import Described
from tests.support.operation_log import until_logged
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Exercise, Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=30)
# parameters that others contradict
ALONE = {"/api/v1/inventory/stock": {"day"}, "/api/v1/inventory/stock/export": {"day"}}
OPERATIONS = "/api/v1/system/operation-logs"
NO_ID = "f" * 24  # no integer, and the ObjectId of nothing
Rule = Callable[[Route], object]


def routes_that(rule: Rule) -> Iterator[Route]:
    """The routes that meet the rule, without sockets."""
    return (route for route in chosen_routes() if not route.socket and rule(route))


def every(rule: Rule = lambda route: True) -> pytest.MarkDecorator:
    """Run the test for every route that meets the rule."""
    return pytest.mark.parametrize("route", list(routes_that(rule)), ids=name_of)


def one_of_each_kind(rule: Rule = lambda route: True) -> pytest.MarkDecorator:
    """Run the test for the first route of each kind that meets the rule."""
    return pytest.mark.parametrize("route", _first_of_each_kind(routes_that(rule)), ids=name_of)


def _first_of_each_kind(routes: Iterable[Route]) -> list[Route]:
    first: dict[tuple[object, ...], Route] = {}
    for route in routes:
        first.setdefault(kind_of(route), route)
    return list(first.values())


def kind_of(route: Route) -> tuple[object, ...]:
    """All of a declaration by which `handlers/lifecycle.py` decides how to treat a request."""
    return (
        route.writes,
        "guarded" if route.guarded else route.access,
        route.body is not None,
        bool(route.body and bound_fields(route.body)),
        route.streamed,
        bool(route.bare),
        bool(route.instead),
        route.etag,
        route.logged,
        route.attempt is not None,
        route.signed is not None,
    )


def test_every_hand_made_request_is_of_a_route() -> None:
    assert set(HAND_MADE) - {name_of(route) for route in CATALOGUE.routes} == set()


# -- the routes themselves


@every()
async def test_a_valid_request_gets_the_described_response(
    route: Route, maker: Maker, described: Described, tradewind: Running
) -> None:
    """Sent to a record that is not there it is 40400, and once it is responded to, a write is in the operation log."""
    exercise = await maker.exercise(route)
    if route.parameters:
        reply = await exercise.client.call(route.method, path_with(route, NO_ID), exercise.body)
        expect(described.check(route, reply), 40400)
    if route.method == "GET" and route.query:
        reply = described.check(route, await exercise.client.get(with_examples(exercise, described)))
        # an example of a key may name nothing
        assert reply.status in (200, 404), reply.body.decode()[:500]
    request_id = unique("request")
    reply = described.check(route, await exercise.send({"X-Request-ID": request_id}))
    as_expected = reply.status == 200 if route.bare and not exercise.code else reply.code == exercise.code
    assert as_expected, reply.body.decode(errors="replace")[:2000]
    if route.writes and route.access != PUBLIC:
        row = await logged(request_id, tradewind, maker.admin)
        path = exercise.path.partition("?")[0]
        assert (row["code"], row["method"], row["path"]) == (exercise.code, route.method, path)
        assert row["user_id"] == exercise.client.user["userId"]


def with_examples(exercise: Exercise, described: Described) -> str:
    """The path with the examples of its query parameters."""
    path, _, query = exercise.path.partition("?")
    parameters = described.operation(exercise.route)["parameters"]
    examples = {one["name"]: _as_query(one["example"]) for one in parameters if one["in"] == "query"}
    together = {name: one for name, one in examples.items() if name not in ALONE.get(exercise.route.path, ())}
    return f"{path}?{urlencode({**together, **dict(parse_qsl(query))})}"


def _as_query(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


async def logged(request_id: str, service: Running, admin: Client) -> dict[str, Any]:
    """The one operation-log row of this request."""
    await until_logged(service)
    rows = expect(await admin.get(f"{OPERATIONS}?request_id={request_id}"))["items"]
    assert len(rows) == 1
    found: dict[str, Any] = rows[0]
    return found


@every(lambda route: route.guarded or route.access == SUPER)
async def test_without_the_permission_it_is_refused(route: Route, nobody: Client, described: Described) -> None:
    reply = await nobody.call(route.method, path_with(route, NO_ID))
    expect(described.check(route, reply), 40302 if route.access == SUPER else 40300)
    reason = reply.data["reason"]
    assert reply.data == {"permission": route.access if route.guarded else None, "reason": reason}
    words = CATALOGUE.operations[route.access].zh if route.guarded else ""
    assert reason == (f"缺少权限：{words}" if route.guarded else "仅超级管理员可操作")


# -- what all routes have in common


def test_every_route_takes_the_declared_fields_and_no_others() -> None:
    """So that each of them goes the way of its representative."""
    routes = list(routes_that(lambda _: True))
    queries = [one.name for one in routes if "no_such" not in faults(one.check_query, {"no_such": ["1"]})]
    with_body = [(one.name, one.check_body) for one in routes if one.check_body is not None]
    bodies = [name for name, check in with_body if "no_such" not in faults(check, {"no_such": 1})]
    arrays = [name for name, check in with_body if not faults(check, [])]
    assert (queries, bodies, arrays) == ([], [], [])


def faults(check: Callable[[Any], Any], value: Any) -> set[str]:
    """The fields at fault."""
    try:
        check(value)
    except ValidationFailed as failure:
        return {fault.field for fault in failure.errors}
    return set()


def test_every_route_that_people_log_in_for_leaves_its_writes_in_the_operation_log() -> None:
    assert [
        route.name for route in routes_that(lambda one: one.writes and one.access != PUBLIC) if not route.logged
    ] == []


@one_of_each_kind(lambda route: route.access != PUBLIC)
async def test_without_a_token_it_is_40100(route: Route, anonymous: Client, described: Described) -> None:
    expect(described.check(route, await anonymous.call(route.method, path_with(route, NO_ID))), 40100)


@one_of_each_kind()
async def test_an_unknown_query_parameter_is_named(route: Route, admin: Client, described: Described) -> None:
    path = f"{path_with(route, NO_ID)}?no_such_parameter=1"
    assert_named("no_such_parameter", described.check(route, await admin.call(route.method, path)))


@one_of_each_kind(lambda route: route.writes and not route.streamed)
async def test_an_unknown_body_field_is_named(route: Route, admin: Client, described: Described) -> None:
    reply = await admin.call(route.method, path_with(route, NO_ID), {"no_such_field": 1})
    assert_named("no_such_field", described.check(route, reply))


def assert_named(field: str, reply: Reply) -> None:
    expect(reply, 40001)
    assert field in reply.fields


@one_of_each_kind(lambda route: route.body is not None)
@pytest.mark.parametrize(
    ("sent", "media_type", "code"),
    [(b'{"name": ', "application/json", 40000), (b"[]", "application/json", 40001), (b"{}", "text/plain", 41500)],
    ids=["no JSON", "an array", "another media type"],
)
async def test_a_body_that_is_no_json_object_is_refused(
    route: Route, sent: bytes, media_type: str, code: int, admin: Client, described: Described
) -> None:
    headers = {"Content-Type": media_type}
    reply = await admin.call(route.method, path_with(route, NO_ID), raw=sent, headers=headers)
    expect(described.check(route, reply), code)
    assert code != 41500 or "application/json" in reply.json["msg"]


@one_of_each_kind(lambda route: route.writes and route.access != PUBLIC)
async def test_a_refused_write_leaves_one_operation_log_row(
    route: Route, nobody: Client, admin: Client, tradewind: Running
) -> None:
    request_id = unique("request")
    await Exercise(nobody, route, f"{path_with(route, NO_ID)}?no_such_parameter=1").send({"X-Request-ID": request_id})
    row = await logged(request_id, tradewind, admin)
    assert row["code"] == (40300 if route.guarded else 40302 if route.access == SUPER else 40001)
    assert (row["method"], row["route"], row["user_id"]) == (route.method, route.path, nobody.user["userId"])


async def test_every_socket_asks_who_is_there(nobody: Client, admin: Client) -> None:
    for route in (one for one in chosen_routes() if one.socket):
        path = path_with(route, NO_ID)
        assert await _handshake(admin, path, None) == 401, name_of(route)
        assert await _handshake(admin, path, nobody.token) == (403 if route.guarded else 101), name_of(route)
        assert await _handshake(admin, path, admin.token) == 101, name_of(route)


async def _handshake(client: Client, path: str, token: str | None) -> int:
    """The status of the response to a WebSocket handshake."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        socket = await websocket_connect(HTTPRequest(client.url.replace("http", "ws", 1) + path, headers=headers))
    except HTTPClientError as refusal:
        return refusal.code
    socket.close()
    return 101
