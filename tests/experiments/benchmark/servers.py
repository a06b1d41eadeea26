"""Tradewind as the benchmark measures it: `python -m tests.experiments.benchmark.servers PORT MONGODB_URI DATA [DATABASE]`.

Everything runs as in production, except the rate limits; the environment chooses the HTTP connection and the driver.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import uvloop

from config.logs import start_logging
from config.settings import Settings
from plugins.api import Collection, Index, Menu, Message, Plugin, Request, array, choice, crud, money, obj, route, text
from plugins.boot.load import settle
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import running

DATABASE = "bench"
RECORDS = Collection(
    name="bench_records",
    title="BenchRecord",
    noun=Message("记录", "record"),
    fields={
        "name": text(label=("名称", "Name"), required=True, max_length=200),
        "code": text(label=("编码", "Code"), required=True, max_length=64, pattern="^[A-Z0-9-]+$"),
        "industry": text(label=("行业", "Industry"), max_length=64),
        "level": choice("A", "B", "C", label=("级别", "Level")),
        "source": text(label=("来源", "Source"), max_length=64),
        "phone": text(label=("电话", "Phone"), max_length=50, pattern="^[0-9 +-]*$"),
        "email": text(label=("邮箱", "Email"), max_length=200, format="email"),
        "website": text(label=("网址", "Website"), max_length=300),
        "address": text(label=("地址", "Address"), max_length=500),
        "amount": money(label=("金额", "Amount"), minimum="0"),
        "tags": array(text(max_length=50), label=("标签", "Tags"), max_items=50, default=[]),
        "remark": text(label=("备注", "Remarks"), max_length=2000),
    },
    indexes=(Index("code", unique=True),),
    scoped=True,
)


WIDE = Collection(
    name="bench_wide",
    title="BenchWide",
    noun=Message("宽表", "wide record"),
    fields={
        f"field_{number}": text(label=(f"字段 {number}", f"Field {number}"), max_length=64) for number in range(40)
    },
)


async def answer(req: Request) -> dict[str, str]:
    """Return a constant, so that only the lifecycle is measured: token, session, permission, projection, log."""
    return {"status": "ok"}


BENCH = Plugin(
    name="bench",
    title=Message("基准", "Bench"),
    requires=("rbac", "auth"),
    collections=(RECORDS, WIDE),
    routes=(
        route(
            "GET /api/v1/bench/ping",
            answer,
            summary="Measure the lifecycle",
            access="bench:ping:list",
            tag="bench",
            returns=obj("BenchAnswer", {"status": text(nullable=False)}, nullable=False),
        ),
        *crud(RECORDS, at="/api/v1/bench/records", resource="bench:record", noun="record", only=("create",)),
        *crud(WIDE, at="/api/v1/bench/wide", resource="bench:wide", noun="wide record", only=("list",)),
    ),
    menus=(
        Menu("bench", Message("基准", "Bench"), resource="bench:ping"),
        Menu("bench.record", Message("记录", "Records"), resource="bench:record"),
        Menu("bench.wide", Message("宽表", "Wide records"), resource="bench:wide"),
    ),
)


async def serve(port: int, uri: str, data: str, database: str = DATABASE) -> None:
    """Run the whole service with the routes of the benchmark, until the process is ended."""
    given: dict[str, Any] = {"port": port, "data_dir": Path(data), "mongodb_database": database}
    settings = Settings(**given, rate_limits="off")
    plugins = [*load_plugins(()), BENCH]
    settle()
    async with running(settings, plugins, uri):
        await asyncio.Event().wait()


if __name__ == "__main__":
    start_logging("INFO")
    uvloop.run(serve(int(sys.argv[1]), *sys.argv[2:]))
