"""The first start from a fresh clone makes an environment, and the server takes its place in it.

What else may be there or missing: tests/experiments/scripts/test_environment.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.small_project import complaint, load, made, refuse_to_run, root, serve, version_of

__all__ = ["made", "root"]


def test_a_new_environment_has_the_locked_packages_and_a_second_start_runs_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert version_of(root) == "1.0"
    environment = load(root)
    monkeypatch.setattr(environment, "_run", refuse_to_run)
    environment.prepare()


def test_an_old_python_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = load(root)
    monkeypatch.setattr(environment.sys, "version_info", (3, 9, 18))
    line = complaint(environment.prepare)
    assert line.startswith("Tradewind needs Python 3.11 or newer and this is 3.9.18: ")
    assert "\n" not in line


def test_the_server_takes_the_place_of_the_script_in_the_environment_and_the_folder_of_the_project(root: Path) -> None:
    server = serve(root, "--port", "9")
    assert server["pid"] == server["started_as"]  # so that signals reach it
    assert (server["prefix"], server["folder"]) == (str(root / ".venv"), str(root))
    assert server["arguments"] == ["--port", "9"]
    assert server["environment"]["TRADEWIND_DEMO"] == "true"
