"""Costly work in worker processes: its limits, its queue, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from handlers.access.actor import Actor
from handlers.confined.pool import Confined, Lane, TooCostly, WorkFailed
from handlers.request import Request
from handlers.schema.errors import BAD_REQUEST, RATE_LIMITED, UNAVAILABLE, ApiError
from plugins.testing import eventually

pytestmark = pytest.mark.gen_test(timeout=20)
HERE = "tests.support.confined_functions"


@asynccontextmanager
async def lane(**limits: Any) -> AsyncIterator[Lane]:
    confined = Confined(at_once=limits.pop("at_once", 1), memory_bytes=256 << 20)
    try:
        yield confined.lane("test", **limits)
    finally:
        await confined.close()


def asked_by(user_id: int) -> Request:
    return Request(SimpleNamespace(), "POST", "/", "id", {}, "", actor=Actor(user_id=user_id))  # type: ignore[arg-type]


async def begun(path: Path) -> None:
    """Wait until the function `sleep` has begun, which then makes this file."""

    async def look() -> bool:
        return path.exists()

    await eventually(look)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_function_gets_its_input_and_arguments_and_returns_bytes() -> None:
    async with lane() as here:
        assert await here.run(f"{HERE}:joined", b"one") == b"one"
        async with await here.begin(f"{HERE}:joined", ", ") as work:
            for piece in (b"one", b"two", b"x" * 3_000_000):
                await work.send(piece)
            assert await work.result() == b"one, two, " + b"x" * 3_000_000


async def test_a_process_does_one_job_after_the_other_and_ends_with_the_service() -> None:
    async with lane() as here:
        pids = {int(await here.run(f"{HERE}:pid", b"")) for _ in range(3)}
        assert len(pids) == 1
        assert is_running(*pids)
    assert not is_running(*pids)


@pytest.mark.parametrize(
    ("function", "arguments", "limits"),
    [("spin", (), {"cpu_seconds": 1}), ("sleep", (60,), {"seconds": 2}), ("hoard", (512,), {})],
)
async def test_work_beyond_its_limits_is_ended(
    function: str, arguments: tuple[int, ...], limits: dict[str, int]
) -> None:
    async with lane(**limits) as here:
        with pytest.raises(TooCostly):
            await here.run(f"{HERE}:{function}", b"", *arguments)
        assert await here.run(f"{HERE}:joined", b"the next") == b"the next"


async def test_work_writes_no_file_beyond_its_limit(tmp_path: Path) -> None:
    async with lane(file_bytes=1 << 20) as here:
        with pytest.raises(WorkFailed, match="OSError"):
            await here.run(f"{HERE}:scribble", b"", str(tmp_path / "file"))
    assert (tmp_path / "file").stat().st_size <= 1 << 20


async def test_what_a_function_raises_is_reported_by_name() -> None:
    async with lane() as here:
        with pytest.raises(WorkFailed) as failure:
            await here.run(f"{HERE}:refuse", b"", "no table")
        assert (failure.value.kind, failure.value.text) == ("ValueError", "no table")


async def test_whoever_sends_on_hears_that_the_function_raised() -> None:
    async with lane() as here, await here.begin(f"{HERE}:refuse_first") as work:

        async def send_on() -> None:
            while True:
                await work.send(b"x" * 100_000)

        with pytest.raises(WorkFailed, match="LookupError"):
            await send_on()


async def test_a_process_that_ended_while_it_waited_is_replaced() -> None:
    async with lane() as here:
        pid = int(await here.run(f"{HERE}:pid", b""))
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is still to be reaped
        assert int(await here.run(f"{HERE}:pid", b"")) != pid


async def test_what_a_library_prints_is_no_result() -> None:
    async with lane() as here:
        assert await here.run(f"{HERE}:chatter", b"result") == b"result"


async def test_a_process_knows_no_secret_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_JWT_SECRET", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    async with lane() as here:
        names = (await here.run(f"{HERE}:environment", b"")).decode().split()
    assert [name for name in names if name.startswith(("TRADEWIND", "AWS"))] == []


# -- how many


async def test_a_job_waits_for_its_turn_for_so_long_and_one_too_many_is_refused_at_once() -> None:
    async with lane(waiting=1, patience_seconds=0.2) as here, await here.begin(f"{HERE}:joined") as first:
        waiting = asyncio.create_task(here.run(f"{HERE}:joined", b""))
        await asyncio.sleep(0)
        for refused in (here.run(f"{HERE}:joined", b""), waiting):
            with pytest.raises(ApiError) as refusal:
                await refused
            assert refusal.value.kind is UNAVAILABLE
            assert int(refusal.value.headers["Retry-After"]) > 0
        await first.send(b"goes on")
        assert await first.result() == b"goes on"


async def test_whoever_waits_has_the_next_turn() -> None:
    async with lane() as here:
        async with await here.begin(f"{HERE}:joined") as first:
            others = [asyncio.create_task(here.run(f"{HERE}:joined", b"%d" % number)) for number in range(3)]
            await asyncio.sleep(0)
            assert await first.result() == b""
        assert await asyncio.gather(*others) == [b"0", b"1", b"2"]


async def test_one_person_has_only_so_many() -> None:
    async with lane(at_once=3, each=2) as here:
        mine = [await here.begin(f"{HERE}:joined", request=asked_by(7)) for _ in range(2)]
        async with asyncio.timeout(5):  # at once, and not after the ten seconds that others wait
            with pytest.raises(ApiError) as refusal:
                await here.begin(f"{HERE}:joined", request=asked_by(7))
        assert refusal.value.kind is RATE_LIMITED
        assert int(refusal.value.headers["Retry-After"]) > 0
        assert await here.run(f"{HERE}:joined", b"another's", request=asked_by(8)) == b"another's"
        mine[0].close()
        assert await here.run(f"{HERE}:joined", b"again", request=asked_by(7)) == b"again"
        mine[1].close()


async def test_one_person_leaves_a_place_to_the_others() -> None:
    async with lane(at_once=2) as here:
        async with await here.begin(f"{HERE}:joined", request=asked_by(7)):
            own = asyncio.create_task(here.run(f"{HERE}:joined", b"own", request=asked_by(7)))
            await asyncio.sleep(0)
            assert await here.run(f"{HERE}:joined", b"another's", request=asked_by(8)) == b"another's"
            assert not own.done()
        assert await own == b"own"


async def test_a_wait_over_the_limit_ends_with_its_own_error() -> None:
    async with lane(at_once=2, patience_seconds=0.2) as here, await here.begin(f"{HERE}:joined", request=asked_by(7)):
        with pytest.raises(ApiError) as refusal:
            await here.begin(f"{HERE}:joined", request=asked_by(7))
    assert refusal.value.kind is RATE_LIMITED


async def test_whoever_has_had_least_goes_first() -> None:
    order: list[str] = []

    async def job(person: int, name: str) -> None:
        await here.run(f"{HERE}:joined", b"", request=asked_by(person))
        order.append(name)

    async with lane() as here:
        async with await here.begin(f"{HERE}:joined", request=asked_by(7)) as first:
            named = [(7, "second"), (7, "third"), (8, "another's")]
            jobs = [asyncio.create_task(job(person, name)) for person, name in named]
            await asyncio.sleep(0)
            await first.result()
        await asyncio.gather(*jobs)
    assert order == ["another's", "second", "third"]


# -- the end


@pytest.mark.parametrize("waits", [False, True])
async def test_a_client_that_goes_away_ends_its_job(waits: bool, tmp_path: Path) -> None:
    async with lane() as here:
        request = asked_by(7)
        others = await here.begin(f"{HERE}:joined") if waits else None
        job = asyncio.create_task(here.run(f"{HERE}:sleep", b"", 60, str(tmp_path / "begun"), request=request))
        await (asyncio.sleep(0) if waits else begun(tmp_path / "begun"))
        request.leave()
        with pytest.raises(ApiError) as end:
            await job
        assert end.value.kind is BAD_REQUEST
        if others is not None:
            others.close()
        assert await here.run(f"{HERE}:joined", b"free") == b"free"


async def test_a_job_that_is_cancelled_leaves_its_turn_and_no_process(tmp_path: Path) -> None:
    async with lane() as here:
        pid = int(await here.run(f"{HERE}:pid", b""))
        job = asyncio.create_task(here.run(f"{HERE}:sleep", b"", 60, str(tmp_path / "begun")))
        await begun(tmp_path / "begun")
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job

        async def gone() -> bool:
            return not is_running(pid)

        await eventually(gone)
        assert await here.run(f"{HERE}:joined", b"free") == b"free"


async def test_a_stop_waits_a_moment_for_what_runs_and_not_for_what_waits(tmp_path: Path) -> None:
    async with lane() as here:
        running = asyncio.create_task(here.run(f"{HERE}:sleep", b"", 60, str(tmp_path / "begun")))
        await begun(tmp_path / "begun")
        waiting = asyncio.create_task(here.run(f"{HERE}:joined", b""))
        await asyncio.sleep(0)
        here.confined.stop()
        late = asyncio.create_task(here.run(f"{HERE}:joined", b""))
        for refused in (waiting, late, running):
            async with asyncio.timeout(3):
                with pytest.raises(ApiError) as refusal:
                    await refused
            assert refusal.value.kind is UNAVAILABLE
