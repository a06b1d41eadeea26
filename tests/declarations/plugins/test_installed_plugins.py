"""Plugins that are asked for by name, built in or installed: what cannot be loaded is said, all at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from config.embedded.folder import Folder, until
from plugins.boot.registry import RegistryError, load_plugins

ROOT = Path(__file__).resolve().parents[3]


def install(folder: Path, package: str, points: dict[str, str], source: str = "") -> None:
    """A package as pip leaves it: a module, and the metadata with its entry points."""
    (folder / f"{package}.py").write_text(source)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[tradewind.plugins]", *lines, ""]))


HEAD = "from plugins.api import *\nT = Message('东西', 'Things')\n"


def refused(folder: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> list[str]:
    """What the registry says when these are asked for with the folder on the path."""
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(RegistryError) as refusal:
        load_plugins(["auth", *names])
    return refusal.value.problems


def test_an_unknown_plugin_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(tmp_path, monkeypatch, ["nowhere"]) == [
        "Plugin nowhere is unknown: it is neither built in nor installed (entry point tradewind.plugins)."
    ]


def test_a_plugin_that_cannot_be_imported_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "reg_torn", {"torn": "reg_torn:plugin"}, "import no_such_library\n")
    assert refused(tmp_path, monkeypatch, ["torn"]) == [
        "Plugin torn cannot be imported: ModuleNotFoundError: No module named 'no_such_library' "
        f"({tmp_path / 'reg_torn.py'}:1)."
    ]


MISTAKES = {
    "crud(C, at='/api/v1/odd', resource='odd:thing', noun='thing', only=('lisst',))": "ValueError: crud of odd_things makes no lisst",
    "route('GET /api/v1/odd', None, summary='Odd', access=PUBLIC, guarded_by='me')": "TypeError: Route.__init__() got an unexpected keyword argument 'guarded_by'",
    "Plugin(name='odd', title=T, routs=())": "TypeError: Plugin.__init__() got an unexpected keyword argument 'routs'",
    "1 +": "SyntaxError: invalid syntax",
}


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES.items())
def test_a_mistake_is_reported_with_its_file_and_line(
    mistake: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"reg_line_{abs(hash(mistake))}"
    source = HEAD + f"C = Collection(name='odd_things', title='Odd', fields={{}})\n\nplugin = {mistake}\n"
    install(tmp_path, name, {"odd": f"{name}:plugin"}, source)
    [told] = refused(tmp_path, monkeypatch, ["odd"])
    assert told.startswith(f"Plugin odd cannot be imported: {sentence}")
    assert told.endswith(f"({tmp_path / name}.py:5).")


def test_a_part_of_another_type_is_refused_before_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        tmp_path,
        "reg_letters",
        {"letters": "reg_letters:plugin"},
        HEAD + "plugin = Plugin('letters', T, requires='rbac')\n",
    )
    assert refused(tmp_path, monkeypatch, ["letters"]) == [
        "Plugin letters: requires must be tuple[str, ...], and is a str."
    ]


def test_what_is_no_plugin_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "reg_fake", {"fake": "reg_fake:plugin"}, "plugin = {}\n")
    assert refused(tmp_path, monkeypatch, ["fake"]) == ["Plugin fake: its entry point is a dict, not a Plugin."]


def test_a_plugin_under_another_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "reg_alias", {"alias": "reg_alias:plugin"}, HEAD + "plugin = Plugin(name='real', title=T)\n")
    assert refused(tmp_path, monkeypatch, ["alias"]) == ["Plugin alias calls itself real; the two names must agree."]


def test_a_package_cannot_take_the_name_of_a_built_in_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "reg_shadow", {"rbac": "reg_shadow:plugin"}, HEAD + "plugin = Plugin(name='rbac', title=T)\n")
    assert refused(tmp_path, monkeypatch, ["rbac"]) == [
        "Plugin rbac of package reg_shadow has the name of a built-in plugin."
    ]


def test_a_name_that_two_packages_claim_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("reg_first", "reg_second"):
        install(tmp_path, package, {"twin": f"{package}:plugin"}, HEAD + "plugin = Plugin(name='twin', title=T)\n")
    assert refused(tmp_path, monkeypatch, ["twin"]) == [
        "Plugin twin is brought by two packages: reg_first and reg_second."
    ]


def test_a_requirement_that_is_not_there_is_named_with_who_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = HEAD + "plugin = Plugin(name='needy', title=T, requires=('nowhere',))\n"
    install(tmp_path, "reg_needy", {"needy": "reg_needy:plugin"}, source)
    assert refused(tmp_path, monkeypatch, ["needy"]) == [
        "Plugin nowhere is unknown: it is neither built in nor installed (entry point tradewind.plugins).",
        "Plugin needy requires nowhere, which is not loaded.",
    ]


def test_plugins_that_require_each_other_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    circle = {"ring_a": "ring_b", "ring_b": "ring_a"}
    source = HEAD + "".join(
        f"{one} = Plugin(name='{one}', title=T, requires=('{two}',))\n" for one, two in circle.items()
    )
    install(tmp_path, "reg_ring", {name: f"reg_ring:{name}" for name in circle}, source)
    [sentence] = refused(tmp_path, monkeypatch, ["ring_a"])
    assert sentence in [f"Plugins require each other in a circle: {a} → {b} → {a}." for a, b in circle.items()]


def test_the_server_prints_every_problem_and_exits_with_1(tmp_path: Path) -> None:
    source = HEAD + (
        "async def answer(req): ...\n"
        "plugin = Plugin(name='odd', title=T, routes=(\n"
        "    route('GET /odd', answer, summary='Odd', access='nobody'),\n"
        "    route('GET /api/health', answer, summary='Odd', access=PUBLIC),\n"
        "))\n"
    )
    install(tmp_path, "reg_odd", {"odd": "reg_odd:plugin"}, source)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    started = subprocess.run(
        [sys.executable, str(ROOT / "server.py")],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={
            **environment,
            "PYTHONPATH": str(tmp_path),
            "TRADEWIND_DEMO": "true",
            "TRADEWIND_PLUGINS": "auth,odd,nowhere",
        },
    )
    assert (started.returncode, started.stdout) == (1, "")
    assert started.stderr.splitlines() == [
        "tradewind: Plugin nowhere is unknown: it is neither built in nor installed (entry point tradewind.plugins).",
        "tradewind: Plugin odd declares the path and method GET /api/health, which is declared by the core too.",
        "tradewind: Plugin odd: route GET /odd has a path that does not begin with /api/ or has other characters than letters, digits, -, _, . and {}.",
        "tradewind: Plugin odd: route GET /odd declares no access: it must be PUBLIC, SIGNED_IN, SUPER or a code <module>:<entity>:<action>.",
    ]
    folder = Folder(tmp_path / ".data")
    assert until(lambda: not folder.is_supervised(), time.monotonic() + 15), "what cannot run keeps no database"
