"""The command `tradewind` of the wheel: every subcommand says what it takes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from config.version import VERSION
from plugins.commands.__main__ import COMMANDS, main

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code and the output of the command."""
    try:
        code = main(arguments)
    except SystemExit as error:
        code = int(error.code or 0)
    output = capsys.readouterr()
    return code, output.out + output.err


def test_the_console_script_is_this_command() -> None:
    assert PROJECT["project"]["scripts"] == {"tradewind": f"{main.__module__}:main"}


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "--help")
    assert code == 0
    assert [name for name, command in COMMANDS.items() if f"  {name} " not in text or command.summary not in text] == []
    assert "examples:" in text
    assert "exit codes:" in text


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_under_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, name, "--help")
    assert (code, text.startswith(f"usage: tradewind {name} ")) == (0, True), text
    assert f"  tradewind {name}" in text.partition("examples:")[2]
    assert "0 " in text.partition("exit codes:")[2]


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "explode")
    assert (code, "explode" in text) == (2, True)


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--version") == (0, f"{VERSION}\n")
