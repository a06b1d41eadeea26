"""The binding of WeCom states: no other browser or session can finish a scan."""

from __future__ import annotations

import re
from typing import Any

import pytest

from plugins.auth.wecom_states import WECOM_STATES
from plugins.testing import Client, Reply, expect
from tests.support.wecom_platform import AUTH, Platform, scan

pytestmark = pytest.mark.gen_test(timeout=30)
QR, CALLBACK, BIND = f"{AUTH}/wecom/qr", f"{AUTH}/wecom/callback", f"{AUTH}/wecom/bind"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
COOKIE = re.compile(r"^([\w-]+)=([\w-]{43}); Max-Age=300; Path=/; HttpOnly; SameSite=Strict(; Secure)?$")
ELSEWHERE = "The log-in was started in another browser or session; scan again here"


class Browser:
    """A browser on a page of the service's own origin, with its cookies."""

    def __init__(self, platform: Platform, host: str = "") -> None:
        self.platform = platform
        self.host = {"Host": host} if host else {}
        self.cookies: dict[str, str] = {}
        self.last_cookie = ""

    @property
    def headers(self) -> dict[str, str]:
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {**SAME_ORIGIN, **self.host, **({"Cookie": sent} if sent else {})}

    async def begin(self, member: str) -> dict[str, str]:
        """Request the QR page and let the member scan it; return code and state."""
        reply = await Client(self.platform.link.url).get(QR, headers=self.headers)
        self.last_cookie = reply.headers["Set-Cookie"]
        found = COOKIE.match(self.last_cookie)
        assert found, self.last_cookie
        self.cookies[found.group(1)] = found.group(2)
        return {"code": self.platform.wecom.code_for(member), "state": expect(reply)["state"]}

    async def finish(self, scanned: dict[str, str]) -> Reply:
        """Log in with code and state of the page's address."""
        return await Client(self.platform.link.url).post(CALLBACK, scanned, headers=self.headers)


async def finish(platform: Platform, scanned: dict[str, str], token: str | None = None, **headers: str) -> Reply:
    """Log in as a client that is not a browser on the service's own origin."""
    return await Client(platform.link.url, token).post(CALLBACK, scanned, headers={"Accept-Language": "en", **headers})


async def bound(platform: Platform, user: dict[str, Any]) -> str | None:
    found: str | None = (await platform.record(user["id"]))["wecom_user_id"]
    return found


# -- sessions


async def test_a_state_that_nobodys_session_asked_for_binds_nobody(platform: Platform) -> None:
    user = await platform.people.account()
    client = await platform.log_in(user)
    given = await scan(platform.link, platform.member())
    reply = await client.post(BIND, given, headers={"Accept-Language": "en"})
    expect(reply, 40011)
    assert reply.json["msg"] == ELSEWHERE
    assert given["code"] in platform.wecom.codes
    assert await bound(platform, user) is None


async def test_the_scan_of_an_attacker_is_not_bound_to_the_account_of_another(platform: Platform) -> None:
    victim, attacker = [await platform.people.account() for _ in range(2)]
    theirs = await platform.log_in(attacker)
    member = platform.member()
    given = await scan(platform.link, member, theirs)
    expect(await (await platform.log_in(victim)).post(BIND, given), 40011)
    assert await bound(platform, victim) is None
    # the attempt did not use up the state
    expect(await theirs.post(BIND, given))
    assert await bound(platform, attacker) == member


async def test_a_state_is_of_the_session_and_not_of_the_person(platform: Platform) -> None:
    user = await platform.people.account()
    here, there = await platform.log_in(user), await platform.log_in(user)
    given = await scan(platform.link, platform.member(), here)
    expect(await there.post(BIND, given), 40011)
    expect(await here.post(BIND, given))


async def test_the_state_of_a_session_outlives_its_access_token(platform: Platform) -> None:
    client = await platform.log_in(await platform.people.account())
    given = await scan(platform.link, platform.member(), client)
    pair = expect(await Client(client.url).post(f"{AUTH}/refresh", {"refreshToken": client.session["refreshToken"]}))
    expect(await Client(client.url, pair["accessToken"]).post(BIND, given))


@pytest.mark.parametrize("token", ["x.y.z", "ended"])
async def test_a_token_that_is_not_good_does_not_keep_anybody_from_logging_in(platform: Platform, token: str) -> None:
    _, member = await platform.bound_account()
    if token == "ended":
        client = await platform.log_in(await platform.people.account())
        expect(await client.post(f"{AUTH}/logout"))
        token = str(client.token)
    given = await scan(platform.link, member, Client(platform.link.url, token))
    expect(await finish(platform, given))


async def test_the_state_of_a_session_logs_in_there_alone(platform: Platform) -> None:
    user, member = await platform.bound_account()
    here, other = await platform.log_in(user), await platform.log_in(await platform.people.account())
    given = await scan(platform.link, member, here)
    for token in (None, other.token, "x.y.z"):
        expect(await finish(platform, given, token), 40011)
    expect(await finish(platform, given, here.token))


# -- browsers


async def test_a_browser_of_the_same_origin_logs_in_with_its_own_scan(platform: Platform) -> None:
    user, member = await platform.bound_account()
    browser = Browser(platform)
    assert expect(await browser.finish(await browser.begin(member)))["userInfo"]["userId"] == user["id"]


@pytest.mark.parametrize("attacker", ["a script", "a browser"])
async def test_the_scan_of_an_attacker_does_not_log_a_browser_in(platform: Platform, attacker: str) -> None:
    _, member = await platform.bound_account()
    begun = await Browser(platform).begin(member) if attacker == "a browser" else await scan(platform.link, member)
    victim = Browser(platform)
    expect(await victim.finish(begun), 40011)
    await victim.begin(member)  # a log-in that it began itself is another
    expect(await victim.finish(begun), 40011)
    assert begun["code"] in platform.wecom.codes


async def test_what_a_browser_began_is_finished_nowhere_else(platform: Platform) -> None:
    _, member = await platform.bound_account()
    browser = Browser(platform)
    given = await browser.begin(member)
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Cookie": f"{next(iter(browser.cookies))}={'x' * 43}"}):
        reply = await finish(platform, given, **headers)
        expect(reply, 40011)
        assert reply.json["msg"] == ELSEWHERE
    expect(await browser.finish(given))


@pytest.mark.parametrize("site", ["", "cross-site", "same-site", "none"])
async def test_somebody_who_has_no_cookies_there_logs_in_as_before(platform: Platform, site: str) -> None:
    _, member = await platform.bound_account()
    headers = {"Sec-Fetch-Site": site} if site else {}
    reply = await Client(platform.link.url).get(QR, headers=headers)
    assert "Set-Cookie" not in reply.headers
    expect(await finish(platform, await scan(platform.link, member, **headers), **headers))


async def test_two_tabs_of_a_browser_both_log_in(platform: Platform) -> None:
    _, member = await platform.bound_account()
    browser = Browser(platform)
    first, second = await browser.begin(member), await browser.begin(member)
    for given in (first, second):
        expect(await browser.finish(given))


async def test_a_cookie_that_is_none_of_ours_is_not_kept(platform: Platform) -> None:
    _, member = await platform.bound_account()
    browser = Browser(platform)
    await browser.begin(member)
    (name,) = browser.cookies
    for value in ("", "short", "x" * 44, '"; Domain=example.com'):
        browser.cookies = {name: value, "other": "1"}
        given = await browser.begin(member)
        assert browser.cookies[name] != value
        expect(await browser.finish(given))


@pytest.mark.parametrize(
    ("host", "name", "secure"),
    [
        ("crm.example.com", "__Host-wecom-browser", True),
        ("crm.example.com:8443", "__Host-wecom-browser", True),
        ("localhost:5173", "wecom-browser", False),
        ("127.0.0.1", "wecom-browser", False),
        ("[::1]:8000", "wecom-browser", False),
    ],
)
async def test_the_cookie_is_the_hosts_alone_wherever_browsers_have_tls(
    platform: Platform, host: str, name: str, secure: bool
) -> None:
    _, member = await platform.bound_account()
    browser = Browser(platform, host)
    given = await browser.begin(member)
    assert (list(browser.cookies), browser.last_cookie.endswith("; Secure")) == ([name], secure)
    expect(await browser.finish(given))


async def test_the_database_holds_neither_the_cookie_nor_a_token(platform: Platform) -> None:
    _, member = await platform.bound_account()
    browser = Browser(platform)
    await browser.begin(member)
    kept = str(await platform.link.service.database.driver.find(WECOM_STATES.name, {}))
    assert not [value for value in browser.cookies.values() if value in kept]
