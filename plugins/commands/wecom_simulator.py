"""A stand-in for WeCom (企业微信): its log-in, its directory, and messages. For tests, and for trying it out.

`python -m plugins.commands.wecom_simulator --port 8100 --api http://127.0.0.1:8000` plays WeCom and, at `/` and `/callback`, the
page of a front end that logs in with it; `/messages` shows what its members were sent. Answers and error codes are those of
https://developer.work.weixin.qq.com/document/path/90313; like the original it answers errors with HTTP 200.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import signal
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

from tornado.httpclient import HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.simple_httpclient import SimpleAsyncHTTPClient
from tornado.web import Application, RequestHandler

MEMBERS = {"manager": "王经理", "sales": "李销售", "staff": "赵员工", "ChenXin": "陈新（还没有账号）"}
DEPARTMENTS = {1: ("总公司", 0), 2: ("销售部", 1), 3: ("行政部", 1)}
OUTSIDERS = {"oAbCd-outsider": "外部联系人"}
_MESSAGES = {
    40001: "invalid credential",
    40013: "invalid corpid",
    40014: "invalid access_token",
    40029: "invalid code",
    42001: "access_token expired",
    81013: "user & party & tag all invalid",
}
_KEPT = 200
OWN_BROWSER = "Mozilla/5.0 (iPhone) wxwork/4.1.30 MicroMessenger/7.0.1"


@dataclass
class Simulator:
    """One corporation with one application.

    `members` and `outsiders`: id → name. `departments`: id → name and parent; `places`: member → department, 1 by default. `redirect_host`: the trusted domain, with its port. `token_seconds` and
    `code_seconds`: lives. `delay` seconds before each API answer. `broken`: `error` answers HTTP 500 and `garbage`
    no JSON. `reject_tokens`: every token is answered with this error code. `calls` counts API calls by name.
    `messages` are those that members were sent, the newest last; `sent` has the id of each. `api` is the service that `/` and `/callback` log in
    to. `url` is set when it serves.
    """

    corp_id: str = "ww-tradewind-demo"
    agent_id: str = "1000002"
    secret: str = field(default_factory=secrets.token_urlsafe)
    redirect_host: str = ""
    members: Mapping[str, str] = field(default_factory=lambda: dict(MEMBERS))
    outsiders: Mapping[str, str] = field(default_factory=lambda: dict(OUTSIDERS))
    departments: Mapping[int, tuple[str, int]] = field(default_factory=lambda: dict(DEPARTMENTS))
    places: dict[str, int] = field(default_factory=lambda: {"sales": 2, "staff": 3})
    token_seconds: float = 7200
    code_seconds: float = 300
    delay: float = 0
    broken: str = ""
    reject_tokens: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, float] = field(default_factory=dict)
    codes: dict[str, tuple[str, float]] = field(default_factory=dict)
    messages: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_KEPT))
    sent: dict[str, str] = field(default_factory=dict)
    api: str = ""
    url: str = ""

    def expire_tokens(self) -> None:
        """All tokens given out so far are over: 42001."""
        self.tokens = dict.fromkeys(self.tokens, 0.0)

    def forget_tokens(self) -> None:
        """All tokens given out so far are unknown: 40014."""
        self.tokens.clear()

    def code_for(self, person: str) -> str:
        """The code of a scan by this person."""
        code = secrets.token_urlsafe(24)
        self.codes[code] = (person, time.monotonic() + self.code_seconds)
        return code

    def gettoken(self, corp_id: str, secret: str) -> dict[str, Any]:
        """A token; the same one as before while that is good, as WeCom does."""
        if corp_id != self.corp_id:
            return failure(40013)
        if secret != self.secret:
            return failure(40001)
        now = time.monotonic()
        token = next((token for token, until in self.tokens.items() if until > now), None)
        if token is None:
            token = secrets.token_urlsafe(64)
            self.tokens[token] = now + self.token_seconds
        return {**failure(0), "access_token": token, "expires_in": max(1, round(self.tokens[token] - now))}

    def fault_of(self, token: str) -> int:
        """The error code for a token; 0 for a good one."""
        if self.reject_tokens:
            return self.reject_tokens
        if token not in self.tokens:
            return 40014
        return 42001 if self.tokens[token] <= time.monotonic() else 0

    def send(self, token: str, body: dict[str, Any]) -> dict[str, Any]:
        """Keep a message to a member; the same one again is dropped, as its sender asks."""
        if fault := self.fault_of(token):
            return failure(fault)
        if body["touser"] not in self.members:
            return failure(81013)
        key = json.dumps(body, sort_keys=True)
        if key not in self.sent:
            self.sent[key] = f"message-{len(self.sent) + 1}"
            self.messages.append(body)
        return {**failure(0), "msgid": self.sent[key]}

    def list_departments(self, token: str) -> dict[str, Any]:
        """All departments."""
        rows = [{"id": id, "name": name, "parentid": above} for id, (name, above) in self.departments.items()]
        return failure(fault) if (fault := self.fault_of(token)) else {**failure(0), "department": rows}

    def list_members(self, token: str, department: int) -> dict[str, Any]:
        """The members of a department itself."""
        here = [one for one in self.members if self.places.get(one, 1) == department]
        rows = [{"userid": one, "name": self.members[one], "main_department": department, "status": 1} for one in here]
        return failure(fault) if (fault := self.fault_of(token)) else {**failure(0), "userlist": rows}

    def getuserinfo(self, token: str, code: str) -> dict[str, Any]:
        """Whose scan a code is; it is used up. A wrong token leaves it alone."""
        if fault := self.fault_of(token):
            return failure(fault)
        now = time.monotonic()
        person, until = self.codes.pop(code, ("", 0.0))
        if until <= now:
            return failure(40029)
        return {**failure(0), **({"userid": person} if person in self.members else {"openid": person})}


def failure(errcode: int) -> dict[str, Any]:
    """A response with this error code; 0 is a success."""
    return {"errcode": errcode, "errmsg": _MESSAGES.get(errcode, "ok")}


class ApiHandler(RequestHandler):
    """`cgi-bin/…`: JSON, always HTTP 200 but for the faults that were asked for."""

    def initialize(self, simulator: Simulator) -> None:
        self.simulator = simulator

    async def prepare(self) -> None:
        name = self.request.path.removeprefix("/cgi-bin/")
        self.simulator.calls[name] += 1
        await asyncio.sleep(self.simulator.delay)
        if self.simulator.broken == "error":
            self.set_status(500)
            self.finish("internal error")
        elif self.simulator.broken == "garbage":
            self.finish("<html>maintenance</html>")


class GetToken(ApiHandler):
    """`GET /cgi-bin/gettoken?corpid=&corpsecret=`."""

    def get(self) -> None:
        self.finish(
            self.simulator.gettoken(self.get_query_argument("corpid", ""), self.get_query_argument("corpsecret", ""))
        )


class GetUserInfo(ApiHandler):
    """`GET /cgi-bin/auth/getuserinfo?access_token=&code=`."""

    def get(self) -> None:
        token, code = self.get_query_argument("access_token", ""), self.get_query_argument("code", "")
        self.finish(self.simulator.getuserinfo(token, code))


class Directory(ApiHandler):
    """`GET /cgi-bin/department/list?access_token=` and `GET /cgi-bin/user/list?access_token=&department_id=`."""

    def get(self) -> None:
        token, department = self.get_query_argument("access_token", ""), self.get_query_argument("department_id", "")
        known = self.simulator
        self.finish(known.list_members(token, int(department)) if department else known.list_departments(token))


class SendMessage(ApiHandler):
    """`POST /cgi-bin/message/send?access_token=`."""

    def post(self) -> None:
        self.finish(self.simulator.send(self.get_query_argument("access_token", ""), json.loads(self.request.body)))


class Messages(RequestHandler):
    """`/messages`: what members were sent, the newest first."""

    def initialize(self, simulator: Simulator) -> None:
        self.simulator = simulator

    def get(self) -> None:
        shown = [self.shown(one) for one in reversed(self.simulator.messages)]
        self.finish(page("企业微信消息（模拟）", "".join(shown) or "<p>还没有消息</p>"))

    def shown(self, message: Mapping[str, Any]) -> str:
        card = message.get("textcard", {})
        title, text = card.get("title", ""), card.get("description") or message.get("text", {}).get("content", "")
        link = f'<p><a href="{escape(card["url"])}">{escape(card["btntxt"])}</a></p>' if card else ""
        member = self.simulator.members.get(message["touser"], message["touser"])
        return f"<hr><p>{escape(member)}</p><h3>{escape(title)}</h3><pre>{escape(text)}</pre>{link}"


class LoginPage(RequestHandler):
    """`/wwlogin/sso/login`: WeCom shows a QR code here; the simulator asks who scans it."""

    asked: ClassVar[Mapping[str, str]] = {"login_type": "CorpApp"}
    question = "谁来扫码？"

    def initialize(self, simulator: Simulator) -> None:
        self.simulator = simulator

    def get(self) -> None:
        if self.refused():
            return
        people = {**self.simulator.members, **self.simulator.outsiders}
        buttons = "".join(
            f'<p><button name="person" value="{escape(person)}">{escape(name)} · {escape(person)}</button></p>'
            for person, name in people.items()
        )
        self.finish(page("企业微信（模拟）", f'<p>{self.question}</p><form method="post">{buttons}</form>'))

    def post(self) -> None:
        """The scan: back to the front end with a code and its state."""
        if self.refused():
            return
        person = self.get_body_argument("person")
        if person not in {**self.simulator.members, **self.simulator.outsiders}:
            self.send_error(400)
            return
        query = urlencode({"code": self.simulator.code_for(person), "state": self.get_query_argument("state", "")})
        target = self.get_query_argument("redirect_uri")
        self.redirect(f"{target}{'&' if urlsplit(target).query else '?'}{query}")

    def refused(self) -> bool:
        """Whether the address is none that WeCom would answer."""
        expected = {**self.asked, "appid": self.simulator.corp_id, "agentid": self.simulator.agent_id}
        if any(self.get_query_argument(name, "") != value for name, value in expected.items()):
            self.finish(page("企业微信（模拟）", "<p>参数错误，错误码: 40013</p>"))
            return True
        if urlsplit(self.get_query_argument("redirect_uri", "")).netloc != self.simulator.redirect_host:
            self.finish(page("企业微信（模拟）", "<p>redirect_uri 域名不是可信域名，错误码: 50001</p>"))
            return True
        return False


class AuthorizePage(LoginPage):
    """`/connect/oauth2/authorize`: WeCom's own browser passes it at once; the simulator asks whose it is."""

    asked: ClassVar[Mapping[str, str]] = {"response_type": "code", "scope": "snsapi_base"}
    question = "这是谁的企业微信？"


class FrontEnd(RequestHandler):
    """What a front end does: `/` sends the visitor to the QR page, and `/inside` to the page of WeCom's own browser;
    `/callback` logs in with what comes back."""

    def initialize(self, simulator: Simulator) -> None:
        self.api = simulator.api

    async def get(self) -> None:
        if self.request.path != "/callback":
            answer = await self.ask(
                "GET", "/api/v1/auth/wecom/qr", agent="" if self.request.path == "/" else OWN_BROWSER
            )
            if answer["code"] == 0:
                self.set_cookie("state", answer["data"]["state"], httponly=True, samesite="Lax")
                self.redirect(answer["data"]["url"])
                return
        elif self.get_cookie("state") != self.get_query_argument("state", ""):
            # a scan that somebody else began must not log this browser in (RFC 6749 section 10.12)
            answer = {"msg": "这不是本浏览器发起的登录，请从首页开始"}
        else:
            scan = {name: self.get_query_argument(name, "") for name in ("code", "state")}
            answer = await self.ask("POST", "/api/v1/auth/wecom/callback", scan)
        shown = escape(json.dumps(answer, ensure_ascii=False, indent=2))
        self.finish(page("登录结果", f'<pre>{shown}</pre><p><a href="/">再来一次</a></p>'))

    async def ask(self, method: str, path: str, body: Any = None, agent: str = "") -> Any:
        """The envelope of the response of the service, to a browser that calls itself `agent`."""
        sent, headers = None if body is None else json.dumps(body), {"Content-Type": "application/json"}
        request = HTTPRequest(self.api + path, method, body=sent, headers=headers, user_agent=agent)
        return json.loads((await SimpleAsyncHTTPClient().fetch(request, raise_error=False)).body)


def page(title: str, content: str) -> str:
    """A small page."""
    style = (
        "body{font:16px/1.6 sans-serif;max-width:42rem;margin:3rem auto}pre{white-space:pre-wrap;word-break:break-all}"
    )
    return f'<!doctype html><meta charset="utf-8"><title>{title}</title><style>{style}</style><h1>{title}</h1>{content}'


def quiet(handler: RequestHandler) -> None:
    """No access log: addresses carry secrets."""


def application(simulator: Simulator) -> Application:
    """The pages and API of `simulator`."""
    given = {"simulator": simulator}
    routes: list[Any] = [
        (r"/cgi-bin/gettoken", GetToken, given),
        (r"/cgi-bin/auth/getuserinfo", GetUserInfo, given),
        (r"/cgi-bin/(?:department|user)/list", Directory, given),
        (r"/cgi-bin/message/send", SendMessage, given),
        (r"/messages", Messages, given),
        (r"/wwlogin/sso/login", LoginPage, given),
        (r"/connect/oauth2/authorize", AuthorizePage, given),
        (r"/(?:callback|inside)?", FrontEnd, given),
    ]
    return Application(routes, log_function=quiet)


@asynccontextmanager
async def simulating(simulator: Simulator, port: int = 0) -> AsyncIterator[Simulator]:
    """Serve `simulator` on loopback until the block is left; port 0 lets the system choose."""
    server = HTTPServer(application(simulator))
    sockets = bind_sockets(port, "127.0.0.1")
    server.add_sockets(sockets)
    simulator.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    simulator.redirect_host = simulator.redirect_host or urlsplit(simulator.url).netloc
    try:
        yield simulator
    finally:
        server.stop()
        await server.close_all_connections()


async def serve(options: argparse.Namespace) -> None:
    """Run until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    simulator = Simulator(options.corp_id, options.agent_id, options.secret, options.redirect_host, api=options.api)
    async with simulating(simulator, options.port):
        print(f"WeCom simulator {simulator.url}", flush=True)
        await stopping.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m plugins.commands.wecom_simulator", description="A stand-in for WeCom."
    )
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--api", default="http://127.0.0.1:8000", help="the service that / and /callback log in to")
    parser.add_argument("--corp-id", default="ww-tradewind-demo")
    parser.add_argument("--agent-id", default="1000002")
    parser.add_argument("--secret", default="wecom-simulator-secret")
    parser.add_argument("--redirect-host", default="", help="the trusted domain; its own address when empty")
    asyncio.run(serve(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
