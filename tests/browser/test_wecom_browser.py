"""A WeCom log-in in a real browser: bound to the browser on the service's own origin, and possible on another one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from plugins.testing import Client, expect
from tests.support.wecom_platform import AUTH, Platform, scan

pytestmark = [
    pytest.mark.gen_test(timeout=60),
    pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium"),
]
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
FETCH = """
const [method, address, body, done] = arguments;
const options = {method, headers: {"Content-Type": "application/json"}, body: body && JSON.stringify(body)};
fetch(address, options).then(reply => reply.json()).then(done, error => done({code: -1, msg: String(error)}));
"""


class Browser:
    """Chromium. Its methods block, so they run in a thread."""

    def __init__(self, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for argument in (*QUIET, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        self.chrome = Chrome(options=options, service=Service(shutil.which("chromedriver")))

    async def open(self, address: str) -> None:
        await asyncio.to_thread(self.chrome.get, address)

    async def fetch(self, method: str, address: str, body: Any = None) -> dict[str, Any]:
        """Return the response to a request of the open page."""
        return await asyncio.to_thread(self.chrome.execute_async_script, FETCH, method, address, body)

    async def log_in(self, url: str, platform: Platform, member: str) -> dict[str, Any]:
        """Begin a log-in, scan, finish it, and return the response."""
        begun = await self.fetch("GET", f"{url}{AUTH}/wecom/qr")
        scanned = {"code": platform.wecom.code_for(member), "state": begun["data"]["state"]}
        return await self.fetch("POST", f"{url}{AUTH}/wecom/callback", scanned)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    started = Browser(tmp_path)
    yield started
    started.chrome.quit()


async def test_a_page_of_the_same_origin_logs_in_and_finishes_no_scan_of_others(
    platform: Platform, browser: Browser
) -> None:
    user, member = await platform.bound_account()
    await browser.open(f"{platform.link.url}/api/docs")
    begun_elsewhere = await scan(platform.link, member)
    refused = await browser.fetch("POST", f"{platform.link.url}{AUTH}/wecom/callback", begun_elsewhere)
    assert refused["code"] == 40011
    entered = await browser.log_in(platform.link.url, platform, member)
    assert entered["data"]["userInfo"]["userId"] == user["id"]
    assert "wecom" not in await asyncio.to_thread(browser.chrome.execute_script, "return document.cookie")
    (cookie,) = await asyncio.to_thread(browser.chrome.get_cookies)
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")


async def test_a_page_of_another_origin_logs_in_with_nothing_but_code_and_state(
    platform: Platform, browser: Browser
) -> None:
    user, member = await platform.bound_account()
    async with platform.server(cors_origins=(platform.wecom.url,)) as server:
        await browser.open(f"{platform.wecom.url}/wwlogin/sso/login")
        entered = await browser.log_in(server.url, platform, member)
        assert entered["data"]["userInfo"]["userId"] == user["id"]
        expect(await Client(server.url, entered["data"]["accessToken"]).get(f"{AUTH}/profile"))
