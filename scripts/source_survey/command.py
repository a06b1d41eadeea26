"""Prints the figures of one checkout, or of two side by side."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.source_survey.imports import cycles
from scripts.source_survey.sizes import Sizes, format_copy, lines_over, measure, packed_marks
from scripts.source_survey.words import count_old_words

ROOT = Path(__file__).resolve().parent.parent.parent
Figures = Mapping[str, object]


def main(arguments: Sequence[str], program: str) -> int:
    """Print a table with a column for each checkout, or with `--words` the old words; return 0."""
    parser = argparse.ArgumentParser(prog=program, description="Measure the source of this checkout.")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="an older checkout, measured by the same rules")
    parser.add_argument("--words", action="store_true", help="list where old vocabulary is left")
    given = parser.parse_args(arguments)
    if given.words:
        for place, word in count_old_words(ROOT):
            print(f"{place}: {word}")
        return 0
    roots = [*([given.before] if given.before else []), ROOT]
    columns = [survey(root.resolve()) for root in roots]
    for name in columns[-1]:
        print("  ".join([f"{name:56}", *(f"{column[name]!s:>24}" for column in columns)]))
    return 0


def survey(root: Path) -> Figures:
    """Return the figures of the checkout at `root`."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = measure(format_copy(root, Path(folder)))
    return {
        **_of_sizes(sizes),
        "marks that switch the formatter off": packed_marks(root),
        "lines over 120 characters": lines_over(root, 120),
        "cycles of imports, types included (files in each)": [len(cycle) for cycle in cycles(root)] or "none",
        **_of_registry(root),
        "words of the old vocabulary": len(list(count_old_words(root))),
    }


def _of_sizes(sizes: Sizes) -> Figures:
    plugins = sorted(lines for path, lines in sizes.files.items() if path.endswith("/plugin.py"))
    return {
        "lines of product code, formatted": sum(sizes.files.values()),
        "plugin.py: median / longest": f"{plugins[len(plugins) // 2]} / {plugins[-1]}",
        "longest file": _longest(sizes.files),
        "files over 600 lines": sum(lines > 600 for lines in sizes.files.values()),
        "longest class": _longest(sizes.classes),
        "classes over 300 lines": sum(lines > 300 for lines in sizes.classes.values()),
        "longest function": _longest(sizes.functions),
    }


def _longest(sizes: Mapping[str, int]) -> str:
    name = max(sizes, key=lambda one: sizes[one])
    return f"{sizes[name]} {name.rpartition('/')[2]}"


def _of_registry(root: Path) -> Figures:
    """Return the figures that need a loaded registry, from another process, because a checkout has its own modules."""
    script = Path(__file__).with_name("declared.py")
    done = subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures
