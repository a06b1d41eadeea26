"""The sessions and requests that the documents show run against a demo server, and have the responses that they show."""

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from tests.support.readme import GUIDES_FOR_CLIENTS, ROOT, commands_with_output, requests_to_copy, session

pytestmark = pytest.mark.gen_test(timeout=60)
curl = pytest.mark.skipif(shutil.which("curl") is None, reason="the transcripts need curl")
BETWEEN = "\u241e"  # is printed after each command


@pytest.fixture(scope="module")
def demo(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A demo server, as `scripts/server` starts it: its folder and its address."""
    folder = tmp_path_factory.mktemp("demo")
    server, base = io_loop.run_sync(lambda: started(folder))
    yield folder, base
    server.terminate()
    io_loop.run_sync(server.wait)


async def started(folder: Path) -> tuple[asyncio.subprocess.Process, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "server.py"),
        "--port",
        "0",
        cwd=folder,
        env={**environment, "TRADEWIND_DEMO": "true"},
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout
    async for line in server.stdout:
        found = re.search(rb'"url":"([^"]+)"', line)
        if found:
            return server, found.group(1).decode()
    raise AssertionError("the server did not start")


async def printed(demo: tuple[Path, str], script: str) -> str:
    """What a script of the documents prints, in the folder of the demo."""
    folder, base = demo
    run = await asyncio.create_subprocess_exec(
        "bash",
        "-euo",
        "pipefail",
        "-c",
        script.replace("http://127.0.0.1:8000", base),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await run.communicate())[0].decode(errors="replace")
    assert run.returncode == 0, output
    return output


@curl
async def test_the_first_session_runs_word_for_word(demo: tuple[Path, str]) -> None:
    output = await printed(demo, session())
    codes = [int(code) for code in re.findall(r'"code":(\d+)', output)]
    assert codes[:4] == [0, 0, 0, 40902], output
    assert "晨光科技" in output
    assert "新增客户" in output


@curl
async def test_the_requests_to_copy_have_the_responses_that_the_page_shows(demo: tuple[Path, str]) -> None:
    await check_responses(demo, requests_to_copy())


@curl
@pytest.mark.parametrize("page", GUIDES_FOR_CLIENTS, ids=lambda page: page.stem)
async def test_the_requests_of_a_guide_have_the_responses_that_it_shows(demo: tuple[Path, str], page: Path) -> None:
    await check_responses(demo, [requests_to_copy()[0], *commands_with_output(page.read_text())])


async def check_responses(demo: tuple[Path, str], pairs: Sequence[tuple[str, str]]) -> None:
    output = await printed(demo, "".join(f"{command}printf '{BETWEEN}'\n" for command, _ in pairs))
    for (command, shown), actual in zip(pairs, output.split(BETWEEN), strict=False):
        head, body = parts(shown)
        assert [line for line in head if line not in parts(actual)[0]] == [], f"{command}{actual}"
        assert not body or fits(json.loads(body), json.loads(parts(actual)[1])), f"{command}{actual}"


def parts(text: str) -> tuple[list[str], str]:
    """The lines before the JSON, and the JSON."""
    head, brace, rest = text.replace("\r", "").partition("{")
    body, closing, _ = rest.rpartition("}")
    return [line for line in head.lstrip("\ufeff").splitlines() if line], brace + body + closing


def fits(shown: Any, actual: Any) -> bool:
    """Whether the value has what is shown of it."""
    if isinstance(shown, dict):
        return isinstance(actual, dict) and all(
            name in actual and fits(value, actual[name]) for name, value in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(actual, list) and len(shown) == len(actual) and all(map(fits, shown, actual))
    return (shown == "…" and actual is not None) or bool(shown == actual)
