"""The list of the periodic jobs: what each is for, when it ran, with what result, and when it is due."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handlers.data.database import LEASES
from plugins.api import Job, Message, Plugin, Service
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, People, eventually, expect, serving

pytestmark = pytest.mark.gen_test(timeout=60)
JOBS = "/api/v1/system/jobs"


@dataclass
class Site:
    """A server whose plugin acme has two jobs, one of which fails, and its administrator."""

    running: Running
    admin: Client

    async def job(self, name: str) -> dict[str, Any]:
        jobs = expect(await self.admin.get(JOBS))
        return next(dict(one) for one in jobs if one["name"] == name)

    async def once(self, name: str, result: str) -> dict[str, Any]:
        """The job, as soon as it has this result."""

        async def has_result() -> bool:
            return bool((await self.job(name))["result"] == result)

        await eventually(has_result)
        return await self.job(name)


async def work(service: Service) -> None:
    """Do nothing."""


async def fail(service: Service) -> None:
    raise ZeroDivisionError("of a record that nobody else may read")


@asynccontextmanager
async def site(mongodb_uri: str, folder: Path, *jobs: Job) -> AsyncIterator[Site]:
    acme = Plugin(name="acme", title=Message("协议", "Agreements"), jobs=jobs)
    async with serving(mongodb_uri, folder, [*load_plugins(("auth", "rbac", "system")), acme], demo=False) as running:
        yield Site(running, await Client(running.url).log_in("admin"))


async def test_a_job_that_succeeded_says_when_and_when_it_is_due(mongodb_uri: str, tmp_path: Path) -> None:
    job = Job("acme.sweep", 3600, work, Message("清扫", "Sweep"))
    async with site(mongodb_uri, tmp_path, job) as there:
        swept = await there.once("acme.sweep", "succeeded")
        assert swept["began_at"] < swept["next_at"]
        assert (swept["title"], swept["every_seconds"], swept["fault"]) == ("清扫", 3600, None)
        assert 0 <= swept["seconds"] < 60
        english = expect(await there.admin.get(JOBS, headers={"Accept-Language": "en"}))
        assert "Sweep" in {one["title"] for one in english}


async def test_a_job_that_failed_names_the_kind_of_its_error_and_nothing_of_the_data(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with site(mongodb_uri, tmp_path, Job("acme.sweep", 3600, fail)) as there:
        failed = await there.once("acme.sweep", "failed")
        assert (failed["fault"], failed["title"]) == ("ZeroDivisionError", "acme.sweep")


@pytest.mark.parametrize(("lease", "result"), [("{}", "waiting"), ("over", "killed")])
async def test_a_job_whose_instance_was_killed_is_interrupted(
    lease: str, result: str, mongodb_uri: str, tmp_path: Path
) -> None:
    async with site(mongodb_uri, tmp_path, Job("acme.sweep", 3600, work)) as there:
        await there.once("acme.sweep", "succeeded")
        driver = there.running.service.database.driver
        left: dict[str, Any] = {"$unset": dict.fromkeys(("began", "ended"), "")}
        if lease == "over":
            long_ago = (await driver.find_one(LEASES, {"_id": "job:acme.sweep"}) or {})["began"].replace(year=2020)
            left = {"$set": {"until": long_ago}, "$unset": {"ended": ""}}
        await driver.update_one(LEASES, {"_id": "job:acme.sweep"}, left)
        assert (await there.job("acme.sweep"))["result"] == result


async def test_a_job_that_is_running_says_so(mongodb_uri: str, tmp_path: Path) -> None:
    released = asyncio.Event()

    async def wait(service: Service) -> None:
        await released.wait()

    async with site(mongodb_uri, tmp_path, Job("acme.sweep", 3600, wait)) as there:
        assert (await there.once("acme.sweep", "running"))["seconds"] is None
        released.set()
        await there.once("acme.sweep", "succeeded")


def test_every_job_of_ours_says_what_it_is_for() -> None:
    jobs = [job for plugin in load_plugins(()) for job in plugin.jobs]
    assert len(jobs) >= 9
    assert [job.name for job in jobs if job.title is None] == []


async def test_jobs_and_processes_are_empty_without_the_permission(people: People) -> None:
    person = await people.person(["system:config:list"], "all")
    for path in (JOBS, "/api/v1/system/processes"):
        expect(await person.get(path), 40300)


async def test_a_process_tells_its_figures(admin: Client) -> None:
    (own, *_) = expect(await admin.get("/api/v1/system/processes"))
    assert own["responds"] is True
    assert own["pid"] > 0
    assert own["requests"] > 0
    assert own["megabytes"] > 10
    assert own["started_at"]
