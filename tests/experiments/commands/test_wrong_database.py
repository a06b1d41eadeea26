"""Commands whose database cannot be used say why in one line, with exit code 2, as soon as that is known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plugins.testing import SECRET
from tests.support.commands import run_command, start_command

pytestmark = pytest.mark.gen_test(timeout=60)
COMMANDS = {
    "backup": ("backup", "here.backup"),
    "migrate": ("migrate", "--plan"),
    "verify-ledgers": ("verify",),
    "plugin": ("plugin", "purge", "acme"),
    "user": ("user", "unlock", "admin"),
}
WRONG = {
    "another replica set": ("replicaSet=other", "the address says other.", run_command),
    "another password": (
        "authSource=nowhere",
        "MongoDB refuses the user or the password in TRADEWIND_MONGODB_URI.",
        start_command,
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("wrong", WRONG)
async def test_a_command_says_so_and_does_nothing(mongodb_uri: str, tmp_path: Path, name: str, wrong: str) -> None:
    option, sentence, run = WRONG[wrong]
    address = re.sub(option.partition("=")[0] + r"=\w+", option, mongodb_uri)
    settings = {"mongodb_uri": address, "data_dir": str(tmp_path), "jwt_secret": SECRET, "mongodb_timeout_ms": "1000"}
    done = await run("plugins.commands.__main__", *COMMANDS[name], folder=tmp_path, **settings)
    assert (done.code, done.output) == (2, ""), done.errors
    assert done.errors.count("\n") == 1
    assert done.errors.startswith(f"{name}: ")
    assert done.errors.endswith(f"{sentence}\n")
    assert list(tmp_path.iterdir()) == []
