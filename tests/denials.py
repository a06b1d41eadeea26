"""Every denial that a test meets is asked about: the explanation must give the code, and the sentence, that were answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from tornado.httpclient import HTTPRequest

from plugins.testing import Client, Reply, expect

EXPLAIN = "/api/v1/system/authorization/explain"


@dataclass
class Explained:
    """A `witness` of clients; `admin`, who sees everybody, asks for the explanations."""

    admin: Client

    async def __call__(self, client: Client, request: HTTPRequest, reply: Reply) -> None:
        """Fail where the explanation of a denial differs from the denial."""
        if reply.status not in (403, 404) or not client.user or not _enveloped(reply):
            return
        if client.user["userId"] == self.admin.user["userId"]:
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
        told = {"code": reply.code, "reason": reply.json["msg"]}
        return told in explanation["conditions"] or (reply.code == 40400 and explanation["record"] is None)
    return explanation["code"] == reply.code and bool(explanation["reasons"])


def _enveloped(reply: Reply) -> bool:
    return reply.headers.get("Content-Type", "").startswith("application/json") and reply.code // 100 == reply.status
