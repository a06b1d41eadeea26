"""What a scrape gets: sound by Prometheus's conventions, from all processes of a port, and bounded."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from config.version import VERSION
from handlers.operations.metrics import Metrics
from handlers.operations.processes import Processes, processes_of
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, expect
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
NAME = re.compile(r"(tradewind|process)_[a-z]+(_[a-z]+)*")
UNITS = ("seconds", "bytes", "total", "timestamp_seconds")


async def scraped(client: Client) -> str:
    """The text of a scrape."""
    reply = await client.get("/metrics")
    assert reply.status == 200
    return reply.body.decode()


def families(text: str) -> Mapping[str, Metric]:
    """What a strict parser reads in it."""
    return {family.name: family for family in text_string_to_metric_families(text)}


async def test_every_metric_is_described_once_and_its_lines_come_together(anonymous: Client) -> None:
    text = await scraped(anonymous)
    described = re.findall(r"^# (HELP|TYPE) (\S+) (.+)$", text, re.MULTILINE)
    for part in ("HELP", "TYPE"):
        names = Counter(name for kind, name, _ in described if kind == part)
        assert set(names.values()) == {1}
    order: list[str] = []
    for line in text.splitlines():
        name = line.split()[2] if line.startswith("#") else re.split(r"[{ ]", line, maxsplit=1)[0]
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        if not order or order[-1] not in (name, base):
            order.append(base if f"# TYPE {base} histogram" in text else name)
    assert len(order) == len(set(order))


async def test_names_and_types_are_those_of_the_conventions(anonymous: Client) -> None:
    text = await scraped(anonymous)
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    assert [name for name in types if not NAME.fullmatch(name)] == []
    assert [name for name, kind in types.items() if (kind == "counter") != name.endswith("_total")] == []
    assert [name for name in types if re.search(r"_(milliseconds|ms|minutes|kb|mb|count|sum|bucket)$", name)] == []
    assert [name for name, kind in types.items() if kind == "histogram" and not name.endswith(UNITS)] == []
    for family in families(text).values():
        keys = [(sample.name, *sorted(sample.labels.items())) for sample in family.samples]
        assert len(keys) == len(set(keys)), family.name


async def test_a_scrape_tells_of_all_that_an_operator_watches(tradewind: Running, anonymous: Client) -> None:
    await Client(tradewind.url).log_in("admin")
    await Client(tradewind.url).post("/api/v1/auth/login", {"username": "nobody-at-all", "password": PASSWORD})
    found = families(await scraped(anonymous))
    logins = {sample.labels["result"]: sample.value for sample in found["tradewind_logins"].samples}
    assert logins["refused"] >= 1
    assert logins["success"] >= 1
    assert {"locked", "disabled", "limited", "other"} <= logins.keys()
    assert found["tradewind_build_info"].samples[0].labels == {"version": VERSION}
    assert found["tradewind_change_stream_open"].samples[0].value == 1
    assert found["tradewind_process_up"].samples[0].value == 1
    jobs = {sample.labels["job_name"] for sample in found["tradewind_job_runs"].samples}
    assert {job.name for plugin in load_plugins(()) for job in plugin.jobs} <= jobs
    states = {sample.labels["state"] for sample in found["tradewind_migrations"].samples}
    assert states == {"due", "again", "done", "failed"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing: apt-get install prometheus has it")
async def test_promtool_finds_nothing_wrong(anonymous: Client) -> None:
    text = await scraped(anonymous)
    checked = subprocess.run(("promtool", "check", "metrics"), input=text, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


async def test_a_scrape_of_a_thousand_routes_lets_others_have_their_turn() -> None:
    metrics = Metrics()
    for number in range(1000):
        for status in (200, 400, 401):
            metrics.observe("GET", f"/api/v1/things-{number}/{{id}}", status, 3.0)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await metrics.families("1")
    task.cancel()
    assert turns >= 60


async def test_one_scrape_tells_of_two_processes_and_finds_the_one_that_hangs(tmp_path: Path) -> None:
    first, second = Processes(Metrics()), Processes(Metrics())
    for processes, count in ((first, 2), (second, 3)):
        for _ in range(count):
            processes._metrics.observe("GET", "/api/a", 200, 1.0)
        await processes.join(tmp_path, 8000)
    try:
        for asked in (first, second):
            told = families((await asked.exposition()).decode())
            counts = {one.labels.get("process", ""): one.value for one in told["tradewind_requests"].samples}
            assert counts == {"": 2, "1": 3}
            assert {one.labels["process"]: one.value for one in told["tradewind_process_up"].samples} == {
                "0": 1,
                "1": 1,
            }
    finally:
        await second.leave()
    assert [one.number for one in await first.all_states()] == [0]
    await first.leave()


async def test_the_number_of_a_process_that_ended_is_taken_again(tmp_path: Path) -> None:
    first, second, third = (Processes(Metrics()) for _ in range(3))
    await first.join(tmp_path, 8000)
    await second.join(tmp_path, 8000)
    await first.leave()
    await third.join(tmp_path, 8000)
    assert [one.number for one in await second.all_states()] == [0, 1]
    await second.leave()
    await third.leave()


async def test_processes_of_another_port_are_no_matter(tmp_path: Path) -> None:
    first, second = Processes(Metrics()), Processes(Metrics())
    await first.join(tmp_path, 8000)
    await second.join(tmp_path, 8001)
    assert [one.port for one in await first.all_states()] == [8000]
    assert sorted(one.port for one in await processes_of(tmp_path)) == [8000, 8001]
    await first.leave()
    await second.leave()


async def test_where_no_socket_can_be_made_a_process_tells_of_itself(tmp_path: Path) -> None:
    (tmp_path / "processes").write_text("in the way")
    alone = Processes(Metrics())
    await alone.join(tmp_path, 8000)
    assert [one.number for one in await alone.all_states()] == [0]
    await alone.leave()


async def test_the_probe_names_the_process_that_hangs(mongodb_uri: str, tmp_path: Path) -> None:
    async with server_process(environment(mongodb_uri, tmp_path), tmp_path / "server") as hanging:
        url = await hanging.url()
        port, own = int(url.rpartition(":")[2]), Processes(Metrics())
        await own.join(tmp_path, port)
        try:
            assert [one.pid for one in await own.all_states()] == [hanging.process.pid, os.getpid()]
            probed = expect(await Client(url).get("/api/health/processes"))
            assert [one["process"] for one in probed["processes"]] == ["0", "1"]
            hanging.process.send_signal(signal.SIGSTOP)
            assert [one.pid for one in await own.all_states()] == [0, os.getpid()]
        finally:
            hanging.process.send_signal(signal.SIGCONT)
            await own.leave()
