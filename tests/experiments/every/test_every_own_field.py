"""Own fields of every type on every collection that can have some go through every mechanism.

The tests that are made from the declarations run once more, with a plugin that declares such fields among the others.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.own_fields import WANTED

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("module", sorted(path.name for path in (ROOT / "tests" / "api" / "every").glob("test_*.py")))
def test_what_holds_for_declared_fields_holds_for_own_ones(module: str) -> None:
    command = [sys.executable, "-m", "pytest", f"tests/api/every/{module}", "-q", "-n", "0", "--tb=short"]
    made = subprocess.run(
        command, cwd=ROOT, env={**os.environ, WANTED: "1"}, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout[-5000:]
