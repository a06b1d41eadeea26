"""`scripts/check`: the plugins that a server would load are looked at, not the built-in ones alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.boot.registry import RegistryError, load_plugins
from plugins.commands.check import main as check
from scripts.documents import main

SOURCE = """
from plugins.api import *

async def answer(req): ...

plugin = Plugin(name="{name}", title=Message("东西", "Things"), routes=(
    route("GET /api/v1/{name}", answer, summary="Get", access="{access}"),
), collections=(Collection(
    "{name}_things", "Thing", dict(name=text(label=("名称", "Name"), required=True)), Message("东西", "thing")
),))
"""


def install(folder: Path, name: str, access: str) -> None:
    (folder / f"{name}.py").write_text(SOURCE.format(name=name, access=access))
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tradewind.plugins]\n{name} = {name}:plugin\n")


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plugins as pip leaves them: one that is well and one that is not."""
    for name, access in (("chkwell", "public"), ("chkill", "everybody")):
        install(tmp_path, name, access)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("TRADEWIND_PLUGINS", raising=False)


@pytest.mark.parametrize("setting", ["auth,chkill", "+chkill", "auth, chkwell ,chkill"])
def test_a_plugin_of_the_settings_is_checked(
    setting: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRADEWIND_PLUGINS", setting)
    assert main([]) == 1
    assert "Plugin chkill: route GET /api/v1/chkill declares no access" in capsys.readouterr().err


def test_a_plugin_that_is_named_is_checked_beside_the_built_in_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chkill"]) == 1
    assert "Plugin chkill: route GET /api/v1/chkill declares no access" in capsys.readouterr().err
    assert main(["chkwell"]) == 0
    said = capsys.readouterr().out
    assert f"{len(load_plugins(())) + 1} plugins with chkwell, " in said
    assert "not checked as nothing names them: chkill." in said


def test_an_unknown_plugin_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere"]) == 1
    assert "Plugin nowhere is unknown" in capsys.readouterr().err


def test_a_plugin_with_a_plus_is_loaded_beside_the_built_in_ones() -> None:
    built_in = {plugin.name for plugin in load_plugins(())}
    assert {plugin.name for plugin in load_plugins(["+chkwell"])} == built_in | {"chkwell"}
    assert {plugin.name for plugin in load_plugins(["chkwell", "auth"])} == {"chkwell", "auth", "rbac"}
    with pytest.raises(RegistryError, match="Plugin nowhere is unknown"):
        load_plugins(["+nowhere"])


def test_the_types_of_a_plugins_records_are_written_on_demand_and_checked_afterwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, "chktyped", "public")
    types = tmp_path / "record_types.py"
    assert check(["chktyped"]) == 0
    assert not types.exists()
    assert check(["chktyped", "--write"]) == 0
    assert "class Thing(TypedDict):" in types.read_text()
    types.write_text(types.read_text().replace("name: str", "nome: str"))
    assert check(["chktyped"]) == 1
    assert f"{types}: differs from the code, run tradewind check --write." in capsys.readouterr().err


def test_a_name_that_is_to_go_is_told_with_the_line_that_imports_it(tmp_path: Path) -> None:
    install(tmp_path, "chkold", "public")
    source = tmp_path / "chkold.py"
    source.write_text("from plugins.api import Passage\n" + source.read_text())
    with pytest.warns(DeprecationWarning, match=r"import Passage from plugins\.api\.ports") as told:
        assert main(["chkold"]) == 0
    assert {(warning.filename, warning.lineno) for warning in told} == {(str(source), 1)}
