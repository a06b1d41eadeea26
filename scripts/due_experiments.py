"""Which experiments are due: those whose subject changed since the commit at which they last ran.

An experiment without a subject takes too long to run after each change: it runs with `scripts/test --all` only.

`python -m scripts.due_experiments` prints their paths; with `--ran [PATH ...]` it notes that these, or all, ran at HEAD.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "experiments" / "subjects.json"


class Experiment(TypedDict):
    """`tests` are paths below tests/experiments, `subject` the paths that they are about, `ran` a commit."""

    tests: list[str]
    subject: list[str]
    ran: str


def due(experiments: Sequence[Experiment]) -> list[str]:
    """Return the paths of the experiments that are due; all of those whose commit is not known here."""
    return [f"tests/experiments/{path}" for one in experiments if _changed(one) for path in one["tests"]]


def experiments_about(path: str) -> list[str]:
    """Return the paths of the experiments in whose subject a file is."""
    rows: list[Experiment] = json.loads(TABLE.read_text())
    about = [one["tests"] for one in rows if {path, *map(str, Path(path).parents)} & {*one["subject"]}]
    return [f"tests/experiments/{test}" for tests in about for test in tests]


def _changed(experiment: Experiment) -> bool:
    if not experiment["subject"]:
        return False
    places = [*experiment["subject"], *(f"tests/experiments/{path}" for path in experiment["tests"])]
    command = ["git", "diff", "--quiet", experiment["ran"], "HEAD", "--", *places]
    return subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL).returncode != 0


def main(arguments: Sequence[str]) -> int:
    """Print what is due, or note what has run."""
    experiments: list[Experiment] = json.loads(TABLE.read_text())
    if arguments[:1] == ["--ran"]:
        head = subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, text=True).strip()
        for one in experiments:
            paths = {f"tests/experiments/{path}" for path in one["tests"]}
            one["ran"] = head if paths <= set(arguments[1:] or paths) else one["ran"]
        TABLE.write_text(json.dumps(experiments, indent=2) + "\n")
    else:
        print("\n".join(due(experiments)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
