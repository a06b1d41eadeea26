"""A reader who follows a tutorial from the wheel, in an empty folder and an environment of its own, gets to its end."""

import os
import shutil
import socket
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.experiments.following import build_wheel
from tests.support.readme import TUTORIALS, commands_of, write_files

AFTERWARDS = "\nfor started in $(jobs -p); do kill -TERM $started; wait $started; done\n"


def follow(document: Path, folder: Path) -> str:
    """Write the files of a page and run its commands in one shell; what they print."""
    write_files(document, folder)
    return run("\n".join(commands_of(document)), folder)


def run(script: str, folder: Path) -> str:
    """Run commands in a folder with the wheel; what they print."""
    if not list(folder.glob("*.whl")):
        build_wheel(folder)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    script = script.replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    # what pip would fetch is there already, so that no test needs a registry
    packages = {"PYTHONPATH": sysconfig.get_path("purelib"), "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script + AFTERWARDS],
        cwd=folder,
        env={**kept, **packages, "TRADEWIND_PORT": str(port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=580,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def test_a_new_plugin_passes_what_its_author_is_told_to_run(tmp_path: Path) -> None:
    install, *_ = commands_of(TUTORIALS / "first-plugin.md")
    said = run(f"{install}\ntradewind new-plugin harbour berth --dashboard", tmp_path)
    told = [line.partition("      #")[0].strip() for line in said.partition("From here:")[2].splitlines()]
    commands = [command for command in told if command and "serve" not in command]
    said = run("\n".join([". venv/bin/activate", *commands]), tmp_path)
    assert len(commands) == 4
    assert "1 passed" in said
    assert "Success: no issues found" in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="the commands need curl")
def test_the_first_plugin_is_installed_serves_and_passes_its_tests(tmp_path: Path) -> None:
    said = follow(TUTORIALS / "first-plugin.md", tmp_path)
    assert "with clinic" in said
    assert '"code":61001' in said
    assert '"amount":"120.00"' in said
    assert "10 passed" in said
    assert "Success: no issues found" in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="the commands need curl")
def test_the_first_company_has_people_customers_and_a_backup(tmp_path: Path) -> None:
    said = follow(TUTORIALS / "first-company.md", tmp_path)
    assert '"site_name"' in said
    assert '"username":"wang"' in said
    assert '"created":2' in said
    assert "Northern Lights" in said
    assert '"allowed":true' in said
    assert (tmp_path / "first.backup").is_file()
