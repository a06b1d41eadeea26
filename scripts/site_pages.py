"""A hook of MkDocs: the site has the documents where a forge shows them, so that the same links hold in both."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
_PLACES = (
    "*.md",
    "docs/**/*.*",
    "config/**/README.md",
    "handlers/**/README.md",
    "plugins/*/README.md",
    "examples/*/README.md",
    "clients/*/README.md",
    "changelog.d/README.md",
    "tests/experiments/results/*.*",
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let the navigation list every plugin, below the explanations."""
    (explanation,) = (section["Explanation"] for section in config.nav or () if "Explanation" in section)
    guides = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("plugins/*/README.md"))
    explanation.append({"Plugins": guides})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the documents of the whole repository in place of those of `docs` alone."""
    theme = [file for file in files if not Path(file.abs_src_path or "").is_relative_to(ROOT / "docs")]
    paths = [path for place in _PLACES for path in ROOT.glob(place)]
    return Files(
        [*theme, *(File.generated(config, str(path.relative_to(ROOT)), abs_src_path=str(path)) for path in paths)]
    )


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the page without diagrams: a forge draws them, and the site would fetch a script for that."""
    return re.sub(r"```mermaid\n.*?```\n", "", markdown, flags=re.DOTALL)
