"""A plugin of somebody else's, in a package that pip builds and installs, beside the built-in ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, People, expect
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=30)
BERTHS = "/api/v1/harbour/berths"

PROJECT = """
[project]
name = "tradewind-harbour"
version = "1.2.0"

[project.entry-points."tradewind.plugins"]
harbour = "tradewind_harbour.plugin:plugin"

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["tradewind_harbour"]
"""
RECORDS = '''
"""The records of harbour."""

from plugins.api import Collection, Index, Message, boolean, text

BERTHS = Collection(
    name="harbour_berths",
    title="Berth",
    noun=Message("泊位", "berth"),
    scoped=True,
    fields={
        "number": text(
            label=("泊位编号", "Number"), required=True, max_length=20, pattern="^B-[0-9]+$", sort=True, filter=True,
            example="B-7",
        ),
        "taken": boolean(label=("已占用", "Taken"), read_only=True, nullable=False, default=False),
    },
    indexes=(Index("number", unique=True),),
)
'''
PLUGIN = '''
"""Berths, and ships that take them."""

from plugins.api import Menu, Message, Plugin, conflicts, crud, route
from tradewind_harbour.records import BERTHS

AT = "/api/v1/harbour/berths"
TAKEN = Message("泊位已被占用", "The berth is taken")


async def take(req):
    """Take a free berth."""
    return await req.store(BERTHS).update(req.path["id"], {"taken": True}, where={"taken": False}, reason=TAKEN)


plugin = Plugin(
    name="harbour",
    title=Message("港口", "Harbour"),
    version="1.2.0",
    requires=("rbac",),
    collections=(BERTHS,),
    routes=(
        *crud(BERTHS, at=AT, resource="harbour:berth"),
        route(f"POST {AT}/{{id}}/take", take, summary="Take a berth", access="harbour:berth:take",
              returns=BERTHS.read, refusals=conflicts(TAKEN), tag="harbour", collection=BERTHS.name),
    ),
    menus=(
        Menu("harbour", Message("港口", "Harbour"), path="/harbour", icon="lucide:anchor"),
        Menu("harbour.berth", Message("泊位", "Berths"), path="/harbour/berths", parent="harbour",
             resource="harbour:berth"),
    ),
    permissions={"harbour:berth:take": Message("占用", "Take")},
)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the package, built from its source."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    package = source / "tradewind_harbour"
    package.mkdir()
    (source / "pyproject.toml").write_text(PROJECT)
    for name, text in {"__init__": '"""Harbour."""\n', "records": RECORDS, "plugin": PLUGIN}.items():
        (package / f"{name}.py").write_text(text)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps"]
    command = [*pip, "--no-build-isolation", "--target", str(target), str(source)]
    installed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return target


@pytest.fixture(scope="module")
def harbour(
    io_loop: IOLoop, site: Path, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Client]:
    """The administrator of a server that runs with the plugin."""
    folder = tmp_path_factory.mktemp("harbour")
    settings = environment(mongodb_uri, folder, PLUGINS="auth,harbour")
    block = server_process({**settings, "PYTHONPATH": str(site)}, folder)
    server = io_loop.run_sync(block.__aenter__)
    try:
        url = io_loop.run_sync(server.url)
        yield io_loop.run_sync(lambda: Client(url).log_in("admin"))
    finally:
        io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_its_records_are_kept(harbour: Client) -> None:
    berth = expect(await harbour.post(BERTHS, {"number": "B-1"}))
    assert expect(await harbour.get(f"{BERTHS}?number=B-1"))["items"] == [berth]


async def test_its_own_action_works(harbour: Client) -> None:
    berth = expect(await harbour.post(BERTHS, {"number": "B-2"}))
    assert expect(await harbour.post(f"{BERTHS}/{berth['id']}/take"))["taken"] is True
    expect(await harbour.post(f"{BERTHS}/{berth['id']}/take"), 40901)


async def test_its_shape_is_checked(harbour: Client) -> None:
    reply = await harbour.post(BERTHS, {"number": "7", "taken": True})
    assert (reply.code, reply.fields) == (40001, {"number", "taken"})


async def test_the_api_description_has_it(harbour: Client) -> None:
    document = (await harbour.get("/api/openapi.json")).json
    assert document["paths"][f"{BERTHS}/{{id}}/take"]["post"]["x-permission"] == "harbour:berth:take"
    assert "Berth" in document["components"]["schemas"]


async def test_its_menu_is_in_the_tree(harbour: Client) -> None:
    tree = expect(await harbour.get("/api/v1/system/menus", headers={"Accept-Language": "en"}))
    [menu] = [node for node in tree if node["code"] == "harbour"]
    assert [child["meta"]["title"] for child in menu["children"]] == ["Berths"]
    assert "harbour:berth:take" in menu["children"][0]["permissions"]


async def test_its_permission_is_granted_by_a_role(harbour: Client) -> None:
    berth = expect(await harbour.post(BERTHS, {"number": "B-3"}))
    clerk = await People(harbour).person(["harbour:berth:list"], "all")
    pilot = await People(harbour).person(["harbour:berth:take"], "all")
    expect(await clerk.post(f"{BERTHS}/{berth['id']}/take"), 40300)
    expect(await pilot.post(f"{BERTHS}/{berth['id']}/take"))


async def test_its_rows_are_under_data_scope(harbour: Client) -> None:
    await harbour.post(BERTHS, {"number": "B-4"})
    clerk = await People(harbour).person(["harbour:berth:list", "harbour:berth:create"], "self")
    own = expect(await clerk.post(BERTHS, {"number": "B-5"}))
    assert expect(await clerk.get(BERTHS))["items"] == [own]


async def test_what_was_not_switched_on_is_not_there(harbour: Client) -> None:
    expect(await harbour.get("/api/v1/crm/customers"), 40400)
