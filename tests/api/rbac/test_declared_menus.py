"""Declared menus over several starts: new ones are added, missing ones are withdrawn, edits are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.api import Menu, Message, Plugin, Request, route
from plugins.boot.registry import freeze, load_plugins
from plugins.boot.runtime import Running
from plugins.rbac.api import MENUS
from plugins.rbac.declared_menus import synchronise
from plugins.testing import Client, People, expect, serving
from tests.support.servers import KEYS

pytestmark = pytest.mark.gen_test(timeout=60)
AT = "/api/v1/system/menus"
SIGN = "acme:agreement:sign"


async def answer(req: Request) -> None:
    """Nothing to do."""


def acme(title: str, *actions: str) -> Plugin:
    """A plugin with one page and a button for each action but the list."""
    return Plugin(
        name="acme",
        title=Message("协议", "Agreements"),
        requires=("rbac",),
        routes=tuple(
            route(f"POST /api/v1/acme/agreements/{action}", answer, summary=action, access=f"acme:agreement:{action}")
            for action in actions
        ),
        menus=(
            Menu("acme", Message("协议管理", "Agreements"), path="/acme", order=50),
            Menu(
                "acme.agreement",
                Message(title, title),
                path="/acme/agreements",
                parent="acme",
                resource="acme:agreement",
                icon="lucide:file",
                order=1,
            ),
        ),
        permissions={SIGN: Message("签署", "Sign")} if "sign" in actions else {},
    )


BASE = load_plugins(("auth", "rbac"))


@pytest.fixture(scope="module")
def server(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose routes are those of acme with all its actions."""
    plugins = [*BASE, acme("协议", "list", "sign")]
    block = serving(mongodb_uri, tmp_path_factory.mktemp("menus"), plugins, demo=False, jwt_secret=KEYS[0])
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


class Site:
    """A server, and the effect of a start with other plugins on the menus."""

    def __init__(self, running: Running, admin: Client) -> None:
        self.people = People(admin)
        self._database = running.service.database

    async def start(self, *plugins: Plugin) -> People:
        """Write the menus of these plugins, in addition to those of log-ins."""
        await synchronise(self._database, freeze([*BASE, *plugins]))
        return self.people


@pytest.fixture
def site(io_loop: IOLoop, server: Running) -> Site:
    """The server without any menu yet."""

    async def emptied() -> Site:
        await server.service.database.wipe(MENUS)
        return Site(server, await Client(server.url).log_in("admin"))

    fresh: Site = io_loop.run_sync(emptied)
    return fresh


async def declared(people: People) -> dict[str, dict[str, Any]]:
    """The menus of acme by code."""
    return {menu["code"]: menu for menu in await people.menus() if menu["code"].startswith("acme")}


async def test_a_page_and_its_buttons_are_derived_from_the_routes(site: Site) -> None:
    people = await site.start(acme("协议", "list", "sign"))
    menus = await declared(people)
    assert [(menu["type"], menu["permission"]) for menu in menus.values()] == [
        ("directory", None),
        ("menu", "acme:agreement:list"),
        ("button", "acme:agreement:sign"),
    ]
    assert menus["acme:agreement:sign"]["apis"] == [{"method": "POST", "path": "/api/v1/acme/agreements/sign"}]
    assert menus["acme:agreement:sign"]["parent_id"] == menus["acme.agreement"]["id"]


async def test_a_restart_changes_no_record(site: Site) -> None:
    seen = []
    for _ in range(2):
        people = await site.start(acme("协议", "list", "sign"))
        seen.append(await people.menus())
    assert seen[0] == seen[1]


async def test_a_new_version_brings_titles_and_buttons_and_keeps_the_grants(site: Site) -> None:
    people = await site.start(acme("协议", "list"))
    role = await people.role(["acme:agreement:list"])
    people = await site.start(acme("服务协议", "list", "sign"))
    menus = await declared(people)
    assert menus["acme.agreement"]["title"] == "服务协议"
    assert menus["acme.agreement"]["role_ids"] == [role]
    assert "acme:agreement:sign" in menus


def with_reports(plugin: Plugin, *actions: str) -> Plugin:
    """The plugin with a further page for whoever signs agreements."""
    reports = (
        route(f"GET /api/v1/acme/reports/{action}", answer, summary=action, access=f"acme:report:{action}")
        for action in actions
    )
    title = Message("报表", "Reports")
    page = Menu("acme.report", title, "/reports", parent="acme", resource="acme:report", granted_with=SIGN)
    return replace(plugin, routes=(*plugin.routes, *reports), menus=(*plugin.menus, page))


async def test_a_new_page_is_granted_with_the_permission_that_it_names(site: Site) -> None:
    people = await site.start(acme("协议", "list", "sign"))
    signer, _ = await people.role([SIGN]), await people.role(["acme:agreement:list"])
    for actions in (("read",), ("read", "export")):
        people = await site.start(with_reports(acme("协议", "list", "sign"), *actions))
    menus = await declared(people)
    granted = {code: menus[code]["role_ids"] for code in ("acme.report", "acme:report:read", "acme:report:export")}
    # a later button of the page is for administrators to grant
    assert granted == {"acme.report": [signer], "acme:report:read": [signer], "acme:report:export": []}


async def test_what_an_administrator_edited_is_kept(site: Site) -> None:
    edited = {"title": "我的协议", "title_en": "Mine", "order": 77, "icon": "lucide:star", "hidden": True}
    people = await site.start(acme("协议", "list"))
    menu = (await declared(people))["acme.agreement"]
    expect(await people.admin.patch(f"{AT}/{menu['id']}", {**edited, "version": menu["version"]}))
    people = await site.start(acme("服务协议", "list"))
    menu = (await declared(people))["acme.agreement"]
    assert {name: menu[name] for name in edited} == edited


async def test_a_form_that_sends_unchanged_values_back_edits_nothing(site: Site) -> None:
    people = await site.start(acme("协议", "list"))
    menu = (await declared(people))["acme.agreement"]
    sent = {name: menu[name] for name in ("title", "title_en", "order", "icon", "hidden")}
    expect(await people.admin.patch(f"{AT}/{menu['id']}", {**sent, "version": menu["version"]}))
    people = await site.start(acme("服务协议", "list"))
    assert (await declared(people))["acme.agreement"]["title"] == "服务协议"


async def test_apis_and_codes_of_a_declared_menu_are_the_plugins_again_at_the_next_start(site: Site) -> None:
    people = await site.start(acme("协议", "list"))
    menu = (await declared(people))["acme.agreement"]
    values = {"apis": [], "permission": "acme:agreement:other", "version": menu["version"]}
    expect(await people.admin.patch(f"{AT}/{menu['id']}", values))
    people = await site.start(acme("协议", "list"))
    again = (await declared(people))["acme.agreement"]
    assert (again["apis"], again["permission"]) == (menu["apis"], menu["permission"])


async def test_a_withdrawn_menu_is_marked_out_of_force_and_may_be_deleted(site: Site) -> None:
    people = await site.start(acme("协议", "list", "sign"))
    role = await people.role(["acme:agreement:list", "acme:agreement:sign"])
    user = await people.account([role])
    people = await site.start(acme("协议", "list"))
    menus = await declared(people)
    assert [code for code, menu in menus.items() if menu["withdrawn"]] == ["acme:agreement:sign"]
    person = await people.admin.log_in(user["username"])
    assert expect(await person.get("/api/v1/auth/codes")) == ["acme:agreement:list"]
    expect(await people.admin.delete(f"{AT}/{menus['acme:agreement:sign']['id']}"))


async def test_a_menu_that_comes_back_has_its_grants_again(site: Site) -> None:
    people = await site.start(acme("协议", "list", "sign"))
    role = await people.role(["acme:agreement:sign"])
    user = await people.account([role])
    people = await site.start()
    assert all(menu["withdrawn"] for menu in (await declared(people)).values())
    people = await site.start(acme("协议", "list", "sign"))
    assert not any(menu["withdrawn"] for menu in (await declared(people)).values())
    person = await people.admin.log_in(user["username"])
    expect(await person.post("/api/v1/acme/agreements/sign"))
