"""`scripts/new-plugin`: what it writes loads beside the built-in plugins and serves."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.registry import freeze, load_plugins
from plugins.commands.__main__ import COMMANDS
from plugins.commands.new_plugin import main
from plugins.plugin import Plugin

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.gen_test(timeout=60)


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, noun: str, *options: str) -> Plugin:
    """The plugin that is in the files."""
    assert main([name, noun, "--into", str(folder), *options]) == 0
    monkeypatch.syspath_prepend(folder / name)
    plugin: Any = importlib.import_module(f"tradewind_{name}.plugin").plugin
    assert isinstance(plugin, Plugin)
    return plugin


def test_what_is_written_fits_to_every_built_in_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = written(tmp_path, monkeypatch, "weather", "reading")
    paths = {route.path for route in freeze([*load_plugins(()), plugin]).routes}
    assert "/api/v1/weather/readings/{id}" in paths


def test_its_test_is_named_in_correct_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, monkeypatch, "surgery", "appointment")
    assert "def test_an_appointment_is" in (tmp_path / "surgery" / "tests" / "test_appointments.py").read_text()


def test_the_commands_that_it_names_exist_where_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mole", "lamp", "--into", str(tmp_path)], "scripts/new-plugin") == 0
    of_checkout = re.findall(r"scripts/[\w-]+", capsys.readouterr().out)
    assert of_checkout
    assert [name for name in of_checkout if not (ROOT / name).is_file()] == []
    assert main(["pier", "lamp", "--into", str(tmp_path)], "tradewind new-plugin") == 0
    of_wheel = capsys.readouterr().out
    assert "scripts/" not in of_wheel
    assert set(re.findall(r"tradewind ([a-z-]+)", of_wheel)) <= set(COMMANDS)


async def test_the_test_that_is_written_passes_and_so_does_its_dashboard(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, monkeypatch, "quay", "buoy", "--dashboard")
    names: dict[str, Any] = {}
    exec((tmp_path / "quay" / "tests" / "test_buoys.py").read_text(), names)
    await names["test_a_buoy_is_created_and_found"](mongodb_uri, tmp_path)


@pytest.mark.parametrize("name", ["Harbour", "har-bour", "../x", "1st", "har_bour"])
def test_what_is_no_name_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "berth", "--into", str(tmp_path)]) == 2
    assert "is no name" in capsys.readouterr().err


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "harbour").mkdir()
    assert main(["harbour", "berth", "--into", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert list((tmp_path / "harbour").iterdir()) == []
