"""Every denial that a test meets is asked about: the explanation must give the code, and the sentence, that were answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from tornado.httpclient import HTTPRequest

from handlers.errors import CONFLICT
from plugins.testing import Client, Reply, expect

EXPLAIN = "/api/v1/system/authorization/explain"
ADMINISTRATION = ("/api/v1/auth/", "/api/v1/system/")


@dataclass
class Explained:
    """A `witness` of clients; `admin`, who sees everybody, asks for the explanations."""

    admin: Client

    async def __call__(self, client: Client, request: HTTPRequest, reply: Reply) -> None:
        """Fail where the explanation of a denial differs from the denial."""
        if not client.user or not _is_denial(request, reply):
            return
        path = urlsplit(request.url).path
        query = urlencode({"user_id": client.user["userId"], "method": request.method, "path": path})
        language = {"Accept-Language": request.headers.get("Accept-Language", "")}
        asked = await self.admin.get(f"{EXPLAIN}?{query}", headers=language)
        if not agrees(reply, expect(asked)):
            raise AssertionError(f"{request.method} {path}: {reply.body.decode()} but {asked.body.decode()[:3000]}")


def agrees(reply: Reply, explanation: dict[str, Any]) -> bool:
    """Whether the explanation tells why: by its verdict, or by a condition with the very sentence of the answer."""
    if explanation["allowed"]:
        told = (reply.code, reply.json["msg"])
        return told in {(condition["code"], condition["reason"]) for condition in explanation["conditions"]}
    return explanation["code"] == reply.code and bool(explanation["reasons"])


def _is_denial(request: HTTPRequest, reply: Reply) -> bool:
    """Every 403 and 404, and what nobody may do to accounts and what they are made of: 40901, such as of user 1."""
    enveloped = reply.headers.get("Content-Type", "").startswith("application/json")
    if not enveloped or reply.status not in (403, 404, CONFLICT.status) or reply.code // 100 != reply.status:
        return False
    of_administration = urlsplit(request.url).path.startswith(ADMINISTRATION)
    return reply.status != CONFLICT.status or (reply.code == CONFLICT.code and of_administration)
