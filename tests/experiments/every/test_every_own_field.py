"""Own fields of every type on every collection that can have some go through every mechanism.

The tests that are made from the declarations run once more, with a plugin that declares such fields among the others:
in a process of their own, as what they are made from is read when they are collected. Of the cases of each test those run
that take own fields another way through the product: the daily tests have the others, without such fields.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.catalogue import EVERY
from tests.support.own_fields import WANTED

ROOT = Path(__file__).resolve().parents[3]


def test_what_holds_for_declared_fields_holds_for_own_ones() -> None:
    fewer = ["-p", "tests.support.own_fields"]
    command = [sys.executable, "-m", "pytest", "tests/api/every", *fewer, "-q", "-n", "0", "--tb=short"]
    made = subprocess.run(
        command, cwd=ROOT, env={**os.environ, WANTED: "1", EVERY: "1"}, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout[-20_000:]
