"""How `python -m tests.experiments.northwind_load` ends where it cannot work: in one line that says why."""

import socket
from pathlib import Path

import pytest

from plugins.boot.runtime import Running
from tests.experiments.scripts.northwind_folder import FOLDER, Run, needs_folder, northwind

run_takes_up_to_three_minutes = pytest.mark.gen_test(timeout=180)


@needs_folder
@run_takes_up_to_three_minutes
async def test_a_refused_log_in_is_one_line(tradewind: Running) -> None:
    run = await northwind(FOLDER, "--base", tradewind.url, admin_password="wrong")
    assert run.code == 1
    assert run.err.startswith("northwind: admin cannot log in: ")
    assert run.err.count("\n") == 1


@needs_folder
@run_takes_up_to_three_minutes
async def test_a_service_that_is_away_is_one_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nobody can answer there
        base = f"http://127.0.0.1:{unused.getsockname()[1]}"
        run = await northwind(FOLDER, "--base", base, admin_password="any")
    assert run.code == 1
    assert run.err.startswith(f"northwind: {base} is out of reach: ")
    assert run.err.count("\n") == 1


@run_takes_up_to_three_minutes
async def test_a_folder_without_the_files_is_one_line(tmp_path: Path) -> None:
    assert await northwind(tmp_path) == Run(2, "", f"northwind: {tmp_path / 'regions.csv'} is missing\n")


@needs_folder
@run_takes_up_to_three_minutes
async def test_no_password_at_all_is_one_line() -> None:
    run = await northwind(FOLDER)
    assert (run.code, run.err) == (2, "northwind: set TRADEWIND_ADMIN_PASSWORD to the password of admin\n")
