"""The requests of vben-admin 5, as its own client sends them, to a server with the plugin for it."""

from collections.abc import Iterator
from typing import Any

import pytest
from tornado.httputil import parse_cookie
from tornado.ioloop import IOLoop

from handlers.docs.openapi import describe
from plugins.auth.records import SESSIONS
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, People, Reply, expect, serving

pytestmark = pytest.mark.gen_test(timeout=30)
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
NO_BODY = {"withCredentials": True}  # so vben calls refresh and log-out
COOKIE = "vben-refresh"


@pytest.fixture(scope="module")
def vben(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The server."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("vben"), load_plugins(("vben", "crm")))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture
def admin(io_loop: IOLoop, vben: Running) -> Client:
    """The super administrator of that server."""
    return io_loop.run_sync(lambda: Client(vben.url).log_in("admin"))


async def logged_in(url: str, username: str = "admin", headers: dict[str, str] = OWN_PAGE) -> Reply:
    form = {"username": username, "password": PASSWORD, "captcha": True, "selectAccount": "vben"}
    return await Client(url).post("/api/auth/login", form, headers=headers)


def token_in(reply: Reply) -> str:
    """The refresh token in the cookie of a response."""
    return parse_cookie(reply.headers.get("Set-Cookie", "").partition(";")[0]).get(COOKIE, "")


async def asked(url: str, path: str, token: str, headers: dict[str, str] = OWN_PAGE) -> Reply:
    """A request with the cookie."""
    return await Client(url).post(path, NO_BODY, headers={"Cookie": f"{COOKIE}={token}", **headers})


async def test_a_log_in_gives_an_access_token_and_a_cookie_that_no_script_reads(vben: Running) -> None:
    reply = await logged_in(vben.url)
    assert set(expect(reply)) == {"accessToken"}
    assert reply.json["message"] == reply.json["msg"]
    attributes = {part.strip() for part in reply.headers["Set-Cookie"].split(";")[1:]}
    assert attributes == {"Max-Age=604800", "Path=/", "HttpOnly", "SameSite=Strict"}
    served = await logged_in(vben.url, headers={**OWN_PAGE, "Host": "crm.example.com"})
    name, *rest = (part.strip() for part in served.headers["Set-Cookie"].split(";"))
    assert name.startswith(f"__Host-{COOKIE}=")
    assert "Secure" in rest


async def test_a_refresh_answers_the_token_alone_and_rotates_the_cookie(vben: Running) -> None:
    first = token_in(await logged_in(vben.url))
    reply = await asked(vben.url, "/api/auth/refresh", first)
    assert token_in(reply) not in ("", first)
    assert expect(await Client(vben.url, reply.json).get("/api/user/info"))["username"] == "admin"


async def test_a_cookie_that_was_used_before_ends_the_session_and_is_removed(vben: Running) -> None:
    reply = await logged_in(vben.url)
    old = token_in(reply)
    newest = token_in(await asked(vben.url, "/api/auth/refresh", old))
    await asked(vben.url, "/api/auth/refresh", newest)
    refused = await asked(vben.url, "/api/auth/refresh", old)
    assert (refused.status, refused.code, token_in(refused)) == (401, 40102, "")
    assert refused.json["message"] == refused.json["msg"]
    assert "Max-Age=0" in refused.headers["Set-Cookie"]
    assert (await Client(vben.url, reply.data["accessToken"]).get("/api/user/info")).code == 40100


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", None])
async def test_a_page_of_another_site_neither_gets_nor_uses_a_cookie(vben: Running, site: str | None) -> None:
    elsewhere = {"Sec-Fetch-Site": site} if site else {}
    reply = await logged_in(vben.url)
    for path in ("/api/auth/refresh", "/api/auth/logout"):
        tried = await asked(vben.url, path, token_in(reply), elsewhere)
        assert "Set-Cookie" not in tried.headers
        assert path.endswith("logout") or tried.code == 40102
    expect(await Client(vben.url, reply.data["accessToken"]).get("/api/user/info"))
    assert "Set-Cookie" not in (await logged_in(vben.url, headers=elsewhere)).headers
    form = {**OWN_PAGE, "Content-Type": "text/plain", "Cookie": f"{COOKIE}={token_in(reply)}"}
    assert (await Client(vben.url).post("/api/auth/refresh", NO_BODY, headers=form)).code == 41500


async def test_a_log_out_ends_the_session_of_the_cookie_and_may_be_repeated(vben: Running) -> None:
    reply = await logged_in(vben.url)
    for _ in range(2):
        gone = await asked(vben.url, "/api/auth/logout", token_in(reply))
        assert expect(gone) is None
        assert "Max-Age=0" in gone.headers["Set-Cookie"]
    assert (await Client(vben.url, reply.data["accessToken"]).get("/api/user/info")).code == 40100
    ended = await vben.service.database.driver.find(SESSIONS.name, {"end_reason": "logout"})
    assert ended


async def test_a_wrong_password_is_told_in_message(vben: Running) -> None:
    refused = await Client(vben.url).post(
        "/api/auth/login", {"username": "admin", "password": "wrong"}, headers=OWN_PAGE
    )
    assert (refused.code, refused.json["message"], refused.headers.get("Set-Cookie")) == (
        40010,
        refused.json["msg"],
        None,
    )
    incomplete = await Client(vben.url).post("/api/auth/login", {"username": "admin"}, headers=OWN_PAGE)
    assert (incomplete.code, incomplete.json["message"]) == (40001, incomplete.json["msg"])


async def test_a_person_gets_their_menus_as_routes_and_a_home_among_them(vben: Running, admin: Client) -> None:
    people = People(admin)
    role = await people.role(["crm:customer:list", "crm:customer:read"])
    person = await people.account(role_ids=[role])
    client = Client(vben.url, expect(await logged_in(vben.url, person["username"]))["accessToken"])
    [crm] = expect(await client.get("/api/menu/all", headers={"Accept-Language": "en-US"}))
    [customers] = crm["children"]
    assert (crm["name"], crm["path"], crm["component"], crm["meta"]["title"]) == ("Crm", "/crm", None, "CRM")
    shown = {name: customers[name] for name in ("name", "path", "component")}
    assert shown == {"name": "CrmCustomer", "path": "/crm/customers", "component": "/crm/customers/index"}
    assert {"title": "Customers", "keepAlive": True, "hideInMenu": False}.items() <= customers["meta"].items()
    known = expect(await client.get("/api/user/info"))
    assert (known["userId"], known["homePath"]) == (str(person["id"]), "/crm/customers")
    assert len(known["roles"]) == 1
    assert expect(await client.get("/api/auth/codes")) == ["crm:customer:list", "crm:customer:read"]


async def test_a_super_administrator_has_every_code_as_vben_knows_no_wildcard(admin: Client) -> None:
    codes: list[str] = expect(await admin.get("/api/auth/codes"))
    assert {"crm:customer:create", "system:user:update"} <= set(codes)


def test_it_is_loaded_where_it_is_named_and_described_there(vben: Running) -> None:
    assert "vben" not in {plugin.name for plugin in load_plugins(())}
    assert {"vben", "crm"} <= {plugin.name for plugin in load_plugins(("+vben",))}
    menus = [one for one in vben.catalogue.routes if one.path == "/api/menu/all"]
    answer: Any = describe(menus, "1")["paths"]["/api/menu/all"]["get"]["responses"]["200"]
    assert "message" in answer["content"]["application/json"]["schema"]["required"]
