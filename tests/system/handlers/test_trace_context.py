"""W3C trace context: a sound one is in the response and in the log line, anything else is ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, expect
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SOUND = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(("given", "told"), [(SOUND, SOUND), (f"01-{TRACE}-{SPAN}-00-more", f"00-{TRACE}-{SPAN}-00")])
async def test_a_sound_one_comes_back(given: str, told: str, probed: Running) -> None:
    reply = await Client(probed.url).get("/api/health", headers={"traceparent": given})
    assert expect(reply) == {"status": "ok"}
    assert reply.headers["traceparent"] == told


@pytest.mark.parametrize(
    "given",
    [
        SOUND.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}",
        f"{SOUND}-more",
        f"01-{TRACE}-{SPAN}-01-{'x' * 300}",
        f"{SOUND},{SOUND}",
        "x" * 4000,
    ],
)
async def test_an_unsound_one_is_ignored(given: str, probed: Running) -> None:
    reply = await Client(probed.url).get("/api/health", headers={"traceparent": given})
    assert expect(reply) == {"status": "ok"}
    assert "traceparent" not in reply.headers


async def test_an_error_has_it_too(probed: Running) -> None:
    reply = await Client(probed.url).get("/api/none", headers={"traceparent": SOUND})
    expect(reply, 40400)
    assert reply.headers["traceparent"] == SOUND


async def test_log_lines_name_the_trace(mongodb_uri: str, tmp_path: Path) -> None:
    async with server_process(environment(mongodb_uri, tmp_path), tmp_path / "server") as server:
        client = Client(await server.url())
        await client.get("/api/health", headers={"traceparent": SOUND})
        await client.get("/api/health")

        async def logged() -> list[object]:
            lines = [line for line in server.lines("request") if line["path"] == "/api/health"]
            return [line.get("trace_id") for line in lines] if len(lines) == 2 else []

        assert await eventually(logged) == [TRACE, None]
