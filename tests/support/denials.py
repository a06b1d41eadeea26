"""Checks that the explanation of every denied request gives the code and the message of the response.

A denial is a 403, a 404 or a 40901 that a server with the plugin rbac answers to a `Client`, whoever asks: 40901 is
refused for the state of things, and each sentence of it is declared by its route. Answers on raw sockets and
WebSockets are not looked at. What is denied alike is explained once in a run: see `pytest --explain-all`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

import jwt
from tornado.httpclient import HTTPRequest

from handlers.route import PUBLIC
from handlers.routing import Router
from handlers.schema.errors import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    PASSWORD_CHANGE_REQUIRED,
    UNAUTHENTICATED,
    ApiError,
)
from plugins.auth.sessions import Sessions
from plugins.boot.runtime import Running
from plugins.rbac.api import KEY_PREFIX, SERVICE_KEYS, USERS, Directory, hash_of_key
from plugins.testing import Client, Reply, ResponseHook, expect, server_at
from tests.support.server_process import ServerProcess, process_at

EXPLAIN = "/api/v1/system/authorization/explain"
FIRST_USER = 1


@dataclass
class Explained:
    """A hook of clients. It gets the explanations with a session of user 1, who sees everybody, on each server.

    `every`: of every denial, although another one by the same route, code and sentence was explained before.
    """

    every: bool = False
    _admins: dict[str, Client] = field(default_factory=dict)
    _explained: set[tuple[Any, ...]] = field(default_factory=set)

    async def __call__(self, client: Client, request: HTTPRequest, reply: Reply) -> None:
        """Fail where the explanation of a denial differs from the denial."""
        if client is self._admins.get(client.url) or not _is_denial(request, reply):
            return
        server = server_at(client.url) or process_at(client.url)
        if server is None:
            raise AssertionError(f"nobody explains what {client.url} denies: {request.method} {request.url}")
        if not _has_rbac(server):
            return
        user_id = await _user_id(server, request)
        kind = _kind_of(server, request, reply, user_id)
        if kind in self._explained and not self.every:
            return
        try:
            asked = await self._explanation(server, client.url, request, user_id or FIRST_USER)
            known = user_id is not None and asked.code != NOT_FOUND.code
            if not known:
                asked = await self._explanation(server, client.url, request, FIRST_USER)
        except ConnectionError:
            if not _has_ended(server):
                raise
            return  # the server denied the request and has ended since
        if asked.code == PASSWORD_CHANGE_REQUIRED.code:
            # nobody may explain while the one administrator has yet to change the password
            assert (reply.status, reply.code) == (asked.status, asked.code), reply.body
            return
        # nobody whom the server knows can only have been denied what is denied to everybody alike
        fits = agrees(reply, expect(asked)) and (known or _is_for_everybody(asked.data))
        if not fits and not await _was_deleted(server, user_id):
            told = f"{request.method} {request.url} by {user_id}: {reply.body.decode()}"
            raise AssertionError(f"{told} but {asked.body.decode()[:3000]}")
        self._explained.add(kind)

    async def _explanation(
        self, server: Running | ServerProcess, url: str, request: HTTPRequest, user_id: int
    ) -> Reply:
        query = {"user_id": user_id, "method": request.method, "path": urlsplit(request.url).path}
        path = f"{EXPLAIN}?{urlencode(query)}"
        language = {"Accept-Language": request.headers.get("Accept-Language", "")}
        admin = self._admins.get(url)
        reply = await admin.get(path, headers=language) if admin else None
        if reply is None or reply.status == UNAUTHENTICATED.status:
            # none yet, or the test ended all sessions of user 1, or another server has this address now
            self._admins[url] = admin = await _session_of_user_1(server, url)
            reply = await admin.get(path, headers=language)
        return reply


class ClientWithoutHooks(Client):
    """A client for tests that change permissions meanwhile: a change may come between a response and its explanation."""

    response_hooks: ClassVar[list[ResponseHook]] = []


async def _session_of_user_1(server: Running | ServerProcess, url: str) -> Client:
    if isinstance(server, ServerProcess):
        return await Client(url).log_in("admin", server.admin_password)
    user = await server.service.part(Directory).user(FIRST_USER)
    assert user is not None
    issued = await server.service.part(Sessions).begin(user, "127.0.0.1", "the witness of denials")
    return Client(url, issued.access_token)


def agrees(reply: Reply, explanation: dict[str, Any]) -> bool:
    """Whether the explanation gives the reason: by its verdict, or by a condition with the message of the response."""
    if not explanation["allowed"]:
        same = explanation["code"] == reply.code and bool(explanation["reasons"])
        return same and (reply.code != FORBIDDEN.code or reply.data["permission"] == explanation["route"]["permission"])
    told = [condition["reason"] for condition in explanation["conditions"] if condition["code"] == reply.code]
    return any(_pattern(reason).fullmatch(reply.json["msg"]) for reason in told)


@lru_cache(maxsize=1000)
def _pattern(sentence: str) -> re.Pattern[str]:
    """A pattern of a message, in which `…` matches any value."""
    return re.compile(re.escape(sentence).replace("…", ".+"))


def _is_for_everybody(explanation: dict[str, Any]) -> bool:
    return explanation["route"] is None or explanation["route"]["access"] == PUBLIC


async def _was_deleted(server: Running | ServerProcess, user_id: int | None) -> bool:
    """Whether the person was deleted after the request, by the stored account."""
    if user_id is None or not isinstance(server, Running):
        return False
    account = await server.service.database.driver.find_one(USERS.name, {"_id": user_id})
    return account is not None and bool(account["deleted"])


def _is_denial(request: HTTPRequest, reply: Reply) -> bool:
    enveloped = reply.headers.get("Content-Type", "").startswith("application/json")
    if not enveloped or reply.status not in (403, 404, CONFLICT.status) or reply.code // 100 != reply.status:
        return False
    return reply.status != CONFLICT.status or reply.code == CONFLICT.code


def _kind_of(
    server: Running | ServerProcess, request: HTTPRequest, reply: Reply, user_id: int | None
) -> tuple[Any, ...]:
    """What denials of which one explanation is enough have in common: route, code, words, and whom they were said to."""
    asking = user_id if user_id in (None, FIRST_USER) else "somebody"
    permission = reply.data["permission"] if reply.code == FORBIDDEN.code else None
    return _route_name(server, request), reply.code, reply.json["msg"], permission, asking


def _route_name(server: Running | ServerProcess, request: HTTPRequest) -> str:
    """The route; the URL where nothing answers, and of a process, whose routes are not known here."""
    if isinstance(server, Running):
        with suppress(ApiError):
            return server.service.parts[Router].match(request.method, urlsplit(request.url).path)[0].name
    return f"{request.method} {request.url}"


async def _user_id(server: Running | ServerProcess, request: HTTPRequest) -> int | None:
    """The user of the token, by its claims, or the account of the key; None without a valid one."""
    token = request.headers.get("Authorization", "").partition(" ")[2]
    if token.startswith(KEY_PREFIX) and isinstance(server, Running):
        key = await server.service.database.driver.find_one(SERVICE_KEYS.name, {"hash": hash_of_key(token)})
        return int(key["account_id"]) if key is not None else None
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return None
    user_id = claims.get("user_id")
    return user_id if type(user_id) is int else None


def _has_rbac(server: Running | ServerProcess) -> bool:
    if isinstance(server, Running):
        return "rbac" in server.catalogue.plugins
    # without the setting all built-in plugins; auth requires rbac
    return not (named := server.env.get("TRADEWIND_PLUGINS", "")) or bool({"auth", "rbac"} & set(named.split(",")))


def _has_ended(server: Running | ServerProcess) -> bool:
    return server.service.draining if isinstance(server, Running) else server.process.poll() is not None
