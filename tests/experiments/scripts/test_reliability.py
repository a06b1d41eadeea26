"""`docs/reliability.md` says what the newest results say, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.reliability import newest_results, render_reliability


def write(folder: Path, day: str, experiment: str, figure: str, holds: bool) -> None:
    line = {"experiment": "", "measure": "requests | lost", "figure": figure, "expected": "0", "holds": holds}
    result = {"when": "12:00:00Z", "commit": "abc1234", "lines": [line]}
    path = folder / f"faults-{day}.json"
    kept = json.loads(path.read_text()) if path.exists() else {"machine": {"cores": 2}, "experiments": {}}
    kept["experiments"][experiment] = result
    path.write_text(json.dumps(kept))


def test_the_newest_result_of_each_experiment_is_told(tmp_path: Path) -> None:
    write(tmp_path, "2026-01-01", "disk", "old figure", True)
    write(tmp_path, "2026-01-02", "disk", "new figure", True)
    write(tmp_path, "2026-01-01", "clock", "other figure", True)
    page = render_reliability(tmp_path)
    assert ("old figure" in page, "new figure" in page, "other figure" in page) == (False, True, True)
    assert newest_results(tmp_path)["disk"].day == "2026-01-02"


def test_a_figure_that_is_not_as_expected_is_told_at_the_top_too(tmp_path: Path) -> None:
    write(tmp_path, "2026-01-01", "disk", "7 lost", False)
    page = render_reliability(tmp_path)
    assert "- [disk](#disk): requests \\| lost: 7 lost (expected: 0)\n" in page
    assert "| requests \\| lost | 7 lost | 0 | **bad** |\n" in page
    assert "| 0 | 1 |\n" in page


def test_an_experiment_without_a_result_is_told(tmp_path: Path) -> None:
    write(tmp_path, "2026-01-01", "disk", "fine", True)
    page = render_reliability(tmp_path)
    assert "There is no result yet." in page
    assert "| not run |" in page
