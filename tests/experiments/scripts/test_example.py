"""The example plugin of the tutorial."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_tests_of_the_example_plugin_pass(mongodb_uri: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    env |= {"PYTHONPATH": str(ROOT), "TRADEWIND_TEST_MONGODB_URI": mongodb_uri}
    clinic = ROOT / "examples" / "clinic"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(clinic),
        str(clinic / "tests"),
    ]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d passed", done.stdout)
