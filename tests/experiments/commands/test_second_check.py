"""A second start does not check the plugins again while their code is the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.declarations.plugins.test_installed_plugins import HEAD, install
from tests.support.server_process import ROOT, environment

NOWHERE = "mongodb://127.0.0.1:1/"
# counts how often what plugins declare is checked in one start
COUNTING = """
import sys
import plugins.boot.registry, server
checks, check = [], plugins.boot.registry.problems_of
plugins.boot.registry.problems_of = lambda plugins: checks.append(1) or check(plugins)
code = server.main([])
print(len(checks), "checked", code)
"""


def start(folder: Path) -> tuple[str, str]:
    """What a start without a database says on standard output, and on standard error."""
    env = environment(NOWHERE, folder / "data", PLUGINS="auth,odd", MONGODB_TIMEOUT_MS="100")
    env |= {"PYTHONPATH": f"{ROOT}:{folder}", "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", COUNTING], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()[-1], ended.stderr


def test_a_second_start_does_not_check_again_until_a_plugin_changes(tmp_path: Path) -> None:
    install(tmp_path, "odd_plugin", {"odd": "odd_plugin:plugin"}, f"{HEAD}plugin = Plugin(name='odd', title=T)\n")
    (tmp_path / "data").mkdir()
    away = "tradewind: MongoDB does not respond: check TRADEWIND_MONGODB_URI and that the server runs.\n"
    assert start(tmp_path) == ("1 checked 1", away)
    assert start(tmp_path) == ("0 checked 1", away)
    wrong = "Collection(name='other_things', title='Other', fields={})"
    (tmp_path / "odd_plugin.py").write_text(f"{HEAD}plugin = Plugin(name='odd', title=T, collections=({wrong},))\n")
    for _ in range(2):  # what was found wrong is never taken for right
        counted, said = start(tmp_path)
        assert counted == "1 checked 1"
        assert "collection other_things must be called odd_…" in said
