"""What every refusal has in common."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from plugins.boot.runtime import Running
from plugins.testing import Reply
from tests.support.catalogue import CATALOGUE

STATUS = {kind.code: kind.status for kind in CATALOGUE.errors}
INSIDE = (
    b"Traceback",
    b"Error:",
    b".py",
    b"handlers",
    b"plugins",
    b"pymongo",
    b"motor",
    b"bson",
    b"tornado",
    b"orjson",
)
LOGS = ("core_operation_logs", "auth_login_logs")


def refused(reply: Reply, code: int) -> Any:
    """The `data` of a refusal with this code: an exact envelope, the fitting status, nothing of the inside."""
    assert reply.headers["Content-Type"] == "application/json; charset=utf-8"
    assert list(reply.json) == ["code", "msg", "data"]
    assert (reply.code, reply.status) == (code, STATUS[code]), reply.body
    assert reply.json["msg"]
    assert not [word for word in INSIDE if word in reply.body]
    return reply.data


@asynccontextmanager
async def nothing_written(running: Running) -> AsyncIterator[None]:
    """Fails when the block leaves more or fewer documents behind, the logs aside."""
    before = await _counts(running)
    yield
    assert await _counts(running) == before


async def _counts(running: Running) -> dict[str, int]:
    database = running.service.database
    return {name: await database.driver.count(name, {}) for name in database.collections if name not in LOGS}
