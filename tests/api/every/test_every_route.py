"""What every route promises, one test for each promise; a new plugin is covered the moment it is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from handlers.route import PUBLIC, SUPER, Route
from plugins.runtime import Running
from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE
from tests.support.openapi_checks import Described
from tests.support.operation_log import until_logged
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Exercise, Maker, name_of, path_with

pytestmark = pytest.mark.gen_test(timeout=30)
OPERATIONS = "/api/v1/system/operation-logs"
NO_ID = "f" * 24  # no integer, and the ObjectId of nothing


def every(rule: Callable[[Route], object] = lambda route: True) -> pytest.MarkDecorator:
    """Run the test for every route that meets the rule."""
    routes = [route for route in CATALOGUE.routes if not route.socket and rule(route)]
    return pytest.mark.parametrize("route", routes, ids=name_of)


def test_every_hand_made_request_is_of_a_route() -> None:
    assert set(HAND_MADE) - {name_of(route) for route in CATALOGUE.routes} == set()


@every()
async def test_a_valid_request_gets_the_described_response(route: Route, maker: Maker, described: Described) -> None:
    exercise = await maker.exercise(route)
    reply = described.check(route, await exercise.send())
    as_expected = reply.status == 200 if route.bare and not exercise.code else reply.code == exercise.code
    assert as_expected, reply.body.decode(errors="replace")[:2000]


@every(lambda route: route.method == "GET" and route.query)
async def test_the_examples_of_its_query_parameters_are_accepted(
    route: Route, maker: Maker, described: Described
) -> None:
    exercise = await maker.exercise(route)
    given = dict(parse_qsl(exercise.path.partition("?")[2]))
    examples = {
        one["name"]: _as_query(one["example"])
        for one in described.operation(route)["parameters"]
        if one["in"] == "query"
    }
    query = urlencode({**examples, **given})
    reply = described.check(route, await exercise.client.get(f"{exercise.path.partition('?')[0]}?{query}"))
    # an example of a key may name nothing
    assert reply.status in (200, 404), reply.body.decode()[:500]


def _as_query(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


@every(lambda route: route.access != PUBLIC)
async def test_without_a_token_it_is_40100(route: Route, anonymous: Client, described: Described) -> None:
    expect(described.check(route, await anonymous.call(route.method, path_with(route, NO_ID))), 40100)


@every(lambda route: route.guarded or route.access == SUPER)
async def test_without_the_permission_it_is_refused(route: Route, nobody: Client, described: Described) -> None:
    reply = await nobody.call(route.method, path_with(route, NO_ID))
    expect(described.check(route, reply), 40302 if route.access == SUPER else 40300)
    reason = reply.data["reason"]
    assert reply.data == {"permission": route.access if route.guarded else None, "reason": reason}
    words = CATALOGUE.operations[route.access].zh if route.guarded else ""
    assert reason == (f"缺少权限：{words}" if route.guarded else "仅超级管理员可操作")


@every(lambda route: route.writes and not route.streamed)
async def test_an_unknown_body_field_is_named(route: Route, admin: Client, described: Described) -> None:
    reply = described.check(route, await admin.call(route.method, path_with(route, NO_ID), {"no_such_field": 1}))
    expect(reply, 40001)
    assert "no_such_field" in reply.fields


@every()
async def test_an_unknown_query_parameter_is_named(route: Route, admin: Client, described: Described) -> None:
    path = f"{path_with(route, NO_ID)}?no_such_parameter=1"
    reply = described.check(route, await admin.call(route.method, path))
    expect(reply, 40001)
    assert "no_such_parameter" in reply.fields


@every(lambda route: route.body is not None)
async def test_a_body_that_is_no_json_is_40000(route: Route, admin: Client, described: Described) -> None:
    expect(described.check(route, await admin.call(route.method, path_with(route, NO_ID), raw=b'{"name": ')), 40000)


@every(lambda route: route.body is not None)
async def test_a_body_that_is_an_array_is_40001(route: Route, admin: Client, described: Described) -> None:
    expect(described.check(route, await admin.call(route.method, path_with(route, NO_ID), [])), 40001)


@every(lambda route: route.body is not None)
async def test_a_body_of_another_media_type_is_41500(route: Route, admin: Client, described: Described) -> None:
    headers = {"Content-Type": "text/plain"}
    reply = await admin.call(route.method, path_with(route, NO_ID), raw=b"{}", headers=headers)
    expect(described.check(route, reply), 41500)


@every(lambda route: route.parameters)
async def test_an_id_of_nothing_is_40400(route: Route, maker: Maker, described: Described) -> None:
    exercise = await maker.exercise(route, only_required=True)
    reply = await exercise.client.call(route.method, path_with(route, NO_ID), exercise.body)
    expect(described.check(route, reply), 40400)


@every(lambda route: route.writes and route.access != PUBLIC)
async def test_a_write_leaves_one_operation_log_row(route: Route, maker: Maker, tradewind: Running) -> None:
    exercise = await maker.exercise(route)
    row = await _logged(exercise, tradewind, maker.admin)
    path = exercise.path.partition("?")[0]
    assert (row["code"], row["method"], row["path"]) == (exercise.code, route.method, path)
    assert row["user_id"] == exercise.client.user["userId"]


@every(lambda route: route.writes and route.access != PUBLIC)
async def test_a_refused_write_leaves_one_operation_log_row(
    route: Route, nobody: Client, admin: Client, tradewind: Running
) -> None:
    refused = Exercise(nobody, route, f"{path_with(route, NO_ID)}?no_such_parameter=1")
    row = await _logged(refused, tradewind, admin)
    assert row["code"] == (40300 if route.guarded else 40302 if route.access == SUPER else 40001)
    assert (row["method"], row["route"], row["user_id"]) == (route.method, route.path, nobody.user["userId"])


async def test_every_socket_asks_who_is_there(nobody: Client, admin: Client) -> None:
    for route in (route for route in CATALOGUE.routes if route.socket):
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


async def _logged(exercise: Exercise, service: Running, admin: Client) -> dict[str, Any]:
    """The one operation-log row of this request."""
    request_id = unique("request")
    await exercise.send({"X-Request-ID": request_id})
    await until_logged(service)
    rows = expect(await admin.get(f"{OPERATIONS}?request_id={request_id}"))["items"]
    assert len(rows) == 1
    found: dict[str, Any] = rows[0]
    return found
