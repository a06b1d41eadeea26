"""A start checks the plugins once for each state of their code."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.boot.check_cache import CheckNotes, digest_of
from plugins.boot.registry import freeze, load_plugins


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
