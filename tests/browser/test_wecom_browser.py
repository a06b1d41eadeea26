"""A WeCom log-in in a real browser: bound to the browser on the service's own origin, and possible on another one."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect
from tests.browser.browser import Console, do
from tests.support.wecom_platform import AUTH, Platform, scan

pytestmark = pytest.mark.gen_test(timeout=60)
FETCH = """
const [method, address, body] = arguments;
const options = {method, headers: {"Content-Type": "application/json"}, body: body && JSON.stringify(body)};
return fetch(address, options).then(reply => reply.json()).catch(error => ({code: -1, msg: String(error)}));
"""


async def sent(console: Console, method: str, address: str, body: Any = None) -> dict[str, Any]:
    """The response to a request of the page that is shown."""
    reply: dict[str, Any] = await do(console.browser.execute_script, FETCH, method, address, body)
    return reply


async def logged_in(console: Console, url: str, platform: Platform, member: str) -> dict[str, Any]:
    """Begin a log-in, scan, finish it, and return the response."""
    begun = await sent(console, "GET", f"{url}{AUTH}/wecom/qr")
    scanned = {"code": platform.wecom.code_for(member), "state": begun["data"]["state"]}
    return await sent(console, "POST", f"{url}{AUTH}/wecom/callback", scanned)


async def test_a_page_of_the_same_origin_logs_in_and_finishes_no_scan_of_others(
    platform: Platform, console: Console
) -> None:
    user, member = await platform.bound_account()
    await do(console.browser.get, f"{platform.link.url}/api/docs")
    await do(console.browser.delete_all_cookies)
    begun_elsewhere = await scan(platform.link, member)
    refused = await sent(console, "POST", f"{platform.link.url}{AUTH}/wecom/callback", begun_elsewhere)
    assert refused["code"] == 40011
    entered = await logged_in(console, platform.link.url, platform, member)
    assert entered["data"]["userInfo"]["userId"] == user["id"]
    assert "wecom" not in await do(console.browser.execute_script, "return document.cookie")
    (cookie,) = await do(console.browser.get_cookies)
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")


async def test_a_page_of_another_origin_logs_in_with_nothing_but_code_and_state(
    platform: Platform, console: Console
) -> None:
    user, member = await platform.bound_account()
    async with platform.server(cors_origins=(platform.wecom.url,)) as server:
        await do(console.browser.get, f"{platform.wecom.url}/wwlogin/sso/login")
        await do(console.browser.delete_all_cookies)
        entered = await logged_in(console, server.url, platform, member)
        assert entered["data"]["userInfo"]["userId"] == user["id"]
        expect(await Client(server.url, entered["data"]["accessToken"]).get(f"{AUTH}/profile"))
