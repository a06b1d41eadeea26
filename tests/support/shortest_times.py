"""Measures the least time that a start can take on this machine now, for time limits that hold under load."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.support.server_process import ROOT

_DATABASE = """
import sys
from pathlib import Path
from config.embedded import acquire
database = acquire(Path(sys.argv[1]))
print("there", flush=True)
database.release_and_wait(15)
"""


def python_seconds() -> float:
    """How long a Python process takes that does next to nothing, in seconds."""
    begun = time.monotonic()
    subprocess.run([sys.executable, "-c", "import asyncio"], check=True)
    return time.monotonic() - begun


def database_seconds(folder: Path) -> float:
    """How long a process takes to start the embedded database of a data folder and nothing else, in seconds."""
    begun = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", _DATABASE, folder], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        return time.monotonic() - begun
