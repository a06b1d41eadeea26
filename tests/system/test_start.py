"""What a start leaves until it is needed, and an interrupted one. How long it takes: tests/experiments/system/test_second_start.py."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from config.embedded.folder import Folder
from plugins.testing import eventually
from tests.support.server_process import ROOT, environment, server_process


def value_after(program: str, expression: str) -> list[str]:
    """The value of an expression in a new process after `program`."""
    tell = f"import json, sys; print(json.dumps({expression}))"
    return list(json.loads(subprocess.check_output([sys.executable, "-c", f"{program}\n{tell}"], cwd=ROOT, text=True)))


def loaded_by(program: str) -> set[str]:
    """The packages that a new process has loaded after `program`."""
    return set(value_after(program, "[name.partition('.')[0] for name in sys.modules]"))


def test_the_database_begins_to_start_before_anything_else_is_loaded() -> None:
    loaded = loaded_by("import server; server.start_database")
    assert "config" in loaded
    assert loaded & {"handlers", "plugins", "pymongo", "tornado"} == set()


def test_what_few_requests_need_is_not_loaded_for_a_start() -> None:
    loaded = loaded_by(
        "import server\nfrom plugins.boot.registry import freeze, load_plugins\nfreeze(load_plugins(()))"
    )
    assert "plugins" in loaded
    seldom = {"pypinyin", "xlsxwriter", "aiobotocore", "botocore", "aiohttp", "python_calamine"}
    at_first_use = {"apispec", "limits", "markdown_it", "PIL", "puremagic"}
    assert loaded & (seldom | at_first_use) == set()


def test_the_checks_of_a_route_are_compiled_at_its_first_request() -> None:
    start = "from plugins.boot.registry import freeze, load_plugins\nroutes = freeze(load_plugins(())).routes"
    compiled = "[one.name for one in routes if vars(one).keys() & {'check_body', 'check_query', 'check_form'}]"
    assert value_after(start, compiled) == []


@pytest.mark.gen_test(timeout=40)
async def test_ctrl_c_in_the_middle_of_a_start_ends_everything_without_a_trace(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "data")

    async def database_begins() -> bool:
        return folder.supervisor_lock.exists()

    async def database_ended() -> bool:
        return not folder.is_supervised()

    async with server_process(environment("", folder.path), tmp_path) as running:
        await eventually(database_begins)
        # ended by the signal, or stopped by it if it was listening already
        assert await running.stop(signal.SIGINT) in (-signal.SIGINT, 0)
        assert running.stderr == ""
    await eventually(database_ended, seconds=10)
