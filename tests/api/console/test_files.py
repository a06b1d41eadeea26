"""The files that the console is made of: all are served, and none does what the policy of the page forbids."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from plugins.boot.runtime import Running
from plugins.console.files import MEDIA, OWN
from plugins.console.renderer import Renderer
from plugins.testing import Client, expect

pytestmark = pytest.mark.gen_test(timeout=20)
STATIC = Path(__file__).resolve().parents[3] / "plugins" / "console" / "static"
FORBIDDEN = re.compile(
    r"\beval\(|new Function|innerHTML|outerHTML|document\.write|insertAdjacentHTML|https?://(?!www\.w3\.org/2000/svg\")|debugger|console\.(?:log|debug|info|warn|error)"
)


def test_every_file_is_served_or_is_the_shell() -> None:
    assert sorted(path.name for path in STATIC.iterdir()) == sorted([*OWN, "console.html"])


@pytest.mark.parametrize("name", [name for name in (*OWN, "console.html") if not name.endswith(".png")])
def test_a_file_makes_no_markup_of_texts_and_names_no_other_host(name: str) -> None:
    assert FORBIDDEN.findall((STATIC / name).read_text()) == []


@pytest.mark.parametrize("name", [name for name in OWN if name.endswith(".js")])
def test_a_script_imports_what_another_one_exports(name: str) -> None:
    for names, file in re.findall(r'import {([^}]*)} from "\./([^"]+)"', (STATIC / name).read_text()):
        exported = set(re.findall(r"export (?:async )?(?:function|const|let) (\w+)", (STATIC / file).read_text()))
        assert {one.strip() for one in names.split(",")} <= exported


@pytest.mark.parametrize("name", OWN)
async def test_a_file_arrives_as_what_it_is(name: str, anonymous: Client) -> None:
    reply = await anonymous.get(f"/console/{name}")
    assert reply.body == (STATIC / name).read_bytes()
    assert reply.headers["Content-Type"] == MEDIA[Path(name).suffix]


async def test_other_files_are_not_there(anonymous: Client) -> None:
    for name in ("console.html", "nothing.js", "..%2fplugin.py"):
        expect(await anonymous.get(f"/console/{name}"), 40400)


async def test_the_page_shows_the_progress_of_fetching_the_renderer(anonymous: Client) -> None:
    told = expect(await anonymous.get("/api/v1/console/renderer"))
    assert told["message"]
    assert told["files"] == Renderer().first


async def test_the_page_names_the_scripts_so_that_they_come_while_somebody_logs_in(
    anonymous: Client, tradewind: Running
) -> None:
    renderer = tradewind.service.part(Renderer)
    named = re.findall(
        r'<link rel="(?:modulepreload|preload)"[^>]* href="([^"]+)"', (await anonymous.get("/console")).body.decode()
    )
    own = [f"console/{name}" for name in OWN if name.endswith(".js") and name != "worker.js"]
    scripts = [name for name in renderer.first if name.endswith(".js")]
    at = f"console/renderer/{renderer.version}"
    assert named == [*own, *(f"{at}/{name}" for name in scripts if renderer.state() == "ready")]
    for address in named:
        assert (await anonymous.get(f"/{address}")).status == 200


def test_the_icon_of_every_menu_is_drawn(tradewind: Running) -> None:
    drawn = set(re.findall(r'<symbol id="([^"]+)"', (STATIC / "icons.svg").read_text()))
    assert [menu.icon for menu in tradewind.catalogue.menus if menu.icon.removeprefix("lucide:") not in drawn] == []


async def test_the_worker_may_work_for_the_page_above_it_and_what_installs_the_console_is_served(
    anonymous: Client,
) -> None:
    assert (await anonymous.get("/console/worker.js")).headers["Service-Worker-Allowed"] == "../console"
    manifest = json.loads((await anonymous.get("/console/manifest.webmanifest")).body)
    assert [(await anonymous.get(f"/console/{icon['src']}")).status for icon in manifest["icons"]] == [200, 200, 200]


@pytest.mark.parametrize("state", ["fetching", "unreachable", "damaged"])
def test_what_became_of_the_download_is_a_state(state: str, tmp_path: Path) -> None:
    (tmp_path / "state").write_text(state)
    assert Renderer(tmp_path).state() == state


def test_a_renderer_that_never_came_is_missing_and_one_that_came_is_ready(tmp_path: Path) -> None:
    renderer = Renderer(tmp_path)
    assert renderer.state() == "missing"
    (tmp_path / "state").write_text("ready")
    assert renderer.state() == "missing"
    renderer.folder.mkdir()
    assert renderer.state() == "missing"
    for name in renderer.pinned["files"]:
        (renderer.folder / f"{name}.gz").touch()
    assert renderer.state() == "ready"
    assert renderer.compressed("../state") is None


def test_the_renderer_is_pinned_by_version_and_digest() -> None:
    pinned = json.loads((STATIC.parent / "renderer.json").read_bytes())
    assert re.fullmatch(r"\d+\.\d+\.\d+", pinned["version"])
    assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", pinned["integrity"])
