"""`scripts/fetch-console`: what arrives is the pinned release or nothing, and the page is told what became of it."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from plugins.commands import fetch_console
from plugins.commands.fetch_console import FetchProblem, fetch, start_fetching

NPM = """#!/bin/sh
for last; do :; done
cp "{release}" "$last/release.tgz"
"""


class Registry:
    """A stand-in for npm, and the release that it hands out."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.release = folder / "home", folder / "release.tgz"
        self._pinned, self._bin = folder / "renderer.json", folder / "bin"
        self._bin.mkdir()
        self.serve({"sdk.js": b"first", "antd.css": b"second", "huge.js": b"not needed"})
        self.pin(fetch_console._digest(str(self.release)))
        self.install(NPM.format(release=self.release))
        monkeypatch.setattr(fetch_console, "PINNED", str(self._pinned))
        monkeypatch.setenv("PATH", f"{self._bin}{os.pathsep}{os.environ['PATH']}")

    def serve(self, files: dict[str, bytes]) -> None:
        with tarfile.open(self.release, "w:gz") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(f"package/sdk/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))

    def pin(self, integrity: str, **more: object) -> None:
        names = ["sdk.js", "antd.css"]
        pinned = {"package": "amis", "version": "1.2.3", "integrity": integrity, "files": names, "npm": "nothing==0"}
        pinned |= more
        self._pinned.write_text(json.dumps(pinned))

    def install(self, program: str) -> None:
        (self._bin / "npm").write_text(program)
        (self._bin / "npm").chmod(0o755)

    @property
    def state(self) -> str:
        return (self.home / "state").read_text()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    return Registry(tmp_path, monkeypatch)


def test_the_needed_files_of_the_pinned_release_are_kept(registry: Registry) -> None:
    folder = Path(fetch(str(registry.home)))
    kept = {path.name: gzip.decompress(path.read_bytes()) for path in folder.iterdir()}
    assert kept == {"sdk.js.gz": b"first", "antd.css.gz": b"second"}


def test_what_is_there_is_not_fetched_again(registry: Registry) -> None:
    first = fetch(str(registry.home))
    registry.install("#!/bin/sh\nexit 1\n")
    assert fetch(str(registry.home)) == first


def test_another_release_than_the_pinned_one_is_thrown_away(registry: Registry) -> None:
    registry.serve({"sdk.js": b"changed", "antd.css": b"second"})
    with pytest.raises(FetchProblem):
        fetch(str(registry.home))
    assert registry.state == "damaged"
    assert sorted(path.name for path in registry.home.iterdir()) == ["state"]


def test_half_a_release_is_thrown_away(registry: Registry) -> None:
    registry.serve({"sdk.js": b"first"})
    registry.pin(fetch_console._digest(str(registry.release)))
    with pytest.raises(FetchProblem):
        fetch(str(registry.home))
    assert registry.state == "damaged"
    assert sorted(path.name for path in registry.home.iterdir()) == ["state"]


@pytest.mark.parametrize("npm", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n"], ids=["fails", "brings nothing"])
def test_a_registry_out_of_reach_is_said_and_the_next_run_tries_again(registry: Registry, npm: str) -> None:
    registry.install(npm)
    with pytest.raises(FetchProblem):
        fetch(str(registry.home))
    assert registry.state == "unreachable"
    registry.install(NPM.format(release=registry.release))
    assert Path(fetch(str(registry.home))).is_dir()


@pytest.mark.parametrize(
    ("plugins", "wanted"), [("", True), ("console", True), ("+acme", True), ("auth,rbac", False), ("crm", False)]
)
def test_the_start_fetches_only_for_a_service_with_the_console(
    plugins: str, wanted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setenv("TRADEWIND_PLUGINS", plugins)
    monkeypatch.setattr(fetch_console.subprocess, "Popen", lambda command, **options: started.append(command))
    start_fetching(str(tmp_path / "bin" / "python"))
    assert bool(started) is wanted


SCRIPT = b"""amis.define("aaa",(function(e){return ";/* no module"}));
;/*!node_modules/huge/dist/huge.js*/
amis.define("bbb",(function(e){return 1}));
;/*!node_modules/last/index.js*/
amis.define("ccc",(function(e){return 2}));
"""
STYLES = b".card{color:red;}@media (min-width: 1px){.pc\\:hidden{display:none;}.row:hover{top:0}}.hover\\:red:hover,.x\\:y{top:1px}.end{left:0}"


def test_what_no_page_uses_is_left_out(registry: Registry) -> None:
    registry.serve({"sdk.js": SCRIPT, "antd.css": STYLES})
    registry.pin(fetch_console._digest(str(registry.release)), emptied=["bbb", "ccc"])
    folder = Path(fetch(str(registry.home)))
    script, styles = (gzip.decompress((folder / f"{name}.gz").read_bytes()) for name in ("sdk.js", "antd.css"))
    assert b'amis.define("bbb",(function(){}));;/*!node_modules/last/index.js*/' in script
    assert script.endswith(b'amis.define("ccc",(function(){}));')
    assert SCRIPT.startswith(script[:50])
    assert styles == b".card{color:red;}@media (min-width: 1px){.row:hover{top:0}}.end{left:0}"


def test_a_long_text_in_a_style_sheet_takes_no_time() -> None:
    rest = b".a{b:c}@media x{.d{e:f}}/*" + b"x" * 1_000_000
    assert (
        fetch_console._trimmed("a.css", rb".hover\:a:hover{b:c}@media x{.sm\:a{b:c}}" + rest, [])
        == b"@media x{}" + rest
    )
