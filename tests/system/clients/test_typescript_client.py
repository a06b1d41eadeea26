"""A TypeScript client as the front ends write theirs: generated types, strict compiler, live server."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, expect

pytestmark = pytest.mark.gen_test(timeout=180)
SOURCES = ("package.json", "package-lock.json", "tsconfig.json", "client.ts", "schemas.js")
QUIET = ("--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline")


async def run(folder: Path, *command: str, **environment: str) -> str:
    """What `command` prints; fails with all of its output when it does not succeed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    assert process.returncode == 0, f"{' '.join(command)}\n{out.decode()}{error.decode()}"
    return out.decode()


@pytest.fixture(scope="module")
def project(io_loop: IOLoop, tradewind: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's folder with its packages, its types from the running server, and the client compiled.

    The compiler must refuse what the client marks as an error: a field that the description does not have.
    """
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("client")
    for name in SOURCES:
        shutil.copy(Path(__file__).parent / name, folder)

    async def prepare() -> None:
        await run(folder, "npm", "ci", *QUIET)
        description = f"{tradewind.url}/api/openapi.json"
        await run(folder, "node_modules/.bin/openapi-typescript", description, "-o", "tradewind.ts")
        await run(folder, "node_modules/.bin/tsc")

    io_loop.run_sync(prepare, timeout=180)
    return folder


async def test_a_strict_typescript_client_counts_the_customers_that_the_api_counts(
    project: Path, tradewind: Running, admin: Client
) -> None:
    environment = {"TRADEWIND_URL": tradewind.url, "TRADEWIND_USERNAME": "admin", "TRADEWIND_PASSWORD": PASSWORD}
    printed = json.loads(await run(project, "node", "out/client.js", **environment))
    page = expect(await admin.get("/api/v1/crm/customers?sort=name&page_size=5"))
    assert printed == {"total": page["total"], "names": [customer["name"] for customer in page["items"]]}


async def test_ajv_compiles_every_schema_and_takes_every_example(project: Path, admin: Client) -> None:
    (project / "description.json").write_bytes((await admin.get("/api/openapi.json")).body)
    found = json.loads(await run(project, "node", "schemas.js", "description.json"))
    assert found["faults"] == []
    assert found["checked"] > 1000
