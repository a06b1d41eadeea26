"""The TypeScript client of `clients/typescript`: compiled by a strict compiler, and run in Node against live servers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, eventually, expect
from tests.support.replica_sets import free_ports
from tests.support.server_process import environment, server_process
from tests.support.typescript import copy_client, expired_token, run

pytestmark = pytest.mark.gen_test(timeout=180)
NODE = ("node", "--experimental-websocket", "--no-warnings")
IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)


def examples(readme: str) -> str:
    """The examples of the README as one program, for the server and the password in the environment."""
    program = "\n".join(re.findall(r"```ts\n(.*?)```", readme, re.DOTALL))
    program = "".join(IMPORT.findall(program)) + IMPORT.sub("", program)
    for given, name in (("http://127.0.0.1:8000", "TRADEWIND_URL"), ("the password", "TRADEWIND_PASSWORD")):
        assert f'"{given}"' in program
        program = program.replace(f'"{given}"', f"process.env.{name}!")
    return program


@pytest.fixture(scope="module")
def project(io_loop: IOLoop, tradewind: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client, compiled with types of the running server, and with the examples of its README as a program.

    The compiler must accept and refuse what `test/types.ts` says.
    """

    async def prepare() -> Path:
        folder = await copy_client(tmp_path_factory.mktemp("typescript"))
        (folder / "test" / "readme.ts").write_text(examples((folder / "README.md").read_text()))
        shutil.copy(Path(__file__).with_name("schemas.js"), folder)
        await run(
            folder,
            "node_modules/.bin/openapi-typescript",
            f"{tradewind.url}/api/openapi.json",
            "--output",
            "src/schema.ts",
        )
        await run(folder, "node_modules/.bin/tsc")
        return folder

    made: Path = io_loop.run_sync(prepare, timeout=180)
    return made


def settings_of(url: str) -> dict[str, str]:
    return {"TRADEWIND_URL": url, "TRADEWIND_PASSWORD": PASSWORD}


async def test_the_client_does_in_node_what_it_says(project: Path, tradewind: Running) -> None:
    expired = expired_token(tradewind)
    await run(
        project, *NODE, "--test", "dist/test/client.test.js", **settings_of(tradewind.url), TRADEWIND_EXPIRED=expired
    )


async def test_the_examples_of_its_readme_run(project: Path, tradewind: Running) -> None:
    printed = await run(project, *NODE, "dist/test/readme.js", **settings_of(tradewind.url))
    assert "Somebody has changed phone; the version is now 2" in printed


@asynccontextmanager
async def hearing(project: Path, url: str, printed: Path) -> AsyncIterator[None]:
    """A program that listens to notifications while the block runs, and prints them to a file."""
    with printed.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *NODE, "dist/test/hearing.js", cwd=project, env={**os.environ, **settings_of(url)}, stdout=file
        )
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_listener_hears_every_notification_once_though_the_server_is_killed(
    project: Path, mongodb_uri: str, tmp_path: Path
) -> None:
    printed, [port] = tmp_path / "printed", free_ports(1)
    env = environment(mongodb_uri, tmp_path / "data", PORT=str(port), PLUGINS="auth,rbac,notification,system")

    async def print_of(*lines: str) -> None:
        async def look() -> bool:
            return printed.read_text().splitlines() == [*lines]

        try:
            await eventually(look, seconds=60)
        except AssertionError:
            assert printed.read_text().splitlines() == [*lines]

    async def announce(admin: Client, title: str) -> None:
        expect(await admin.post("/api/v1/notifications", {"title": title, "user_ids": [1]}))

    async with server_process(env, tmp_path / "first") as first:
        url = await first.url()
        admin = await Client(url).log_in("admin")
        async with hearing(project, url, printed):
            await print_of("connected")
            await announce(admin, "before")
            await print_of("connected", "before")
            first.process.kill()
            await print_of("connected", "before", "away")
            async with server_process(env, tmp_path / "second") as second:
                await second.url()
                await announce(admin, "meanwhile")
                await print_of("connected", "before", "away", "connected", "meanwhile")


async def test_ajv_compiles_every_schema_and_takes_every_example(project: Path, admin: Client) -> None:
    (project / "description.json").write_bytes((await admin.get("/api/openapi.json")).body)
    found = json.loads(await run(project, "node", "schemas.js", "description.json"))
    assert found["faults"] == []
    assert found["checked"] > 1000
