"""The servers that the bench measures: `python -m scripts.bench_servers tradewind|tornado PORT [MONGODB_URI DATA]`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import uvloop
from tornado.web import Application, RequestHandler

from config.logs import start_logging
from config.settings import Settings
from plugins.api import Menu, Message, Plugin, Request, obj, route, text
from plugins.registry import load_plugins
from plugins.runtime import running

PASSWORD = os.environ.get("TRADEWIND_ADMIN_PASSWORD", "")


async def answer(req: Request) -> dict[str, str]:
    """Nothing but the lifecycle: token, session, permission, projection, log."""
    return {"status": "ok"}


BENCH = Plugin(
    name="bench",
    title=Message("基准", "Bench"),
    requires=("rbac", "auth"),
    routes=(
        route("GET /api/v1/bench/ping", answer, summary="Measure the lifecycle", access="bench:ping:list", tag="bench",
              returns=obj("BenchAnswer", {"status": text(nullable=False)}, nullable=False)),
    ),
    menus=(Menu("bench", Message("基准", "Bench"), resource="bench:ping"),),
)  # fmt: skip


class Bare(RequestHandler):
    """What a plain Tornado program would write: the same answer, with no guard at all."""

    def get(self) -> None:
        """The answer of the bench route."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.write(b'{"code":0,"msg":"OK","data":{"status":"ok"}}')


async def tradewind(port: int, uri: str, data: str) -> None:
    """The whole service and the bench's route."""
    settings = Settings(port=port, demo=True, rate_limits="off", data_dir=Path(data), mongodb_database="bench")
    async with running(settings, [*load_plugins(()), BENCH], uri):
        await asyncio.Event().wait()


async def tornado(port: int) -> None:
    """The floor."""
    Application([("/bare", Bare)], log_function=lambda handler: None).listen(port, "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    start_logging("INFO")
    which, number, *rest = sys.argv[1:]
    uvloop.run(tradewind(int(number), *rest) if which == "tradewind" else tornado(int(number)))
