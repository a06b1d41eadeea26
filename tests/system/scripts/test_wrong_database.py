"""Commands whose database cannot be used say why in one line, with exit code 2, as soon as that is known."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from plugins.testing import SECRET

pytestmark = pytest.mark.gen_test(timeout=60)
ROOT = Path(__file__).resolve().parents[3]
COMMANDS = {
    "backup": ("backup", "here.backup"),
    "migrate": ("migrate", "--plan"),
    "verify-ledgers": ("verify",),
    "user": ("user", "unlock", "admin"),
}
WRONG = {
    "another replica set": ("replicaSet=other", "the address says other."),
    "another password": ("authSource=nowhere", "MongoDB refuses the user or the password in TRADEWIND_MONGODB_URI."),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("wrong", WRONG)
async def test_a_command_says_so_and_does_nothing(mongodb_uri: str, tmp_path: Path, name: str, wrong: str) -> None:
    option, sentence = WRONG[wrong]
    address = re.sub(option.partition("=")[0] + r"=\w+", option, mongodb_uri)
    given = {"MONGODB_URI": address, "DATA_DIR": str(tmp_path), "JWT_SECRET": SECRET, "MONGODB_TIMEOUT_MS": "1000"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    command = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scripts.command", *COMMANDS[name]),
        env={**kept, **{f"TRADEWIND_{key}": value for key, value in given.items()}, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await command.communicate()
    assert (command.returncode, output) == (2, b""), errors
    assert errors.decode().count("\n") == 1
    assert errors.decode().startswith(f"{name}: ")
    assert errors.decode().endswith(f"{sentence}\n")
    assert list(tmp_path.iterdir()) == []
