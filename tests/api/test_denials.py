"""The check of denials itself: it passes what is explained truly, and fails what is not."""

from __future__ import annotations

import ast
import importlib
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jwt
import pytest
from tornado.httpclient import HTTPRequest
from tornado.ioloop import IOLoop

from handlers.request import Request
from handlers.route import PUBLIC, SIGNED_IN, conflicts, route
from handlers.schema.errors import CONFLICT, NOT_FOUND, ApiError
from handlers.schema.messages import Message
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.plugin import Plugin
from plugins.testing import Client, People, Reply, expect, serving
from tests.support.denials import ClientWithoutHooks, Explained
from tests.support.server_process import ROOT, environment, server_process

pytestmark = pytest.mark.gen_test(timeout=30)
ROLES = "/api/v1/system/roles"


def denied(status: int, code: int, msg: str, permission: str | None = None) -> Reply:
    data = {"permission": permission, "reason": msg} if code in (40300, 40302) else None
    body = json.dumps({"code": code, "msg": msg, "data": data}).encode()
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, body)


async def witnessed(person: Client, method: str, path: str, reply: Reply) -> None:
    headers = {"Authorization": f"Bearer {person.token}"}
    request = HTTPRequest(person.url + path, method, headers, allow_nonstandard_methods=True)
    await Explained()(person, request, reply)


def test_the_clients_of_the_tests_are_checked() -> None:
    assert [type(witness) for witness in Client.response_hooks] == [Explained]


@pytest.mark.parametrize(
    ("status", "code", "msg"),
    [(403, 40302, "仅超级管理员可操作"), (403, 40301, "请先修改密码"), (404, 40400, "资源不存在")],
)
async def test_a_denial_with_another_code_than_the_explanation_is_found(
    people: People, status: int, code: int, msg: str
) -> None:
    with pytest.raises(AssertionError, match=r"GET .*/system/roles by"):
        await witnessed(await people.person(), "GET", ROLES, denied(status, code, msg))


async def test_what_is_denied_alike_is_explained_once_unless_all_is_asked_for(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    explanation = Explained._explanation

    async def counted(witness: Explained, server: Any, url: str, request: HTTPRequest, user_id: int) -> Reply:
        asked.append(request.url)
        return await explanation(witness, server, url, request, user_id)

    monkeypatch.setattr(Explained, "_explanation", counted)
    person = await people.person()
    asked.clear()
    once, all_of_them = Explained(), Explained(every=True)
    reply = await ClientWithoutHooks(person.url, person.token).get(ROLES)
    request = HTTPRequest(person.url + ROLES, "GET", {"Authorization": f"Bearer {person.token}"})
    for witness in (once, once, all_of_them, all_of_them):
        await witness(person, request, reply)
    assert len(asked) == 3
    with pytest.raises(AssertionError, match="but"):
        await once(person, request, denied(403, 40300, "没有权限", "system:role:read"))


async def test_a_denial_that_names_another_permission_than_the_explanation_is_found(people: People) -> None:
    person = await people.person()
    await witnessed(person, "GET", ROLES, denied(403, 40300, "没有权限", "system:role:list"))
    with pytest.raises(AssertionError, match=r"GET .*/system/roles by"):
        await witnessed(person, "GET", ROLES, denied(403, 40300, "没有权限", "system:role:read"))


async def test_a_refusal_that_no_declaration_tells_is_found(people: People) -> None:
    person = await people.person(["system:role:create"])
    declared: Any = denied(403, 40300, "不能授予自己没有的菜单")
    await witnessed(person, "POST", ROLES, declared)
    with pytest.raises(AssertionError, match="some other sentence"):
        await witnessed(person, "POST", ROLES, denied(403, 40300, "some other sentence"))


async def test_a_record_in_sight_is_not_missing(admin: Client, people: People) -> None:
    person = await people.person(["system:role:read"])
    role = expect(await admin.post(ROLES, {"code": f"seen-{person.user['userId']}", "name": "x"}))["id"]
    with pytest.raises(AssertionError, match=f"{ROLES}/{role} by"):
        await witnessed(person, "GET", f"{ROLES}/{role}", denied(404, 40400, "资源不存在"))


@pytest.mark.parametrize(
    ("method", "path", "reply"),
    [
        ("GET", ROLES, denied(404, 40400, "资源不存在")),
        ("PATCH", f"{ROLES}/1", denied(403, 40300, "不能授予自己没有的菜单")),
        ("DELETE", "/api/v1/system/users/1", denied(409, 40901, "角色已分配给用户，无法删除")),
    ],
)
async def test_what_user_1_is_refused_is_no_exception(admin: Client, method: str, path: str, reply: Reply) -> None:
    with pytest.raises(AssertionError, match=f"{method} .*{path} by"):
        await witnessed(admin, method, path, reply)


def test_a_route_that_can_miss_something_is_about_a_kind_of_record_or_declares_it(tradewind: Running) -> None:
    """So that a 40400 is explained by the record, or in words."""
    routes = [route for route in tradewind.catalogue.routes if route.parameters or NOT_FOUND in route.errors]
    unexplained = {
        route.name
        for route in routes
        if not route.collection and not any(refusal.kind is NOT_FOUND for refusal in route.refusals)
    }
    assert unexplained == set()


# -- servers that tests start for themselves, and whoever asks them

SPENT = Message("额度 {limit} 已用完", "The allowance of {limit} is spent")
UNDECLARED = Message("路由没有说的话", "A message that its route does not declare")


async def spend(req: Request) -> None:
    """Refused, by a declared sentence that is filled."""
    raise ApiError(CONFLICT, SPENT.filled(limit=3))


async def surprise(req: Request) -> None:
    """Refuse with a message that no route declares."""
    raise ApiError(CONFLICT, UNDECLARED)


async def hide(req: Request) -> None:
    """Refuse with a 404 that no route declares."""
    raise ApiError(NOT_FOUND)


MOODY = Plugin(
    name="moody",
    title=Message("多变", "Moody"),
    requires=("rbac",),
    routes=(
        route("POST /api/v1/moody/spend", spend, summary="Spend", access=SIGNED_IN, refusals=conflicts(SPENT)),
        route("POST /api/v1/moody/surprise", surprise, summary="Surprise", access=SIGNED_IN),
        route("GET /api/v1/moody/hidden", hide, summary="Hide", access=PUBLIC),
        route("GET /api/v1/moody/private", hide, summary="Hide from who is logged in", access=SIGNED_IN),
    ),
)


@pytest.fixture(scope="module")
def moods(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """User 1 of a server with such routes."""
    block = moody(mongodb_uri, tmp_path_factory.mktemp("moods"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@asynccontextmanager
async def moody(uri: str, folder: Path) -> AsyncIterator[Client]:
    """User 1 of a server of one's own."""
    async with serving(uri, folder, [*load_plugins(("auth", "rbac")), MOODY]) as server:
        yield await Client(server.url).log_in("admin")


async def test_a_state_is_explained_by_its_sentence_whatever_it_was_filled_with(moods: Client) -> None:
    expect(await moods.post("/api/v1/moody/spend", headers={"Accept-Language": "en"}), 40901)


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/v1/moody/surprise"), ("GET", "/api/v1/moody/private")])
async def test_a_token_is_enough_to_be_known_on_a_server_of_ones_own(moods: Client, method: str, path: str) -> None:
    by_token = Client(moods.url, moods.token)
    with pytest.raises(AssertionError, match=f"{method} .*{path}"):
        await by_token.call(method, path)


async def test_what_a_visitor_is_denied_is_explained_too(moods: Client) -> None:
    expect(await Client(moods.url).get("/api/v1/moody/nowhere"), 40400)
    with pytest.raises(AssertionError, match=r"GET .*/moody/hidden"):
        await Client(moods.url).get("/api/v1/moody/hidden")


async def test_nobody_is_denied_what_only_people_can_be_denied(moods: Client) -> None:
    with pytest.raises(AssertionError, match=r"GET .*/moody/private by None"):
        await witnessed(Client(moods.url), "GET", "/api/v1/moody/private", denied(404, 40400, "资源不存在"))


async def test_a_server_process_is_asked_as_well_and_excused_only_once_it_has_ended(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(mongodb_uri, tmp_path, MONGODB_DATABASE=f"test_{uuid.uuid4().hex[:12]}", PLUGINS="auth")
    async with server_process(env, tmp_path) as server:
        admin = await Client(await server.url()).log_in("admin")
        expect(await admin.get("/api/v1/system/users/999"), 40400)
        with pytest.raises(AssertionError, match=r"GET .*/system/users"):
            await witnessed(admin, "GET", "/api/v1/system/users", denied(403, 40300, "没有权限"))
        assert await server.stop() == 0
        await witnessed(admin, "GET", ROLES, denied(403, 40300, "没有权限"))
        monkeypatch.setattr("tests.support.denials._has_ended", lambda _: False)
        with pytest.raises(ConnectionError):
            await witnessed(admin, "GET", ROLES, denied(403, 40300, "没有权限"))


async def test_a_server_that_nobody_knows_is_no_way_out(admin: Client) -> None:
    with pytest.raises(AssertionError, match="nobody explains"):
        await witnessed(Client("http://127.0.0.1:1", admin.token), "GET", ROLES, denied(403, 40300, "没有权限"))


async def test_the_response_check_begins_a_new_session_when_the_test_ended_all_of_user_1(
    mongodb_uri: str, tmp_path: Path
) -> None:
    witness, path = Explained(every=True), "/api/v1/moody/nowhere"
    async with moody(mongodb_uri, tmp_path) as admin:
        request = HTTPRequest(admin.url + path, "GET", {"Authorization": f"Bearer {admin.token}"})
        await witness(admin, request, denied(404, 40400, "资源不存在"))
        expect(await admin.delete("/api/v1/system/users/1/sessions"))
        await witness(admin, request, denied(404, 40400, "资源不存在"))


async def test_deleted_people_are_skipped_and_unknown_people_are_denied_nothing(
    people: People,
) -> None:
    person, path = await people.person(), "/api/v1/system/users"
    expect(await people.admin.delete(f"{path}/{person.user['userId']}"))
    await witnessed(person, "GET", path, denied(403, 40300, "没有权限"))
    forged = Client(person.url, jwt.encode({"user_id": 10**9}, "of nobody's key, which is long enough"))
    with pytest.raises(AssertionError, match="by 1000000000"):
        await witnessed(forged, "GET", path, denied(403, 40300, "没有权限"))


# -- what no test may ever have met


def test_every_sentence_of_a_conflict_is_declared_by_a_route(tradewind: Running) -> None:
    catalogue = tradewind.catalogue
    declared = {one.message for route in catalogue.routes for one in route.refusals if one.kind is CONFLICT}
    untold = {str(where) for where, sentence in conflict_sentences() if sentence not in declared}
    assert untold == set()


def conflict_sentences() -> Iterator[tuple[str, Message]]:
    """Where a plugin's code raises 40901 with a sentence, and that sentence."""
    for path in sorted((ROOT / "plugins").glob("*/**/*.py")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                for sentence in _sentences(node, vars(module)):
                    yield f"{path.parent.name}/{path.name}:{node.lineno}", sentence


def _sentences(call: ast.Call, names: dict[str, Any]) -> Iterator[Message]:
    """Those of `ApiError(CONFLICT, …)`, and of the `reason=` of a change.

    A sentence that comes by a parameter is not seen, but whoever names it passes it as one of these.
    """
    raised = [arg for arg in call.args[1:2] if isinstance(call.args[0], ast.Name) and call.args[0].id == "CONFLICT"]
    changing = isinstance(call.func, ast.Attribute) and call.func.attr in ("update", "delete")
    reasons = [keyword.value for keyword in call.keywords if keyword.arg == "reason" and changing]
    for part in [*raised, *reasons]:
        for node in ast.walk(part):
            found = names.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(found, Message):
                yield found


def test_every_40901_of_a_route_comes_with_its_sentence(tradewind: Running) -> None:
    assert [route.name for route in tradewind.catalogue.routes if CONFLICT in route.errors] == []
