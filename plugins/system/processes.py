"""The processes of this port: whether each responds, and its figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from plugins.api import Request, Route, array, boolean, integer, number, route, shape, text, timestamp
from plugins.api.ports import Processes, ProcessState

PROCESS = shape(
    "ProcessFigures",
    process=integer(label=("进程", "Process"), nullable=False, description="Its number on this port."),
    responds=boolean(
        label=("有响应", "Responds"),
        nullable=False,
        description="False if it hangs; the other figures are then missing.",
    ),
    pid=integer(label=("进程号", "Process ID"), description="On the machine that it runs on."),
    version=text(label=("版本", "Version"), nullable=False, description="Empty for one that hangs."),
    milliseconds=number(label=("响应时间（毫秒）", "Responded in (ms)")),
    started_at=timestamp(label=("启动时间", "Started")),
    megabytes=number(label=("内存（兆字节）", "Memory (MiB)")),
    requests=integer(label=("请求数", "Requests"), description="Since it started."),
    failures=integer(label=("服务器错误", "Server errors"), description="Responses of 500 and above since it started."),
    database_connections=integer(label=("数据库连接", "Database connections")),
    slow_operations=integer(label=("慢查询", "Slow operations"), description="Of the database, since it started."),
)


async def list_processes(req: Request) -> list[dict[str, Any]]:
    """Return the processes, sorted by number."""
    states = await req.part(Processes).all_states(b"metrics\n")
    return [_present(one) for one in states]


def _present(state: ProcessState) -> dict[str, Any]:
    if not state.pid:
        return dict.fromkeys(PROCESS.fields or {}) | {"process": state.number, "responds": False, "version": ""}
    started, memory = state.figure("process_start_time_seconds"), state.figure("process_resident_memory_bytes")
    return {
        "process": state.number,
        "responds": True,
        "pid": state.pid,
        "version": state.version,
        "milliseconds": round(state.seconds * 1000, 1),
        "started_at": datetime.fromtimestamp(started, UTC) if started else None,
        "megabytes": round(memory / 2**20, 1) if memory else None,
        "requests": _whole(state.figure("tradewind_requests_total")),
        "failures": _whole(state.figure("tradewind_requests_total", 'status="5')),
        "database_connections": _whole(state.figure("tradewind_database_connections")),
        "slow_operations": _whole(state.figure("tradewind_database_slow_operations_total")),
    }


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/processes",
        list_processes,
        summary="List the processes of this port",
        access="system:process:list",
        returns=array(PROCESS, max_items=1000, nullable=False),
        description="The processes on one machine that share the port of this request. If one of them hangs, the "
        "response takes two seconds.",
    ),
)
