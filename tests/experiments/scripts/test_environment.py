"""The scripts that a fresh clone starts with, in small trees of their own, whatever is there or missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.small_project import complaint, load, made, refuse_to_run, root, serve, version_of, wheel

__all__ = ["made", "root"]
SECOND_START_SECONDS = 0.05


# The environment


def test_a_second_start_takes_no_time(root: Path) -> None:
    environment = load(root)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        environment.prepare()
        times.append(time.perf_counter() - started)
    assert min(times) < SECOND_START_SECONDS


def test_a_changed_lock_is_installed(root: Path) -> None:
    (root / "requirements.lock").write_text(wheel(root / "wheels", "tiny", "2.0"))
    load(root).prepare()
    assert version_of(root) == "2.0"


def test_the_lock_for_tests_satisfies_the_other_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = load(root)
    environment.prepare(dev=True)
    assert version_of(root, "tinydev") == "1.0"
    monkeypatch.setattr(environment, "_run", refuse_to_run)
    environment.prepare()


def test_the_lock_for_running_does_not_satisfy_the_one_for_tests(root: Path) -> None:
    assert not load(root)._is_current(str(root / ".venv"), "requirements-dev.lock")


def test_an_environment_left_half_made_is_made_again(root: Path) -> None:
    environment = load(root)
    left_over = root / ".venv" / "lib" / "left-over"
    left_over.touch()
    (root / ".venv" / environment.UNFINISHED).touch()
    (root / ".venv" / environment.STAMP).unlink()
    environment.prepare()
    assert not left_over.exists()
    assert version_of(root) == "1.0"


def test_an_environment_of_somebody_else_is_completed_and_never_removed(root: Path) -> None:
    environment = load(root)
    theirs = root / ".venv" / "theirs"
    theirs.touch()
    (root / ".venv" / environment.STAMP).unlink()
    (root / "requirements.lock").write_text(wheel(root / "wheels", "tiny", "2.0"))
    environment.prepare()
    (root / "requirements.lock").write_text("")
    environment.prepare()
    assert theirs.exists()
    assert version_of(root) == "2.0"


def test_an_environment_whose_python_is_another_version_now_is_not_current(root: Path) -> None:
    environment = load(root)
    stamp = root / ".venv" / environment.STAMP
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"python": "3.10"}))
    assert not environment._is_current(str(root / ".venv"), "requirements.lock")


def test_an_environment_whose_python_is_gone_is_not_current(root: Path) -> None:
    for python in (root / ".venv" / "bin").glob("python*"):
        python.unlink()
    assert not load(root)._is_current(str(root / ".venv"), "requirements.lock")


def test_two_starts_at_once_make_one_environment(root: Path) -> None:
    (root / "requirements.lock").write_text(wheel(root / "wheels", "tiny", "2.0"))
    program = (
        "import scripts.environment as e; run = e._run; "
        "e._run = lambda command, title: (print(title), run(command, title)); e.prepare()"
    )
    starts = [
        subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [start.communicate()[0] for start in starts]
    assert sorted(printed) == ["", "Installing 1 packages\n"]


def test_another_folder_can_be_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_VENV", str(root / "elsewhere"))
    assert load(root).venv_folder() == str(root / "elsewhere")


# What fails, and the line that says so


def test_a_missing_venv_module_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = load(root)
    shutil.rmtree(root / ".venv")
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    line = complaint(environment.prepare)
    assert "apt-get install python3-venv" in line
    assert "\n" not in line


def test_a_missing_network_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "requirements.lock").write_text("nowhere-to-be-found==1.0 --hash=sha256:" + "0" * 64 + "\n")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    line = complaint(load(root).prepare)
    assert line.startswith("Installing 1 packages failed: the package index is out of reach.")
    assert "\n" not in line


def test_a_package_that_is_not_the_locked_one_is_refused(root: Path) -> None:
    lock = root / "requirements.lock"
    lock.write_text(re.sub("sha256:.*", "sha256:" + "0" * 64, lock.read_text()).replace("1.0", "2.0"))
    wheel(root / "wheels", "tiny", "2.0")
    assert "DO NOT MATCH THE HASHES" in complaint(load(root).prepare)


def test_after_a_failure_the_next_start_installs(root: Path) -> None:
    lock = root / "requirements.lock"
    lock.write_text("nowhere-to-be-found==1.0 --hash=sha256:" + "0" * 64 + "\n")
    complaint(load(root).prepare)
    lock.write_text(wheel(root / "wheels", "tiny", "2.0"))
    load(root).prepare()
    assert version_of(root) == "2.0"


def test_a_folder_that_is_no_environment_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_VENV", str(root / "scripts"))
    assert "is no virtual environment that works" in complaint(load(root).prepare)
    assert (root / "scripts" / "server").exists()


# scripts/server


def test_the_server_is_no_demo_if_one_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_DEMO", "false")
    assert serve(root)["environment"]["TRADEWIND_DEMO"] == "false"


def test_a_script_goes_on_in_the_environment(root: Path) -> None:
    script = root / "scripts" / "own"
    script.write_text(
        "import os, sys\nsys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))\n"
        "from scripts.environment import ensure\nensure()\nimport tiny\nprint(tiny.version, *sys.argv[1:])\n"
    )
    printed = subprocess.check_output([sys.executable, script, "an argument"], text=True)
    assert printed == "1.0 an argument\n"


# scripts/test

RUNNERS = min(len(os.sched_getaffinity(0)) + 1, 8)
DAILY = f"pytest -n {RUNNERS} --no-loadscope-reorder"


def _test(root: Path, *arguments: str, fails: str = "") -> tuple[int, list[str]]:
    """Run scripts/test with tools that only say their names; its exit code and what it printed."""
    environment = load(root)
    folder = root / "tools"
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text('#!/bin/sh\nshift\necho "ran $*"\ncase "$*" in "$FAILS"*) [ -z "$FAILS" ];; esac\n')
    python.chmod(0o755)
    stamp = {name: environment._digest(name) for name in (environment.RUN_LOCK, environment.DEV_LOCK)}
    (folder / environment.STAMP).write_text(json.dumps(stamp))
    done = subprocess.run(
        [sys.executable, root / "scripts" / "test", *arguments],
        env={**os.environ, "TRADEWIND_VENV": str(folder), "FAILS": fails},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def _ran(lines: list[str]) -> list[str]:
    return [line.removeprefix("ran ") for line in lines if line.startswith("ran ")]


def test_everything_is_checked_and_pytest_has_the_last_word(root: Path) -> None:
    code, lines = _test(root)
    assert (code, _ran(lines)) == (0, ["ruff check", "ruff format --check", "mypy", DAILY])
    assert lines[-1] == f"ran {DAILY}"


def test_arguments_go_to_pytest_alone(root: Path) -> None:
    assert _ran(_test(root, "-k", "name")[1]) == ["pytest -k name"]


@pytest.mark.parametrize("tool", ["ruff check", "ruff format", "mypy", "pytest"])
def test_any_failure_fails_it_and_nothing_is_left_out(root: Path, tool: str) -> None:
    code, lines = _test(root, fails=tool)
    assert code == 1
    assert len(_ran(lines)) == 4
