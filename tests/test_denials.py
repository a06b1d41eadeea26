"""The check of denials itself: it passes what is explained truly, and fails what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest

from handlers.errors import NOT_FOUND
from plugins.runtime import Running
from plugins.testing import Client, People, Reply, expect
from tests.denials import Explained

pytestmark = pytest.mark.gen_test(timeout=30)
ROLES = "/api/v1/system/roles"


def denied(status: int, code: int, msg: str) -> Reply:
    body = json.dumps({"code": code, "msg": msg, "data": None}).encode()
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, body)


async def witnessed(admin: Client, person: Client, method: str, path: str, reply: Reply) -> None:
    witness = Explained(Client(admin.url, admin.token, admin.user))
    await witness(person, HTTPRequest(admin.url + path, method, allow_nonstandard_methods=True), reply)


def test_the_clients_of_the_tests_are_witnessed(admin: Client) -> None:
    assert isinstance(admin.witness, Explained)


@pytest.mark.parametrize(
    ("status", "code", "msg"),
    [(403, 40302, "仅超级管理员可操作"), (403, 40301, "请先修改密码"), (404, 40400, "资源不存在")],
)
async def test_a_denial_with_another_code_than_the_explanation_is_found(
    admin: Client, people: People, status: int, code: int, msg: str
) -> None:
    with pytest.raises(AssertionError, match="GET /api/v1/system/roles"):
        await witnessed(admin, await people.person(), "GET", ROLES, denied(status, code, msg))


async def test_a_refusal_that_no_declaration_tells_is_found(admin: Client, people: People) -> None:
    person = await people.person(["system:role:create"])
    declared: Any = denied(403, 40300, "不能授予自己没有的菜单")
    await witnessed(admin, person, "POST", ROLES, declared)
    with pytest.raises(AssertionError, match="some other sentence"):
        await witnessed(admin, person, "POST", ROLES, denied(403, 40300, "some other sentence"))


async def test_a_record_in_sight_is_not_missing(admin: Client, people: People) -> None:
    person = await people.person(["system:role:read"])
    role = expect(await admin.post(ROLES, {"code": f"seen-{person.user['userId']}", "name": "x"}))["id"]
    with pytest.raises(AssertionError, match=f"{ROLES}/{role}"):
        await witnessed(admin, person, "GET", f"{ROLES}/{role}", denied(404, 40400, "资源不存在"))


@pytest.mark.parametrize(
    ("method", "path", "reply"),
    [
        ("GET", ROLES, denied(404, 40400, "资源不存在")),
        ("PATCH", f"{ROLES}/1", denied(403, 40300, "不能授予自己没有的菜单")),
        ("DELETE", "/api/v1/system/users/1", denied(409, 40901, "角色已分配给用户，无法删除")),
    ],
)
async def test_what_user_1_is_refused_is_no_exception(admin: Client, method: str, path: str, reply: Reply) -> None:
    with pytest.raises(AssertionError, match=f"{method} {path}"):
        await witnessed(admin, admin, method, path, reply)


def test_a_route_that_can_miss_something_is_about_a_kind_of_record_or_declares_it(tradewind: Running) -> None:
    """So that a 40400 is explained by the record, or in words."""
    routes = [route for route in tradewind.service.catalogue.routes if route.parameters or NOT_FOUND in route.errors]
    unexplained = {
        route.name
        for route in routes
        if not route.collection and not any(refusal.kind is NOT_FOUND for refusal in route.refusals)
    }
    assert unexplained == set()
