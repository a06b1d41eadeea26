"""The version is stated in one place, and the change log has a section for it."""

import re
import tomllib
from pathlib import Path

from config.version import VERSION
from handlers.docs.openapi import describe

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_pyproject_alone_states_the_version() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
    sources = [
        ROOT / "server.py",
        *(path for room in ("config", "handlers", "plugins") for path in (ROOT / room).rglob("*.py")),
    ]
    stating = {path.name for path in sources if f'"{VERSION}"' in path.read_text()}
    assert stating <= {"new_plugin.py"}  # the first version of a new plugin


def test_the_api_description_has_the_version() -> None:
    assert describe((), VERSION)["info"]["version"] == VERSION


def test_the_change_log_has_the_version_and_the_usual_sections() -> None:
    assert re.search(rf"^## {re.escape(VERSION)} - \d{{4}}-\d{{2}}-\d{{2}}$", CHANGELOG, re.MULTILINE)
    sections = re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)
    assert sections
    assert set(sections) <= SECTIONS
