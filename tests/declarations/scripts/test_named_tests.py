"""Experiments that run other tests name paths that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_every_path_of_tests_that_an_experiment_names_is_there() -> None:
    source = "".join(path.read_text() for path in (ROOT / "tests/experiments").rglob("*.py"))
    named = set(re.findall(r'"(tests/[\w./]+)"', source))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
