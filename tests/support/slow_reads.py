"""Aggregations that rest in the middle of what they read, so that a test can change what comes after."""

from __future__ import annotations

from typing import Any

from pymongo import MongoClient

from plugins.testing import eventually

_REST_MS = 700


def resting_at(id: object) -> dict[str, Any]:
    """The stage that rests at the document with this `_id`: what it reads after it may be newer than what came before."""
    body = f"function(id) {{ if (id === '{id}') sleep({_REST_MS}); return true; }}"
    return {"$match": {"$expr": {"$function": {"body": body, "args": [{"$toString": "$_id"}], "lang": "js"}}}}


async def until_resting(uri: str, id: object) -> None:
    """Return once an aggregation rests at this document."""

    async def is_running() -> bool:
        with MongoClient[dict[str, Any]](uri) as client:
            running = client.admin.command("currentOp")["inprog"]
        commands = (str(one.get("command")) for one in running)
        return any(str(id) in command and "sleep" in command for command in commands)

    await eventually(is_running)
