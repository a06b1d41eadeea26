"""Small projects whose locks name two tiny packages, for the scripts that a fresh clone starts with."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def wheel(folder: Path, name: str, version: str) -> str:
    """Build a package with one module; the line that locks it."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", f"version = {version!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def new_tree(root: Path) -> ModuleType:
    """A project whose locks name two tiny packages; its `scripts.environment`."""
    for folder in ("scripts", "plugins/commands/demo_company", "wheels"):
        (root / folder).mkdir(parents=True)
    for name in (
        *(f"scripts/{name}" for name in ("__init__.py", "environment.py", "memory.py", "server", "test")),
        *(
            f"plugins/commands/{name}"
            for name in ("__init__.py", "demo_company/__init__.py", "fetch_console.py", "wecom_demo.py")
        ),
        "plugins/__init__.py",
    ):
        shutil.copy(PROJECT / name, root / name)
    run, dev = wheel(root / "wheels", "tiny", "1.0"), wheel(root / "wheels", "tinydev", "1.0")
    (root / "requirements.lock").write_text(run)
    (root / "requirements-dev.lock").write_text(run + dev)
    return load(root)


def load(root: Path) -> ModuleType:
    """The `scripts.environment` of a tree."""
    spec = importlib.util.spec_from_file_location("environment", root / "scripts" / "environment.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def use_only(monkeypatch: pytest.MonkeyPatch, wheels: Path) -> None:
    """Let pip install from this folder alone, whatever it is told elsewhere."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "TRADEWIND_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "CONFIG_FILE": os.devnull,
        "FIND_LINKS": str(wheels),
        "NO_INDEX": "1",
        "NO_CACHE_DIR": "1",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)


def version_of(root: Path, package: str = "tiny") -> str:
    """The version of a package in the environment of a tree, or why there is none."""
    program = f"import {package}; print({package}.version)"
    found = subprocess.run(
        [root / ".venv" / "bin" / "python", "-c", program], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or found.stderr.strip().rpartition("\n")[2]


def refuse_to_run(*_: object) -> None:
    """Stands for what would run a command."""
    raise AssertionError("nothing was to be run")


def complaint(prepare: Callable[[], object]) -> str:
    """What is said instead of preparing an environment."""
    with pytest.raises(SystemExit) as caught:
        prepare()
    return str(caught.value)


def serve(root: Path, *arguments: str) -> dict[str, Any]:
    """Run `scripts/server` of a tree; what its server was given."""
    program = "import json, os, sys; print(json.dumps([os.getpid(), sys.argv[1:], os.getcwd(), dict(os.environ), sys.prefix]))"
    (root / "server.py").write_text(program)
    process = subprocess.Popen(
        [sys.executable, root / "scripts" / "server", *arguments], cwd="/", stdout=subprocess.PIPE, text=True
    )
    printed, _ = process.communicate()
    found = dict(
        zip(("pid", "arguments", "folder", "environment", "prefix"), json.loads(printed.splitlines()[-1]), strict=True)
    )
    return found | {"started_as": process.pid}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree whose environment has been made: the slow part, done once."""
    root = tmp_path_factory.mktemp("made") / "tree"
    environment = new_tree(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_only(monkeypatch, root / "wheels")
        environment.prepare()
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that tree."""
    copy = tmp_path / "tree"
    shutil.copytree(made, copy, symlinks=True)
    use_only(monkeypatch, copy / "wheels")
    return copy
