"""The README and the documents of docs/: their tables are generated, their links lead somewhere, their examples are short."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plugins.boot.registry import freeze, load_plugins
from scripts.client_constants import typed_constants
from scripts.documents import render_documents
from tests.experiments import reliability, sizing
from tests.support.readme import (
    GUIDES_FOR_CLIENTS,
    PLUGINS,
    README,
    ROOT,
    TUTORIALS,
    blocks_of,
    example,
    files_of,
    plugin_of_the_readme,
)

GUIDES = [ROOT / "handlers" / "README.md", *ROOT.glob("plugins/*/README.md"), *ROOT.glob("clients/*/README.md")]
DOCUMENTS = [*ROOT.glob("README*.md"), ROOT / "CHANGELOG.md", *GUIDES, *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST_README = 150


def anchors(document: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_further_dashboard_has_as_many_lines_as_it_says() -> None:
    lines = [line for line in example(PLUGINS, "## A further dashboard").splitlines() if line]
    assert f"these {len(lines)} lines" in PLUGINS


def test_the_first_plugin_of_the_tutorial_is_the_package_of_the_example() -> None:
    page, example_folder = TUTORIALS / "first-plugin.md", ROOT / "examples"
    package = [path for kind in ("toml", "py") for path in (example_folder / "clinic").rglob(f"*.{kind}")]
    assert files_of(page) == {str(path.relative_to(example_folder)): path.read_text() for path in package}
    lines = sum(
        len(path.read_text().splitlines()) for path in (example_folder / "clinic/tradewind_clinic").glob("*.py")
    )
    assert f"in {lines} lines" in page.read_text()


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "zh").glob("*.md")), ids=lambda page: page.stem)
def test_a_chinese_page_has_the_commands_and_files_of_the_english_one(page: Path) -> None:
    original = next((ROOT / "docs").glob(f"tutorial*/**/{page.name}"), ROOT / "docs" / page.name)
    assert blocks_of(page) == blocks_of(original)


def test_the_python_of_the_guides_runs() -> None:
    blocks = [
        found
        for page in GUIDES_FOR_CLIENTS
        for found in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    assert blocks
    for block in blocks:
        exec(block, {})


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= LONGEST_README


def test_the_tables_are_those_of_the_code() -> None:
    assert [path for path, text in render_documents(load_plugins(())).items() if path.read_text() != text] == []


def test_the_constants_of_the_client_are_those_of_the_code() -> None:
    constants = typed_constants(load_plugins(()), "scripts/check --write")
    assert [path for path, text in constants.items() if path.read_text() != text] == []


def test_what_was_measured_is_what_the_results_of_the_repository_say(tmp_path: Path) -> None:
    # whoever runs a benchmark has further results
    listed = subprocess.run(
        ("git", "ls-files", "-z", sizing.RESULTS), cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("no repository says which results are its own")
    for name in listed.stdout.split("\0")[:-1]:
        shutil.copy(ROOT / name, tmp_path)
    assert sizing.PAGE.read_text() == sizing.render_sizing(tmp_path)
    assert reliability.PAGE.read_text() == reliability.render_reliability(tmp_path / "faults.json")


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    broken = []
    for document in DOCUMENTS:
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", document.read_text()):
            name, _, anchor = link.partition("#")
            target = document.parent / name if name else document
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{document.relative_to(ROOT)}: {link}")
    assert broken == []


def test_every_document_has_a_line_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    links = re.findall(r"\]\((?!https?:)([^)\s#]+)\)", index.read_text())
    listed = {(index.parent / link).resolve() for link in links}
    pages = {path for path in (ROOT / "docs").rglob("*.md") if path != index}
    assert pages.union(GUIDES) - listed == set()
    assert "](docs/README.md)" in README


def test_the_plugin_of_the_readme_declares_seventeen_endpoints() -> None:
    plugin = plugin_of_the_readme()
    freeze([*load_plugins(()), plugin])
    assert [route.name for route in plugin.routes] == [
        "GET /api/v1/harbour/berths",
        "GET /api/v1/harbour/berths/{id}",
        "POST /api/v1/harbour/berths",
        "PATCH /api/v1/harbour/berths/{id}",
        "DELETE /api/v1/harbour/berths/{id}",
        "GET /api/v1/harbour/berths/{id}/history",
        "POST /api/v1/harbour/berths/{id}/restore",
        "GET /api/v1/harbour/berths/export",
        "GET /api/v1/harbour/berths/template",
        "POST /api/v1/harbour/berths/import",
        "GET /api/v1/harbour/berths/imports",
        "GET /api/v1/harbour/berths/imports/{id}",
        "GET /api/v1/harbour/berths/imports/{id}/faulty-rows",
        "POST /api/v1/harbour/berths/{id}/submit",
        "POST /api/v1/harbour/berths/{id}/withdraw",
        "POST /api/v1/harbour/berths/{id}/approve",
        "POST /api/v1/harbour/berths/{id}/reject",
    ]
    assert f"It has {len(plugin.routes)} endpoints" in README


def test_every_path_of_the_where_is_table_exists() -> None:
    table = README.partition("## Where is what")[2].partition("## A plugin")[0]
    paths = re.findall(r"`([^`*]+/[^`*]*)`", table)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_readme_of_a_plugin_says_what_each_of_its_files_is() -> None:
    guides = [guide for guide in GUIDES if guide.parent.parent.name == "plugins"]
    # the types are generated: `docs/development.md` says how
    named = {"__init__.py", "record_types.py"}
    files = [(guide, file) for guide in guides for file in guide.parent.glob("*.py") if file.name not in named]
    assert files
    untold = [file.relative_to(ROOT) for guide, file in files if f"`{file.name}`" not in guide.read_text()]
    assert untold == []


@pytest.mark.parametrize(("document", "heading"), [(README, "## A plugin"), (PLUGINS, "## A complete plugin")])
def test_an_example_plugin_is_at_most_60_lines(document: str, heading: str) -> None:
    assert len([line for line in example(document, heading).splitlines() if line]) <= 60
