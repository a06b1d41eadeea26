"""What administrators see of the running service: its processes, jobs and the operation log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from plugins.api import (
    Message,
    Page,
    Request,
    Route,
    array,
    boolean,
    dictionary,
    integer,
    number,
    route,
    shape,
    text,
    timestamp,
    utc_now,
)
from plugins.api.data import Jobs
from plugins.api.ports import OPERATION_LOGS, LastRun, Periodic, Processes, ProcessState
from plugins.api.records import Catalogue
from plugins.rbac.api import OUTCOME, log_filter

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


RESULTS = dictionary(
    "system_job_result",
    ("任务结果", "Job result"),
    waiting=("尚未运行", "Not yet run", "gray"),
    running=("运行中", "Running", "blue"),
    succeeded=("成功", "Succeeded", "green"),
    failed=("失败", "Failed", "red"),
    killed=("中断", "Interrupted", "orange"),
)
JOB = shape(
    "PeriodicJob",
    name=text(label=("任务", "Job"), nullable=False, named_by="title", example="crm.pool"),
    title=text(
        label=("用途", "Purpose"),
        nullable=False,
        description="In the caller's language; `name` if its plugin gives none.",
    ),
    result=text(label=("结果", "Result"), nullable=False, dictionary=RESULTS.type, description="Of the last run."),
    began_at=timestamp(label=("上次开始", "Last started"), description="Start of the last run, on any instance."),
    seconds=number(label=("耗时（秒）", "Duration (s)"), description="How long the last run took; null until it ends."),
    next_at=timestamp(
        label=("下次运行", "Next run"), description="When it is due again, provided that an instance is running."
    ),
    every_seconds=number(label=("间隔（秒）", "Interval (s)"), nullable=False),
    fault=text(label=("错误", "Error"), description="The kind of error; the log of the instance has the details."),
)


async def list_jobs(req: Request) -> list[dict[str, Any]]:
    """Return the periodic jobs, sorted by name."""
    jobs = req.part(Jobs)
    runs = await jobs.last_runs()
    known = sorted(jobs.periodic, key=lambda job: job.name)
    return [_present_job(req, job, runs.get(job.name, LastRun())) for job in known]


def _present_job(req: Request, job: Periodic, last: LastRun) -> dict[str, Any]:
    took = (last.ended - last.began).total_seconds() if last.began and last.ended else None
    return {
        "name": job.name,
        "title": job.title.text(req.language) if isinstance(job.title, Message) else job.name,
        "result": _result(last),
        "began_at": last.began,
        "seconds": took,
        "next_at": last.due,
        "every_seconds": job.seconds,
        "fault": last.fault or None,
    }


def _result(last: LastRun) -> str:
    if last.began is None:
        return "waiting"
    if last.ended is not None:
        return "failed" if last.fault else "succeeded"
    # `due` is the end of the lease, which the instance that runs the job renews: if it has passed, the instance is gone
    return "running" if last.due is not None and last.due > utc_now() else "killed"


async def list_operations(req: Request) -> Page:
    """Return a page of the write requests by users in the caller's data scope, with their outcome."""
    page = await req.system_store(OPERATION_LOGS).page(req.query, await log_filter(req))
    summaries = req.part(Catalogue).summaries
    for entry in page.items:
        known = summaries.get(f"{entry['method']} {entry['route']}")
        entry["summary"] = known.text(req.language) if known else entry["summary"]
    return page


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
    route(
        "GET /api/v1/system/jobs",
        list_jobs,
        summary="List the periodic jobs",
        access="system:job:list",
        returns=array(JOB, max_items=1000, nullable=False),
    ),
    route(
        "GET /api/v1/system/operation-logs",
        list_operations,
        summary="List the operation log",
        access="system:operation-log:list",
        query={**OPERATION_LOGS.list_query, "outcome": OUTCOME},
        record=OPERATION_LOGS,
        paged=True,
    ),
)
