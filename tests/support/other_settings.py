"""Runs daily tests again with another setting of the service."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def passes(path: str, mongodb_uri: str, **settings: str) -> None:
    """Fail with what pytest says unless the tests at `path` pass with these variables of the environment."""
    environment = os.environ | {"TRADEWIND_TEST_MONGODB_URI": mongodb_uri} | settings
    command = [sys.executable, "-m", "pytest", path, "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
