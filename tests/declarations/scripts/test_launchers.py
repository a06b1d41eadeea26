"""The scripts of a checkout that launch a command of the product, or a tool of developers."""

from __future__ import annotations

import ast
import inspect
import runpy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from scripts import environment

pytestmark = pytest.mark.usefixtures("no_collection")

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def launched() -> Iterator[ast.Call]:
    """The call of `launch` of each script that has one."""
    for path in SCRIPTS.iterdir():
        if path.is_file() and "import launch" in path.read_text():
            calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
            yield next(call for call in calls if getattr(call.func, "id", "") == "launch")


def test_every_launcher_names_a_module_whose_main_takes_what_it_passes() -> None:
    calls = list(launched())
    assert len(calls) >= 10
    own = set(inspect.signature(environment.launch).parameters)
    for call in calls:
        assert isinstance(call.args[0], ast.Constant)
        passed = {keyword.arg for keyword in call.keywords} - own
        accepted = inspect.signature(import_module(call.args[0].value).main).parameters
        assert {"arguments", "program", *passed} <= set(accepted), call.args[0].value


def test_a_command_runs_under_the_name_of_its_launcher(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "ensure", lambda dev: None)
    monkeypatch.setattr(sys, "argv", [str(SCRIPTS / "export-openapi"), "--help"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SystemExit):
        runpy.run_path(str(SCRIPTS / "export-openapi"), run_name="__main__")
    assert capsys.readouterr().out.startswith("usage: scripts/export-openapi ")
