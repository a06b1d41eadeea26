"""Servers that use the WeCom simulator, and the steps of a visitor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.commands.wecom_simulator import Simulator, simulating
from plugins.testing import Client, People, expect, serving, unique
from tests.support.servers import KEYS

AUTH = "/api/v1/auth"
PLUGINS = load_plugins(("auth", "rbac"))
OUTSIDER = "oAbCd-outsider"


@dataclass
class Platform:
    """Servers on one database, one for each setting of the first scan, and their WeCom."""

    wecom: Simulator
    link: Running
    create: Running
    refuse: Running
    people: People
    uri: str
    database: str
    data_dir: Path

    def member(self, name: str = "") -> str:
        """A member; without a name, one that no test has used."""
        name = name or unique("Member")
        self.wecom.members = {**self.wecom.members, name: name}
        return name

    @asynccontextmanager
    async def server(self, **changed: Any) -> AsyncIterator[Running]:
        """One more server on the same database, with other settings."""
        options = {**settings(self.wecom), "mongodb_database": self.database, **changed}
        async with serving(self.uri, self.data_dir, PLUGINS, **options) as server:
            yield server

    async def log_in(self, user: dict[str, Any]) -> Client:
        """A client of a user who has the test password."""
        return await Client(self.link.url).log_in(user["username"])

    async def bound_account(self) -> tuple[dict[str, Any], str]:
        """A user, and the member bound to them."""
        user, member = await self.people.account(), self.member()
        client = await self.log_in(user)
        expect(await client.post(f"{AUTH}/wecom/bind", await scan(self.link, member, client)))
        return user, member

    async def record(self, user_id: int) -> dict[str, Any]:
        """The user record as an administrator reads it."""
        found: dict[str, Any] = expect(await self.people.admin.get(f"/api/v1/system/users/{user_id}"))
        return found


def settings(wecom: Simulator) -> dict[str, Any]:
    """The settings of a server that uses this WeCom."""
    return {
        "demo": False,
        "jwt_secret": KEYS[0],
        "wecom_corp_id": wecom.corp_id,
        "wecom_agent_id": wecom.agent_id,
        "wecom_secret": wecom.secret,
        "wecom_redirect_uri": f"{wecom.url}/callback",
        "wecom_api_base": wecom.url,
        "wecom_login_base": wecom.url,
        "wecom_oauth_base": wecom.url,
    }


@asynccontextmanager
async def platform_on(uri: str, data_dir: Path) -> AsyncIterator[Platform]:
    """A `Platform` for as long as the block runs."""
    database = unique("wecom")
    async with AsyncExitStack() as stack:
        wecom = await stack.enter_async_context(simulating(Simulator()))
        servers = {
            first_scan: await stack.enter_async_context(
                serving(
                    uri,
                    data_dir,
                    PLUGINS,
                    mongodb_database=database,
                    wecom_first_scan=first_scan,
                    wecom_default_role="staff",
                    **settings(wecom),
                )
            )
            for first_scan in ("link", "create", "refuse")
        }
        people = People(await Client(servers["link"].url).log_in("admin"))
        staff = {"code": "staff", "name": "员工"}
        role = expect(await people.admin.post("/api/v1/system/roles", staff))["id"]
        await people.account([role], username="staff")
        yield Platform(wecom, **servers, people=people, uri=uri, database=database, data_dir=data_dir)


async def browse(method: str, url: str, body: str | None = None) -> HTTPResponse:
    """Return the response to a browser, without following redirects."""
    request = HTTPRequest(url, method, body=body, follow_redirects=False)
    return await SimpleAsyncHTTPClient().fetch(request, raise_error=False)


async def scan(server: Running, person: str, asking: Client | None = None, **headers: str) -> dict[str, str]:
    """Return code and state of a scan by `person`, which the front end requested as this client."""
    client = Client(server.url, asking.token if asking else None)
    url = expect(await client.get(f"{AUTH}/wecom/qr", headers=headers))["url"]
    answer = await browse("POST", url, urlencode({"person": person}))
    query = parse_qs(urlsplit(answer.headers["Location"]).query)
    return {name: values[0] for name, values in query.items()}


async def finish(server: Running, scanned: dict[str, str], code: int = 0) -> Any:
    """Log in with code and state; return the data of the response, which must have this code."""
    return expect(await Client(server.url).post(f"{AUTH}/wecom/callback", scanned), code)


async def enter(server: Running, person: str, code: int = 0) -> Any:
    """Scan and log in; return the data of the response, which must have this code."""
    return await finish(server, await scan(server, person), code)
