"""Every regular expression of the product takes time in proportion to what it reads, however a stranger writes it."""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("no_collection")

ROOT = Path(__file__).resolve().parents[2]
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
BEGINNINGS = ("", "a=", '"', "for=", "<", "&", "1", "a@")
FILLERS = (
    " ",
    "\t",
    "a",
    "0",
    ";",
    ",",
    "=",
    '"',
    "\\",
    "<",
    "&",
    "(",
    "[",
    "-",
    ".",
    ":",
    "/",
    "_",
    "中",
    "a=",
    "a.",
    "0,",
    " ,",
    '\\"',
)
ENDS = ("", "!", "\x00")
LENGTH, LONGER = 1000, 4  # repetitions of a filler, and how many times as many
NOTHING_SECONDS = 0.005
MOST_GROWTH = 9.0  # in proportion it is 4, with the square 16


def used_patterns() -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """The patterns that modules compile, each with the methods that their module calls."""
    for path in sorted(path for folder in ("config", "handlers", "plugins") for path in (ROOT / folder).rglob("*.py")):
        source = path.read_text()
        if "re.compile" not in source:
            continue
        calls = {
            (node.value.id, node.attr)
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS
        }
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, method in sorted(calls):
            if isinstance(found := getattr(module, name, None), re.Pattern):
                yield f"{path.relative_to(ROOT)}: {name}.{method}", found, method


def seconds(pattern: re.Pattern[Any], method: str, text: str) -> float:
    """The least time of three to use the pattern on the text."""
    given: Any = text.encode(errors="replace") if isinstance(pattern.pattern, bytes) else text
    taken = []
    for _ in range(3):
        began = time.process_time()
        if method in ("sub", "subn"):
            pattern.sub(lambda found: found[0], given)
        else:
            list(getattr(pattern, method)(given) or ()) if method in ("finditer", "findall") else getattr(
                pattern, method
            )(given)
        taken.append(time.process_time() - began)
        if taken[-1] < NOTHING_SECONDS:
            break
    return min(taken)


def test_no_pattern_takes_more_than_time_in_proportion() -> None:
    found, slow = 0, []
    for name, pattern, method in used_patterns():
        found += 1
        for beginning, filler, end in product(BEGINNINGS, FILLERS, ENDS):
            longer = seconds(pattern, method, beginning + filler * LENGTH * LONGER + end)
            if longer < NOTHING_SECONDS:
                continue
            if longer > MOST_GROWTH * max(seconds(pattern, method, beginning + filler * LENGTH + end), 1e-4):
                slow.append(f"{name} on {beginning!r} {filler!r} … {end!r}: {longer:.3f} s")
    assert found > 50
    assert slow == []
