"""The TypeScript client in many tabs of a browser, and with a file of a gibibyte in Node."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import PASSWORD, serving
from tests.browser.browser import Console, do
from tests.browser.fixtures import console, the_browser
from tests.support.typescript import copy_client, expired_token, run

__all__ = ["console", "the_browser"]
pytestmark = pytest.mark.gen_test(timeout=300)
TABS, GIBIBYTE = 10, 1 << 30
BEGIN = """
const [url, password, expired, done] = arguments;
import("/bundle.js").then(async ({ Client }) => {
  const client = new Client({ baseUrl: url });
  await client.logIn("admin", password);
  client.session.begin({ ...client.session.tokens, accessToken: expired });
}).then(done, (error) => done(String(error)));
"""
ASK = """
const [url, at] = arguments;
window.outcome = "";
import("/bundle.js").then(async ({ Client }) => {
  const client = new Client({ baseUrl: url });
  await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
  const { user } = await client.get("/api/v1/auth/profile");
  const refreshed = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/auth/refresh"));
  window.outcome = `${user.username} ${refreshed.length}`;
}).catch((error) => { window.outcome = String(error); });
"""
UPLOAD = """
import { openAsBlob } from "node:fs";
import { Client } from "./dist/src/index.js";

const client = new Client({ baseUrl: process.env.TRADEWIND_URL });
await client.logIn("admin", process.env.TRADEWIND_PASSWORD);
let steps = 0, last = 0, most = 0;
const file = await openAsBlob("large.txt", { type: "text/plain" });
const { size } = await client.upload(file, "large.txt", { onProgress });
function onProgress(sent) {
  steps += sent > last;
  last = sent;
  most = Math.max(most, process.memoryUsage().rss);
}
console.log(size, last, steps > 1000, most < 400e6);
"""


@pytest.fixture(scope="module")
def project(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled client, with `bundle.js` for browsers."""

    async def prepare() -> Path:
        folder = await copy_client(tmp_path_factory.mktemp("typescript"))
        described = Path(__file__).parents[3] / "docs" / "openapi.json"
        binaries = folder / "node_modules" / ".bin"
        await run(folder, str(binaries / "openapi-typescript"), str(described), "--output", "src/schema.ts")
        await run(folder, str(binaries / "tsc"))
        await run(folder, "npm", "run", "bundle")
        (folder / "dist" / "index.html").write_text("<!doctype html><title>A page</title>")
        return folder

    made: Path = io_loop.run_sync(prepare, timeout=180)
    return made


@pytest.fixture
def origin(project: Path) -> Iterator[str]:
    """The address of a page of another origin than the service's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=project / "dist"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def ask_in_tabs(console: Console, origin: str, url: str, expired: str) -> list[str]:
    """Let tabs of one person find their token expired at the same moment; return what each has got."""
    browser = console.browser
    browser.get(origin)
    assert browser.execute_async_script(BEGIN, url, PASSWORD, expired) is None
    first, now = browser.current_window_handle, browser.execute_script("return Date.now()")
    for place in range(TABS):
        if place:
            browser.switch_to.new_window("tab")
            browser.get(origin)
        browser.execute_script(ASK, url, now + 15_000)
    outcomes = []
    for handle in browser.window_handles:
        browser.switch_to.window(handle)
        console.until(lambda: browser.execute_script("return window.outcome"))
        outcomes.append(browser.execute_script("return window.outcome"))
        if handle != first:
            browser.close()
    browser.switch_to.window(first)
    return outcomes


async def test_ten_tabs_whose_token_has_expired_make_one_refresh(
    console: Console, mongodb_uri: str, project: Path, origin: str, tmp_path: Path
) -> None:
    async with serving(mongodb_uri, tmp_path, cors_origins=(origin,)) as running:
        outcomes = await do(ask_in_tabs, console, origin, running.url, expired_token(running))
    assert sorted(outcomes) == ["admin 0"] * (TABS - 1) + ["admin 1"]


async def test_a_gibibyte_is_uploaded_in_pieces_with_its_progress_and_within_400_megabytes(
    mongodb_uri: str, project: Path, tmp_path: Path
) -> None:
    (project / "upload.mjs").write_text(UPLOAD)
    with (project / "large.txt").open("wb") as file:
        for _ in range(1024):
            file.write(b"Two lamps, delivered in summer.\n" * (GIBIBYTE // 1024 // 32))
    async with serving(mongodb_uri, tmp_path, max_upload_bytes=2 * GIBIBYTE) as running:
        environment = {"TRADEWIND_URL": running.url, "TRADEWIND_PASSWORD": PASSWORD}
        printed = await run(project, "node", "upload.mjs", **environment)
    os.unlink(project / "large.txt")
    assert printed == f"{GIBIBYTE} {GIBIBYTE} true true\n"
