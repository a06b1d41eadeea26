"""Lines of files, classes and functions, in the layout that the formatter alone gives them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plugins.commands.typed_records import FILE

PRODUCT = ("config", "handlers", "plugins", "server.py")
_MARK = re.compile(r"[ \t]*# fmt: (skip|off|on)\b")


@dataclass
class Sizes:
    """Lines by name."""

    files: dict[str, int] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)


def sources(root: Path, *places: str) -> Iterator[Path]:
    """Yield the Python files of these places of a checkout."""
    for place in places:
        at = root / place
        yield from [at] if at.is_file() else sorted(at.rglob("*.py"))


def format_copy(root: Path, folder: Path) -> Path:
    """Copy the product to `folder`, without marks that switch the formatter off, and format it."""
    for path in sources(root, *PRODUCT):
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_MARK.sub("", path.read_text()))
    (folder / "pyproject.toml").write_bytes((root / "pyproject.toml").read_bytes())
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", "."], cwd=folder, check=True)
    return folder


def measure(root: Path, *places: str) -> Sizes:
    """Return the sizes in these places of the checkout at `root`, by default of the product, without generated files."""
    sizes = Sizes()
    for path in sources(root, *(places or PRODUCT)):
        if path.name == FILE:
            continue
        name, text = str(path.relative_to(root)), path.read_text()
        sizes.files[name] = len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                sizes.classes[f"{name}:{node.name}"] = _lines(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                sizes.functions[f"{name}:{node.name}"] = _lines(node)
    return sizes


def packed_marks(root: Path) -> int:
    """Return how often the formatter is switched off, including tests and scripts."""
    everywhere = (*PRODUCT, "scripts", "tests")
    return sum(len(_MARK.findall(path.read_text())) for path in sources(root, *everywhere))


def lines_over(root: Path, width: int) -> int:
    """Return how many lines of the product are longer than `width` characters."""
    return sum(len(line) > width for path in sources(root, *PRODUCT) for line in path.read_text().splitlines())


def _lines(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
