"""A handler that returns another shape than its route declares: an error while developing, a log line in production."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from handlers.data.lists.filters import Page
from handlers.docs.response_checks import ResponseChecks
from plugins.api import PUBLIC, Field, Message, Plugin, Request, array, choice, integer, money, obj, route, text
from plugins.api.fields import NOTHING, tree_of
from plugins.boot.registry import load_plugins
from plugins.testing import Client, expect, serving

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/shape"
THING = obj("ShapedThing", {"name": text(nullable=False), "count": integer()}, nullable=False)
LOOSE = obj("LooseThing", {"name": text(), "count": integer()}, nullable=False)
NODE = tree_of("ShapedNode", {"name": text(nullable=False)})
GOOD = {"name": "hammer", "count": 1}

WRONG: dict[str, tuple[Field, Any, str]] = {
    "none-of-the-fields": (THING, {"nope": 1}, "returned nope, none of which is a field"),
    "none-of-the-fields-that-may-be-null": (LOOSE, {"nope": 1}, "returned nope, none of which is a field"),
    "field-left-out": (THING, {"count": 1}, 'name: the value is not of type "string"'),
    "type": (THING, {**GOOD, "count": "many"}, "count: the value is not of types"),
    "amount-as-a-number": (obj("Priced", {"price": money()}, nullable=False), {"price": 1.5}, "price: the value"),
    "value": (choice("red", "blue", nullable=False), "green", "data: the value is not one of"),
    "list": (array(THING, nullable=False), [GOOD, {"count": 2}], "[1].name: the value"),
    "tree": (NODE, {"name": "a", "children": [{"name": None, "children": []}]}, "children[0].name: the value"),
    "nothing": (NOTHING, GOOD, 'data: the value is not of type "null"'),
    "null": (THING, None, "data: the value is not of type"),
    "page": (THING, Page([GOOD], 1, 1, 20, None), "data: "),
}
RIGHT: dict[str, tuple[Field, Any]] = {
    "object": (THING, {**GOOD, "password_hash": "hidden"}),
    "list": (array(THING, nullable=False), [GOOD]),
    "tree": (NODE, {"name": "a", "children": [{"name": "b", "children": []}]}),
    "nothing": (NOTHING, None),
}


def shaped(name: str, shape: Field, result: Any, **options: Any) -> Any:
    async def handler(req: Request) -> Any:
        return result

    return route(f"GET {AT}/{name}", handler, summary=name, access=PUBLIC, returns=shape, tag="shape", **options)


async def socket(req: Request) -> None:
    async for said in req.socket:
        await req.socket.send(said)


SAID = {
    "hello": obj("SaidHello", {"type": choice("hello", nullable=False), "to": text(nullable=False)}, nullable=False)
}
PLUGIN = Plugin(
    name="shape",
    title=Message("形状", "Shape"),
    requires=("auth",),
    routes=(
        *(shaped(f"wrong/{name}", shape, result) for name, (shape, result, _) in WRONG.items()),
        *(shaped(f"right/{name}", shape, result) for name, (shape, result) in RIGHT.items()),
        shaped("right/page", THING, Page([GOOD], 1, 1, 20, None), paged=True),
        shaped("wrong/no-page", THING, GOOD, paged=True),
        route(f"GET {AT}/socket", socket, summary="Echo", access=PUBLIC, tag="shape", socket=True, messages=SAID),
    ),
)


def serve(uri: str, folder: Path, **settings: Any) -> Any:
    return serving(uri, folder, plugins=[*load_plugins(("auth", "rbac")), PLUGIN], **settings)


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says, each request's own."""
    reported = [str(record.exc_info[1]) for record in caplog.records if record.exc_info and record.exc_info[1]]
    return reported + [record.fault for record in caplog.records if hasattr(record, "fault")]


async def test_another_shape_is_an_error_while_developing_and_the_log_says_where(
    mongodb_uri: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(mongodb_uri, tmp_path) as running:
        client = Client(running.url)
        for name, (_, _, sentence) in {**WRONG, "no-page": (THING, GOOD, "required property")}.items():
            caplog.clear()
            expect(await client.get(f"{AT}/wrong/{name}"), 50000)
            [fault] = faults(caplog)
            assert f"The response of GET {AT}/wrong/{name} is not what the route declares: " in fault
            assert sentence in fault
        for name in (*RIGHT, "page"):
            expect(await client.get(f"{AT}/right/{name}"))


async def test_another_shape_is_logged_in_production_without_its_values(
    mongodb_uri: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(mongodb_uri, tmp_path, response_checks="auto") as running:
        client = Client(running.url)
        for name, (_, _, sentence) in WRONG.items():
            caplog.clear()
            expect(await client.get(f"{AT}/wrong/{name}"))
            [fault] = faults(caplog)
            assert sentence in fault
            assert not {"many", "1.5", "green"} & set(fault.replace('"', " ").split())
        caplog.clear()
        for name in (*RIGHT, "page"):
            expect(await client.get(f"{AT}/right/{name}"))
        assert faults(caplog) == []


def test_production_checks_the_first_responses_and_then_one_of_a_thousand(caplog: pytest.LogCaptureFixture) -> None:
    checks, wrong = ResponseChecks(every=False), PLUGIN.routes[0]
    counts = []
    for count in range(1, 3001):
        caplog.clear()
        checks.check(wrong, {"nope": 1}, b'{"data": {"name": null, "count": null}}')
        counts += [count] * len(caplog.records)
    assert counts == [*range(1, 11), 1000, 2000, 3000]


def test_production_leaves_large_responses_alone(caplog: pytest.LogCaptureFixture) -> None:
    ResponseChecks(every=False).check(PLUGIN.routes[0], {"nope": 1}, b" " * 100_000 + b'{"data": {}}')
    assert caplog.records == []


@pytest.mark.parametrize(
    ("mode", "message", "fault"),
    [
        ("all", {"type": "hello", "to": "you"}, None),
        ("all", {"type": "hello", "to": 1}, "to: the value"),
        ("all", {"type": "bye"}, "is no message of the route"),
        ("some", {"type": "bye"}, "is no message of the route"),
    ],
)
async def test_messages_of_a_web_socket_are_checked_too(
    mode: str,
    message: dict[str, Any],
    fault: str | None,
    mongodb_uri: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serve(mongodb_uri, tmp_path, response_checks=mode) as running:
        address = running.url.replace("http://", "ws://") + f"{AT}/socket"
        connection = await websocket_connect(HTTPRequest(address))
        caplog.set_level(logging.ERROR)
        await connection.write_message(str(message).replace("'", '"'))
        arrived = await connection.read_message()
        assert (arrived is None) == (mode == "all" and fault is not None)
        assert [sentence in reported for reported in faults(caplog) for sentence in [fault]] == [True] * bool(fault)
        connection.close()
