"""The WeCom simulator: what the tests rely on, and a log-in through its own pages."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from tornado.httpclient import HTTPRequest
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from plugins.commands.wecom_simulator import Simulator
from plugins.testing import Client, expect
from tests.support.wecom_platform import AUTH, Platform, browse

pytestmark = pytest.mark.gen_test(timeout=30)
ROOT = Path(__file__).parents[3]


def token_of(wecom: Simulator) -> str:
    return str(wecom.gettoken(wecom.corp_id, wecom.secret)["access_token"])


def test_a_wrong_corporation_and_a_wrong_secret_have_codes_of_their_own() -> None:
    wecom = Simulator()
    assert wecom.gettoken("ww-other", wecom.secret)["errcode"] == 40013
    assert wecom.gettoken(wecom.corp_id, "wrong")["errcode"] == 40001


def test_a_token_is_given_again_until_it_expires() -> None:
    wecom = Simulator()
    first = token_of(wecom)
    assert token_of(wecom) == first
    wecom.expire_tokens()
    assert token_of(wecom) != first


def test_a_code_is_good_once_and_a_wrong_token_does_not_spend_it() -> None:
    wecom = Simulator()
    code = wecom.code_for("staff")
    answers = [wecom.getuserinfo(token, code) for token in ("wrong", token_of(wecom), token_of(wecom))]
    assert [answer["errcode"] for answer in answers] == [40014, 0, 40029]


def test_a_code_ends_when_its_time_is_over() -> None:
    wecom = Simulator(code_seconds=0)
    assert wecom.getuserinfo(token_of(wecom), wecom.code_for("staff"))["errcode"] == 40029


async def test_a_redirect_to_a_domain_that_is_not_trusted_is_refused(platform: Platform) -> None:
    url = expect(await Client(platform.link.url).get(f"{AUTH}/wecom/qr"))["url"]
    trusted = urlencode({"": urlsplit(platform.wecom.url).netloc})[1:]
    answers = [await browse("GET", address) for address in (url, url.replace(trusted, "evil.example"))]
    assert ["50001" in answer.body.decode() for answer in answers] == [False, True]


async def test_a_visitor_logs_in_through_the_pages_of_the_simulator(platform: Platform) -> None:
    platform.wecom.api = platform.link.url
    start = await browse("GET", platform.wecom.url)
    scanned = await browse("POST", start.headers["Location"], urlencode({"person": "staff"}))
    cookie = start.headers["Set-Cookie"].partition(";")[0]
    back = HTTPRequest(scanned.headers["Location"], headers={"Cookie": cookie})
    shown = unescape((await SimpleAsyncHTTPClient().fetch(back)).body.decode())
    answer = json.loads(shown.partition("<pre>")[2].partition("</pre>")[0])
    assert answer["data"]["userInfo"]["username"] == "staff"


async def test_the_front_end_refuses_a_scan_that_another_browser_began(platform: Platform) -> None:
    platform.wecom.api = platform.link.url
    start = await browse("GET", platform.wecom.url)
    scanned = await browse("POST", start.headers["Location"], urlencode({"person": "staff"}))
    assert "accessToken" not in (await browse("GET", scanned.headers["Location"])).body.decode()


async def test_it_runs_as_a_program_and_stops_when_asked() -> None:
    command = (sys.executable, "-m", "plugins.commands.wecom_simulator", "--port", "0")
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), 10)
        answer = await browse("GET", line.decode().split()[-1] + "/cgi-bin/gettoken?corpid=ww-other&corpsecret=x")
        assert json.loads(answer.body)["errcode"] == 40013
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 10) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
