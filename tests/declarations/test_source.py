"""How the source is laid out: what a search finds, how long files are, who imports whom. Figures: `scripts/survey`."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.source_survey.declared import hidden_codes, hidden_paths, source_text
from scripts.source_survey.imports import cycles
from scripts.source_survey.sizes import PRODUCT, Sizes, measure, packed_marks
from tests.support.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE, MAX_CLASS, MAX_PLUGIN = 600, 300, 80
pytestmark = pytest.mark.usefixtures("no_collection")


@pytest.fixture(scope="module")
def sizes() -> Sizes:
    return measure(ROOT, *PRODUCT, "scripts")


def test_the_path_of_every_route_is_found_by_a_search() -> None:
    assert hidden_paths({route.path for route in CATALOGUE.routes}, source_text(ROOT)) == []


def test_every_permission_code_is_found_by_a_search() -> None:
    assert hidden_codes(CATALOGUE.permissions, source_text(ROOT)) == []


@pytest.mark.parametrize(
    ("path", "source", "hidden"),
    [
        ("/api/v1/acme/things", 'crud(THINGS, at="/api/v1/acme/things")', False),
        ("/api/v1/acme/things/{id}", 'crud(THINGS, at="/api/v1/acme/things")', False),
        ("/api/v1/acme/things/{id}/sign", 'route("POST /api/v1/acme/things/{id}/sign", sign)', False),
        ("/api/v1/acme/things/{id}/sign", 'crud(THINGS, at="/api/v1/acme/things")', True),
        ("/api/v1/acme/things", 'at=f"{BASE}/things"', True),
    ],
)
def test_a_path_is_found_whole_or_by_the_base_that_crud_extends(path: str, source: str, hidden: bool) -> None:
    assert hidden_paths([path], source) == [path] * hidden


@pytest.mark.parametrize(
    ("code", "source", "hidden"),
    [
        ("acme:thing:sign", 'access="acme:thing:sign"', False),
        ("acme:thing:list", 'crud(THINGS, resource="acme:thing")', False),
        ("acme:thing:list", 'access=f"acme:{name}:list"', True),
    ],
)
def test_a_code_is_found_whole_or_by_its_resource(code: str, source: str, hidden: bool) -> None:
    assert hidden_codes([code], source) == [code] * hidden


def test_the_formatter_is_switched_off_nowhere() -> None:
    assert packed_marks(ROOT) == 0


def test_no_file_is_longer_than_600_lines(sizes: Sizes) -> None:
    assert {name: lines for name, lines in sizes.files.items() if lines > MAX_FILE} == {}


def test_no_class_is_longer_than_300_lines(sizes: Sizes) -> None:
    assert {name: lines for name, lines in sizes.classes.items() if lines > MAX_CLASS} == {}


def test_every_plugin_py_is_a_table_of_contents(sizes: Sizes) -> None:
    tables = {
        name: lines for name, lines in sizes.files.items() if name.endswith("/plugin.py") and name.count("/") == 2
    }
    assert {name: lines for name, lines in tables.items() if lines > MAX_PLUGIN} == {}


def test_no_modules_import_each_other() -> None:
    """An import for type checkers alone counts too."""
    assert cycles(ROOT) == []
