"""The periodic jobs of all plugins: when each last ran on any instance, with what result, and when it is next due."""

from __future__ import annotations

from typing import Any

from plugins.api import Message, Request, Route, array, dictionary, number, route, shape, text, timestamp, utc_now
from plugins.api.data import Jobs
from plugins.api.ports import LastRun, Periodic

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
    name=text(label=("任务", "Job"), nullable=False, example="crm.pool"),
    title=text(label=("用途", "Purpose"), description="In the caller's language; null if its plugin gives none."),
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
    return [_present(req, job, runs.get(job.name, LastRun())) for job in known]


def _present(req: Request, job: Periodic, last: LastRun) -> dict[str, Any]:
    took = (last.ended - last.began).total_seconds() if last.began and last.ended else None
    return {
        "name": job.name,
        "title": job.title.text(req.language) if isinstance(job.title, Message) else None,
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


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/jobs",
        list_jobs,
        summary="List the periodic jobs",
        access="system:job:list",
        returns=array(JOB, max_items=1000, nullable=False),
    ),
)
