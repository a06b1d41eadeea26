"""Puts one deliberate fault after the other into a copy of the product, and says which test finds it.

`python -m tests.experiments.deliberate_faults [NUMBER ...]`; without numbers all faults of `deliberate_faults.json`.
The tests of the changed package run first, then those that the change touches, then all daily ones, tier by tier, and at
last the experiments about the changed file; the first failure ends it. Prints a table.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path, PurePath

import pytest

from scripts.affected_tests import TIERS, affected_by
from scripts.due_experiments import experiments_about
from scripts.memory import folder_in_memory

ROOT = Path(__file__).resolve().parents[2]
FAULTS: list[dict[str, str]] = json.loads(Path(__file__).with_suffix(".json").read_text())
TOGETHER = ("-n", "3", "--no-loadscope-reorder")
ROOM_BYTES = 8 << 30  # what databases take
_FOUND = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


def main(numbers: Sequence[str]) -> int:
    """Try the faults with these numbers, or all; the exit code is 1 if one of them is not found."""
    found = [try_fault(int(number)) for number in numbers or range(len(FAULTS))]
    return int(not all(found))


def try_fault(number: int) -> bool:
    """Print a row of the table: number, kind, place, the test that finds the fault, seconds; return whether one does."""
    fault = FAULTS[number]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fault-", dir=folder_in_memory(ROOM_BYTES)) as folder:
        copy = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", copy, "HEAD"], cwd=ROOT, check=True)
        try:
            test = _find(copy, fault)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", copy], cwd=ROOT, check=True)
    row = (number, fault["kind"], fault["path"], test or "NOT FOUND", f"{time.monotonic() - began:.0f}")
    print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return bool(test)


def _find(copy: Path, fault: dict[str, str]) -> str | None:
    path = copy / fault["path"]
    text = path.read_text()
    if text.count(fault["old"]) != 1:
        raise SystemExit(f"{fault['path']} has no longer, or more than once: {fault['old']}")
    path.write_text(text.replace(fault["old"], fault["new"]))
    affected = affected_by(copy, [fault["path"]])
    limits = [f"--plugin={name}" for name in sorted(affected.plugins)]
    place = fault["path"].split("/")
    own = {f"{tier}/{place[place[0] == 'plugins']}" for tier in TIERS}
    near = sorted(path for path in affected.paths if not own.isdisjoint(map(str, [path, *PurePath(path).parents])))
    touched = [near, *(sorted(path for path in affected.paths if path.startswith(tier)) for tier in TIERS)]
    # what a change of a plugin touches is too little for several runners, which each collect all tests
    runners = () if fault["path"].startswith("plugins/") else TOGETHER
    runs = [*([*runners, *limits, *paths] for paths in touched if paths), *([*TOGETHER, tier] for tier in TIERS)]
    if about := experiments_about(fault["path"]):
        runs.append(["-n", "2", *about])
    return next(filter(None, (_run(copy, arguments) for arguments in runs)), None)


def _run(copy: Path, arguments: Sequence[str]) -> str | None:
    """Return the first test that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", *arguments]
    environment = {**os.environ, "TMPDIR": str(copy.parent), "COLUMNS": "400"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    if done.returncode == pytest.ExitCode.USAGE_ERROR:
        raise SystemExit(done.stderr)
    names = _FOUND.search(done.stdout)
    return names[1] if names else "the run itself" if done.returncode in (2, 3) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
