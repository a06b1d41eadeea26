"""Which tests the changed files can affect, by the imports of the source and what plugins require.

A file belongs to a subject, for example `crm` or `handlers/data`; its tests are in the folders of that name, and
wherever it is imported. Tests that are made from all declarations run for the changed plugins only.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.source_survey.imports import import_graph, module_of, reachable

TIERS = ("tests/declarations", "tests/api", "tests/system", "tests/browser")
EVERY = "tests/api/every"
COMMANDS = "plugins/commands/"
EXAMPLE = "crm"  # the plugin that shows what the core does
TEXTS = ("tests/declarations", "tests/system/test_readme.py", "tests/experiments/scripts/test_guides.py")
SOURCES = ("config", "handlers", "plugins", "scripts", "tests", "server.py")


@dataclass
class Affected:
    """Paths for pytest, and the plugins to which the tests of all declarations are limited: none means all of them."""

    paths: set[str] = field(default_factory=set)
    plugins: set[str] = field(default_factory=set)


def changed_files(root: Path, since: str) -> list[str]:
    """Return the files that differ from the commit `since`, including new and deleted ones."""
    commands = (("diff", "--name-only", since), ("ls-files", "--others", "--exclude-standard"))
    outputs = (subprocess.run(["git", *one], cwd=root, capture_output=True, text=True, check=True) for one in commands)
    return sorted({line for output in outputs for line in output.stdout.splitlines()})


def affected_by(root: Path, changed: Iterable[str]) -> Affected:
    """Return what to run after a change of these files, which are paths below `root`."""
    found = Affected()
    graph = import_graph(root, *SOURCES)
    for path in changed:
        _add(found, root, path, graph)
    found.paths = {path for path in found.paths if (root / path).exists()}
    if found.plugins and any(not path.startswith(("tests/", "docs/")) for path in changed):
        found.paths |= {EVERY}
    return found


def _add(found: Affected, root: Path, path: str, graph: Mapping[str, set[str]]) -> None:
    first, *others = Path(path).parts
    if first == "tests":
        found.paths |= _tests_of_a_test(root, path, graph)
        return
    found.paths |= {"tests/declarations", *_importing(root, path, graph)}
    if path.startswith(COMMANDS):
        found.paths |= {*_folders(root, "commands"), *_naming(root, path)}
    elif first == "plugins" and (root / first / others[0] / "plugin.py").exists():
        for name in {others[0], *_dependents(root, others[0], path, graph)}:
            found.plugins.add(name)
            found.paths |= set(_folders(root, name))
    elif first in ("plugins", "handlers"):
        found.plugins.add(EXAMPLE)
        found.paths |= {*_folders(root, EXAMPLE), *_folders(root, *Path(path).parent.parts)}
    elif first == "clients":
        found.paths.add("tests/experiments/clients")
    elif first in ("config", "scripts"):
        found.paths |= {*_folders(root, first), *_naming(root, path)}
    elif first == "server.py":
        found.paths |= {str(one.relative_to(root)) for one in (root / "tests/system").glob("test_*.py")}
    elif path.endswith((".md", ".yaml", "mkdocs.yml", "Dockerfile")):
        found.paths |= {*TEXTS, *_naming(root, path)}
    elif first == "examples":
        found.paths |= {*TEXTS, "tests/experiments/scripts/test_example.py"}
    else:
        found.paths |= set(TIERS)  # settings of tools, lock files
    if path.startswith("plugins/console"):
        found.paths.add("tests/browser")


def _tests_of_a_test(root: Path, path: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return a test itself, or the tests that use a helper; all of a folder for its fixtures."""
    name = Path(path).name
    if name.startswith("test_"):
        return {path} if path.startswith(TIERS) else set()
    if name == "conftest.py":
        folder = str(Path(path).parent)
        return set(TIERS) if folder == "tests" else {folder}
    return _importing(root, path, graph)


def _importing(root: Path, path: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return the tests that import a module, directly or by helpers of the tests."""
    if not path.endswith(".py"):
        return set()
    wanted = module_of(Path(path))
    helpers = {module: names for module, names in graph.items() if module.startswith("tests.")}
    files = (module for module in helpers if module.rpartition(".")[2].startswith("test_"))
    importing = (module for module in files if wanted in reachable(module, helpers))
    return {path for path in (module.replace(".", "/") + ".py" for module in importing) if path.startswith(TIERS)}


def _naming(root: Path, path: str) -> set[str]:
    """Return the tests whose source names the file."""
    name = re.compile(rf"\b{re.escape(Path(path).name)}\b")
    files = (file for tier in TIERS for file in (root / tier).rglob("test_*.py"))
    return {str(file.relative_to(root)) for file in files if name.search(file.read_text())}


def _folders(root: Path, *parts: str) -> list[str]:
    """Return the folders of tests of a subject: those of `handlers/data` for handlers, data, or of the next above."""
    while parts:
        found = [f"{tier}/{'/'.join(parts)}" for tier in TIERS if (root / tier / Path(*parts)).is_dir()]
        if found:
            return found
        parts = parts[:-1]
    return []


def _dependents(root: Path, plugin: str, path: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return the plugins that require `plugin`, if the file is behind what it offers to them."""
    offered = f"plugins.{plugin}.api"
    module = module_of(Path(path))
    if offered not in graph or module not in {offered, *reachable(offered, graph)}:
        return set()
    sources = ((one.parent.name, one.read_text()) for one in (root / "plugins").glob("*/plugin.py"))
    return {name for name, text in sources if re.search(rf'requires=\([^)]*"{plugin}"', text)}


def main(arguments: list[str]) -> int:
    """Print the arguments for pytest, a line each: the paths, and the options that limit the tests of declarations."""
    root = Path(__file__).resolve().parents[1]
    found = affected_by(root, changed_files(root, arguments[0] if arguments else "main"))
    for name in sorted(found.plugins if found.paths else ()):
        print(f"--plugin={name}")
    for path in sorted(found.paths):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
