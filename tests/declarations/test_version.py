"""The version is stated in one place, and the change log has a section for it, with one line a change."""

import json
import re
import tomllib
from pathlib import Path

from config.version import VERSION
from handlers.docs.openapi import describe

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
FRAGMENTS = [path for path in sorted((ROOT / "changelog.d").iterdir()) if path.name != "README.md"]
LONGEST = 140  # characters that are read: without the addresses of links
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_pyproject_alone_states_the_version() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
    sources = [
        ROOT / "server.py",
        *(path for room in ("config", "handlers", "plugins") for path in (ROOT / room).rglob("*.py")),
    ]
    stating = {path.name for path in sources if f'"{VERSION}"' in path.read_text()}
    assert stating <= {"new_plugin.py"}  # the first version of a new plugin


def test_the_client_has_the_version() -> None:
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text())
    assert package["version"] == VERSION


def test_the_api_description_has_the_version() -> None:
    assert describe((), VERSION)["info"]["version"] == VERSION


def test_the_change_log_has_the_version_and_the_usual_sections() -> None:
    assert re.search(rf"^## {re.escape(VERSION)} - \d{{4}}-\d{{2}}-\d{{2}}$", CHANGELOG, re.MULTILINE)
    sections = re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)
    assert sections
    assert set(sections) <= SECTIONS


def test_a_change_is_one_short_line() -> None:
    _, *versions = re.split(r"^## .+$", CHANGELOG, flags=re.MULTILINE)
    lines = [
        line for version in versions for line in version.splitlines() if line and not line.startswith(("### ", "**"))
    ]
    assert len(lines) > len(versions)
    assert [line for line in lines if not line.startswith("- ") or len(as_read(line)) > LONGEST] == []


def test_an_unreleased_change_is_one_short_line_in_a_file_of_its_section() -> None:
    wrong = []
    for path in FRAGMENTS:
        _, _, section = path.name.removesuffix(".md").rpartition(".")
        lines = path.read_text().splitlines()
        if section.capitalize() not in SECTIONS or len(lines) != 1 or len(as_read(lines[0])) > LONGEST:
            wrong.append(path.name)
    assert wrong == []


def as_read(line: str) -> str:
    """The line without the addresses of its links."""
    return re.sub(r"\]\([^)]*\)", "]", line)
