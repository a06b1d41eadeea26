"""The wheel holds all that is needed to serve: it is built, and looked into."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("config", "handlers", "plugins")
FILES = ("pyproject.toml", "README.md", "LICENSE", "server.py")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
IMPORT = "import importlib, sys; [print(importlib.import_module(name).__file__) for name in sys.argv[1:]]"
# for pytest, or for whoever reads the source
NOT_TO_SERVE = ("README.md",)


def sources() -> Iterator[str]:
    """The files that a server may need, from the root."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.name not in NOT_TO_SERVE:
                yield str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, source)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_every_file_that_a_server_needs_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    wanted = {"server.py", *sources()}
    assert {path for path in wanted if path.endswith((".html", ".js", ".css", ".json"))}
    assert sorted(wanted - held) == []


def test_the_wheel_holds_no_tests_and_no_tools_of_developers(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {*PACKAGES, "server.py"}


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    folder = wheel.parent / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, *arguments: str) -> str:
    """Run Python outside of the checkout, with what the wheel has; its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    env |= {"PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(command, cwd=installed.parent, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_of_the_wheel_can_be_imported(installed: Path) -> None:
    files = [path.relative_to(installed) for path in installed.rglob("*.py")]
    modules = sorted(".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files)
    said = run(installed, "-c", IMPORT, *modules)
    assert {Path(line) for line in said.splitlines()} == {installed / file for file in files}


def test_the_command_of_the_wheel_works_outside_a_checkout(installed: Path) -> None:
    checked = json.loads(run(installed, "-m", "plugins.commands", "check", "--json"))
    assert checked["problems"] == []
    assert checked["routes"] > 500
