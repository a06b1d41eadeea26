"""The site of the documents is built strictly: a link or an anchor that leads nowhere ends the build."""

import re
import subprocess
import tomllib
from pathlib import Path

from tests.experiments.tool_environment import python_with
from tests.support.readme import ROOT

REMOTE = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["']?(?:https?:)?//(?!127\.0\.0\.1)[^>]*>""")


def test_the_site_is_built_without_a_warning_and_its_pages_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(
        "\n".join(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"])
    )
    python = python_with(requirements, ROOT / ".data" / "site-tools")
    site = tmp_path / "site"
    command = [python, "-m", "mkdocs", "build", "--strict", "--site-dir", site]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert [found for page in pages for found in REMOTE.findall(page.read_text())] == []
