"""A start checks the plugins once for each state of their code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plugins.boot.check_cache import CheckNotes, digest_of
from plugins.boot.registry import freeze, load_plugins
from tests.declarations.plugins.test_installed_plugins import HEAD, install
from tests.support.server_process import ROOT, environment

NOWHERE = "mongodb://127.0.0.1:1/"
# counts how often what plugins declare is checked in one start
COUNTING = """
import sys
import plugins.boot.registry, server
checks, check = [], plugins.boot.registry.problems_of
plugins.boot.registry.problems_of = lambda plugins: checks.append(1) or check(plugins)
code = server.main([])
print(len(checks), "checked", code)
"""


def start(folder: Path) -> tuple[str, str]:
    """What a start without a database says on standard output, and on standard error."""
    env = environment(NOWHERE, folder / "data", PLUGINS="auth,odd", MONGODB_TIMEOUT_MS="100")
    env |= {"PYTHONPATH": f"{ROOT}:{folder}", "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", COUNTING], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()[-1], ended.stderr


def test_a_second_start_does_not_check_again_until_a_plugin_changes(tmp_path: Path) -> None:
    install(tmp_path, "odd_plugin", {"odd": "odd_plugin:plugin"}, f"{HEAD}plugin = Plugin(name='odd', title=T)\n")
    (tmp_path / "data").mkdir()
    away = "tradewind: MongoDB does not respond: check TRADEWIND_MONGODB_URI and that the server runs.\n"
    assert start(tmp_path) == ("1 checked 1", away)
    assert start(tmp_path) == ("0 checked 1", away)
    wrong = "Collection(name='other_things', title='Other', fields={})"
    (tmp_path / "odd_plugin.py").write_text(f"{HEAD}plugin = Plugin(name='odd', title=T, collections=({wrong},))\n")
    for _ in range(2):  # what was found wrong is never taken for right
        counted, said = start(tmp_path)
        assert counted == "1 checked 1"
        assert "collection other_things must be called odd_…" in said


def test_what_is_not_checked_is_the_same_catalogue() -> None:
    plugins = load_plugins(())
    assert freeze(plugins, check=False).routes == freeze(plugins).routes


def test_the_digest_is_of_the_plugins_and_of_every_loaded_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "part_of_a_plugin.py"
    module.write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("part_of_a_plugin")
    before = digest_of(["auth", "crm"])
    assert digest_of(["auth", "crm"]) == before
    assert digest_of(["crm", "auth"]) != before
    module.write_text("VALUE = 10\n")
    assert digest_of(["auth", "crm"]) != before


def test_the_newest_notes_are_kept(tmp_path: Path) -> None:
    notes = CheckNotes(tmp_path)
    for number in range(20):
        notes.add(f"digest-{number}")
    assert [number for number in range(20) if notes.has(f"digest-{number}")] == list(range(12, 20))


def test_notes_that_cannot_be_kept_or_read_are_none(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        notes = CheckNotes(folder)
        (tmp_path / "checked-plugins").mkdir(exist_ok=True)
        notes.add("digest")
        assert not notes.has("digest")
    assert not (tmp_path / "none").exists()
