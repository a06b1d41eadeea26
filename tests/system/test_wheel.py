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

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("config", "handlers", "plugins")
FILES = ("pyproject.toml", "README.md", "LICENSE", "server.py")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
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
    for name in (*PACKAGES, "scripts"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "results"))
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


def test_the_wheel_holds_no_tests_and_no_results(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.partition("/")[0] for name in archive.namelist()}
        scripts = {name.split("/")[1] for name in archive.namelist() if name.startswith("scripts/")}
    assert {name for name in folders if "." not in name} == {*PACKAGES, "scripts"}
    assert scripts & {"results", "benchmark", "fault_injection", "northwind_load"} == set()


def test_the_command_of_the_wheel_works_outside_a_checkout(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    command = [sys.executable, "-m", "scripts.command", "check", "--json"]
    (tmp_path / "elsewhere").mkdir()
    done = subprocess.run(
        command, cwd=tmp_path / "elsewhere", env=env | {"PYTHONPATH": str(installed)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problems"] == []
    assert json.loads(done.stdout)["routes"] > 500
