"""The systemd units of docs/operations: what they start exists, and they are confined."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from config.settings import Settings
from plugins.boot.fork import STOP_SECONDS
from plugins.commands.__main__ import COMMANDS

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "operations" / "systemd"
SERVICES = ["tradewind.service", "tradewind@.service"]
MOST_EXPOSURE = 2.0
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")


def settings(name: str) -> list[tuple[str, str]]:
    """The assignments of a unit."""
    return re.findall(r"^(\w+)=(.*)$", (FOLDER / name).read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_starts_a_command_that_there_is(name: str) -> None:
    assert dict(settings(name))["ExecStart"].split()[1] in COMMANDS


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_waits_for_the_whole_end_of_the_service(name: str) -> None:
    default = {field: one.default for field, one in Settings.model_fields.items()}
    longest = default["drain_notice_seconds"] + default["drain_seconds"] + STOP_SECONDS
    assert float(dict(settings(name))["TimeoutStopSec"]) > longest


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_names_settings_that_there_are(name: str) -> None:
    known = {f"TRADEWIND_{field.upper()}" for field in Settings.model_fields}
    assert set(re.findall(r"\bTRADEWIND_\w+", (FOLDER / name).read_text())) <= known


def test_both_services_are_confined_alike() -> None:
    one, other = ((FOLDER / name).read_text().partition("DynamicUser")[2] for name in SERVICES)
    assert one == other != ""


@needs_systemd
@pytest.mark.parametrize("name", SERVICES)
def test_systemd_rates_the_exposure_of_a_unit_as_low(name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=true", str(FOLDER / name)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert level, said
    assert float(level[1]) < MOST_EXPOSURE


@needs_systemd
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    names = [*SERVICES, "tradewind.socket"]
    for name in names:
        text = (FOLDER / name).read_text()
        # what is installed on a server is not on this machine
        (tmp_path / name.replace("@.", "@1.")).write_text(re.sub(r"^(Exec\w+=)\S+", r"\1/bin/true", text, flags=re.M))
    paths = [str(tmp_path / name.replace("@.", "@1.")) for name in names]
    done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "tradewind" in line] == []
