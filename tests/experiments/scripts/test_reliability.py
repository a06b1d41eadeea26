"""`tests/experiments/results/reliability.md` says what the results say, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

from tests.experiments.reliability import render_reliability


def write(folder: Path, experiment: str, figure: str, holds: bool) -> Path:
    line = {"experiment": "", "measure": "requests | lost", "figure": figure, "expected": "0", "holds": holds}
    result = {"day": "2026-01-01", "when": "12:00:00Z", "commit": "abc1234", "lines": [line]}
    path = folder / "faults.json"
    path.write_text(json.dumps({"machine": {"cores": 2}, "experiments": {experiment: result}}))
    return path


def test_a_figure_that_is_not_as_expected_stands_at_the_top_too(tmp_path: Path) -> None:
    page = render_reliability(write(tmp_path, "disk", "7 lost", False))
    assert "- [disk](#disk): requests \\| lost: 7 lost (expected: 0)\n" in page
    assert "| requests \\| lost | 7 lost | 0 | **bad** |\n" in page
    assert "| 0 | 1 |\n" in page


def test_an_experiment_without_a_result_is_reported(tmp_path: Path) -> None:
    page = render_reliability(write(tmp_path, "disk", "fine", True))
    assert "There is no result yet." in page
    assert "| not run |" in page
