"""The examples of the README and the documents, as what they are."""

from __future__ import annotations

import re
from pathlib import Path

from plugins.plugin import Plugin

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
API = (ROOT / "docs" / "reference" / "api.md").read_text()
TUTORIALS = ROOT / "docs" / "tutorials"
GUIDES_FOR_CLIENTS = sorted((ROOT / "docs" / "how-to" / "clients").glob("*.md"))
PLUGINS = (ROOT / "docs" / "how-to" / "plugins.md").read_text()


def session() -> str:
    """The first session of the tutorial."""
    found = re.search(r"<!-- session -->\n```\w+\n(.*?)```", TUTORIAL, re.DOTALL)
    assert found
    return found.group(1)


def requests_to_copy() -> list[tuple[str, str]]:
    """The commands of the API's page and what they print, in order."""
    return commands_with_output(API.partition("## Requests to copy")[2].partition("\n## ")[0])


def commands_with_output(section: str) -> list[tuple[str, str]]:
    """The commands of a page and what they print, in order; each has both."""
    pairs: list[tuple[str, str]] = re.findall(r"```sh\n(.*?)```\n\n```(?:json|http|text)\n(.*?)```", section, re.DOTALL)
    assert len(pairs) == section.count("```sh\n")
    return pairs


def blocks_of(document: Path) -> list[str]:
    """All blocks of a document, in order."""
    return re.findall(r"^```\w*\n.*?^```$", document.read_text(), re.DOTALL | re.MULTILINE)


def files_of(document: Path) -> dict[str, str]:
    """The files that a tutorial writes, by their paths: each is a block after a line that ends with "`path`:"."""
    named = re.findall(r"`([^`\n]+\.\w+)`:\n\n```\w+\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)
    return dict(named)


def commands_of(document: Path) -> list[str]:
    """The blocks of a document that a shell runs, in order."""
    return re.findall(r"^```sh\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)


def write_files(document: Path, folder: Path) -> None:
    """Write the files of a tutorial into a folder, as its reader does."""
    for name, text in files_of(document).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def example(document: str, heading: str) -> str:
    """The first Python of a document below a heading."""
    source = re.search(rf"{heading}\n.*?```python\n(.*?)```", document, re.DOTALL)
    assert source
    return source.group(1)


def example_plugins() -> list[Plugin]:
    """The plugin of docs/how-to/plugins.md, and the dashboard that is added to it."""
    names: dict[str, object] = {}
    for heading in ("## A complete plugin", "## A further dashboard"):
        exec(example(PLUGINS, heading), names)
    return [plugin for plugin in (names["plugin"], names["figures"]) if isinstance(plugin, Plugin)]


def plugin_of_the_readme() -> Plugin:
    """The plugin of the README."""
    names: dict[str, object] = {}
    exec(example(README, "## A plugin"), names)
    plugin = names["plugin"]
    assert isinstance(plugin, Plugin)
    return plugin
