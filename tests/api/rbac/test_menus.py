"""Menus: the caller's own tree in the shape that vben-admin expects, and the records behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from plugins.rbac.tree import MAX_LEVELS
from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=60)
AT = "/api/v1/system/menus"
DEPARTMENTS = ["system:department:list", "system:department:create"]


async def own(client: Client, **options: Any) -> list[dict[str, Any]]:
    tree: list[dict[str, Any]] = expect(await client.get(AT, **options))
    return tree


def flat(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        yield node
        yield from flat(node["children"])


async def made(people: People, **fields: Any) -> dict[str, Any]:
    body = {"type": "menu", "code": unique("menu"), "title": "x", **fields}
    record: dict[str, Any] = expect(await people.admin.post(AT, body))
    return record


async def granted(people: People, *menus: int) -> Client:
    """A user with one role that grants these menus."""
    role = await people.role()
    expect(await people.admin.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": list(menus)}))
    return await people.admin.log_in((await people.account([role]))["username"])


# -- the caller's tree


async def test_a_granted_page_comes_with_its_parents_and_nothing_else(people: People) -> None:
    tree = await own(await people.person(DEPARTMENTS))
    assert [node["code"] for node in flat(tree)] == ["system", "system.department"]


async def test_a_node_has_the_fields_that_vben_admin_takes_for_a_route(people: People) -> None:
    (directory,) = await own(await people.person(DEPARTMENTS))
    (page,) = directory["children"]
    assert set(page) == {
        "id",
        "parent_id",
        "parent_name",
        "type",
        "code",
        "name",
        "path",
        "component",
        "redirect",
        "permissions",
        "meta",
        "children",
    }
    assert set(page["meta"]) == {"title", "icon", "order", "hideInMenu", "keepAlive", "link", "iframeSrc"}
    assert (directory["type"], page["type"]) == ("directory", "menu")
    assert (page["name"], page["path"], page["component"]) == (
        "SystemDepartment",
        "/system/departments",
        "/system/departments/index",
    )


async def test_buttons_are_codes_of_their_page_and_no_nodes(people: People) -> None:
    (directory,) = await own(await people.person(DEPARTMENTS))
    (page,) = directory["children"]
    assert page["permissions"] == sorted(DEPARTMENTS)
    assert page["children"] == []


async def test_a_button_alone_brings_its_page_without_the_pages_own_code(people: People) -> None:
    (directory,) = await own(await people.person(["system:department:create"]))
    assert [page["permissions"] for page in directory["children"]] == [["system:department:create"]]


async def test_without_grants_the_tree_is_empty(people: People) -> None:
    assert await own(await people.person()) == []


async def test_a_super_administrator_sees_every_page(people: People) -> None:
    codes = {node["code"] for node in flat(await own(people.admin))}
    assert {"system.user", "system.role", "system.menu", "system.department"} <= codes
    assert {menu["code"] for menu in await people.menus() if menu["type"] == "menu"} <= codes


async def test_a_directory_left_empty_is_pruned(people: People) -> None:
    outer = await made(people, type="directory")
    inner = await made(people, type="directory", parent_id=outer["id"])
    page = await made(people, parent_id=inner["id"])
    assert await own(await granted(people, outer["id"], inner["id"])) == []
    person = await granted(people, outer["id"], inner["id"], page["id"])
    assert [node["id"] for node in flat(await own(person))] == [outer["id"], inner["id"], page["id"]]


async def test_siblings_are_in_order(people: People) -> None:
    parent = await made(people, type="directory")
    pages = [await made(people, parent_id=parent["id"], order=order) for order in (3, 1, 2)]
    (node,) = await own(await granted(people, *(page["id"] for page in pages)))
    assert [child["meta"]["order"] for child in node["children"]] == [1, 2, 3]


async def test_hidden_pages_and_links_say_so(people: People) -> None:
    hidden = await made(people, hidden=True)
    link = await made(people, type="link", link="https://example.com/handbook", order=1)
    first, second = await own(await granted(people, hidden["id"], link["id"]))
    assert first["meta"]["hideInMenu"] is True
    assert (second["type"], second["meta"]["link"]) == ("link", "https://example.com/handbook")


async def test_every_node_has_a_path_that_a_router_takes(people: People) -> None:
    directory = await made(people, type="directory", code=unique("a.b:c"))
    relative = await made(people, parent_id=directory["id"], path="list")
    link = await made(people, type="link", path="https://example.com", link="https://example.com")
    top = await made(people, path="top")
    tree = await own(await granted(people, *(menu["id"] for menu in (directory, relative, link, top))))
    paths = {node["id"]: node["path"] for node in flat(tree)}
    assert paths[directory["id"]] == "/" + directory["code"].replace(".", "/").replace(":", "/")
    assert paths[relative["id"]] == "list"
    assert [paths[menu["id"]] for menu in (link, top)] == [f"/{menu['code']}" for menu in (link, top)]


async def test_titles_are_chinese_or_english_as_asked(people: People) -> None:
    person = await people.person(DEPARTMENTS)
    assert (await own(person))[0]["meta"]["title"] == "系统管理"
    assert (await own(person, headers={"Accept-Language": "en"}))[0]["meta"]["title"] == "System"


# -- the records


async def test_all_menus_are_a_tree_of_full_records_with_buttons(people: People) -> None:
    (system,) = [node for node in expect(await people.admin.get(f"{AT}/all")) if node["code"] == "system"]
    (page,) = [node for node in system["children"] if node["code"] == "system.department"]
    assert {
        "id",
        "parent_id",
        "parent_name",
        "type",
        "code",
        "name",
        "title",
        "path",
        "component",
        "redirect",
        "icon",
        "order",
        "hidden",
        "link",
        "permission",
        "apis",
        "role_ids",
        "version",
        "children",
    } <= set(page)
    assert {"method": "GET", "path": "/api/v1/system/departments"} in page["apis"]
    buttons = {node["permission"]: node["apis"] for node in page["children"] if node["type"] == "button"}
    assert buttons["system:department:create"] == [{"method": "POST", "path": "/api/v1/system/departments"}]


async def test_a_menu_of_ones_own_opens_the_apis_that_it_binds(people: People) -> None:
    menu = await made(people, type="button", apis=[{"method": "GET", "path": "/api/v1/system/roles"}])
    person = await granted(people, menu["id"])
    expect(await person.get("/api/v1/system/roles"))
    expect(await people.admin.patch(f"{AT}/{menu['id']}", {"apis": [], "version": menu["version"] + 1}))
    expect(await person.get("/api/v1/system/roles"), 40300)


async def test_a_code_is_taken_once(people: People) -> None:
    reply = await people.admin.post(AT, {"type": "menu", "code": "system.department", "title": "x"})
    assert expect(reply, 40900) == {"field": "code"}


async def test_a_menu_that_has_children_does_not_become_a_button(people: People) -> None:
    top = await made(people, type="directory")
    await made(people, type="menu", parent_id=top["id"])
    expect(await people.admin.patch(f"{AT}/{top['id']}", {"type": "button", "version": top["version"]}), 40901)


async def test_a_menu_is_not_moved_under_itself_or_a_button(people: People) -> None:
    top = await made(people, type="directory")
    leaf = await made(people, parent_id=top["id"])
    button = await made(people, type="button", parent_id=leaf["id"])
    for parent in (top, leaf, button):
        expect(await people.admin.patch(f"{AT}/{top['id']}", {"parent_id": parent["id"], "version": 1}), 40901)
    reply = await people.admin.post(
        AT, {"type": "menu", "code": unique("menu"), "title": "x", "parent_id": button["id"]}
    )
    expect(reply, 40901)


async def test_two_moves_at_once_make_no_circle(people: People) -> None:
    one, other = [await made(people, type="directory") for _ in range(2)]
    replies = await asyncio.gather(
        *(
            people.admin.patch(f"{AT}/{menu['id']}", {"parent_id": parent["id"], "version": 1})
            for menu, parent in ((one, other), (other, one))
        )
    )
    assert sorted(reply.code for reply in replies) == [0, 40901]


async def test_a_tree_has_no_more_levels_than_clients_can_follow(people: People) -> None:
    chain = [await made(people, type="directory")]
    while len(chain) < MAX_LEVELS:
        chain.append(await made(people, type="directory", parent_id=chain[-1]["id"]))
    reply = await people.admin.post(
        AT, {"type": "menu", "code": unique("menu"), "title": "x", "parent_id": chain[-1]["id"]}
    )
    expect(reply, 40001)
    above = await made(people, type="directory")
    expect(await people.admin.patch(f"{AT}/{chain[0]['id']}", {"parent_id": above["id"], "version": 1}), 40001)


async def test_a_menu_with_children_or_of_a_plugin_is_not_deleted(people: People) -> None:
    top = await made(people, type="directory")
    leaf = await made(people, parent_id=top["id"])
    expect(await people.admin.delete(f"{AT}/{top['id']}"), 40901)
    expect(await people.admin.delete(f"{AT}/{leaf['id']}"))
    expect(await people.admin.delete(f"{AT}/{top['id']}"))
    declared = next(menu for menu in await people.menus() if menu["permission"] == "system:department:create")
    expect(await people.admin.delete(f"{AT}/{declared['id']}"), 40901)
