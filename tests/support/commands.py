"""Commands of `scripts/`, each in a process of its own that is forked from one that has loaded everything.

To load the code takes a second, which most tests of commands are not about: those that are start Python themselves.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from plugins.boot.registry import load_plugins
from tests.support.server_process import ROOT

load_plugins(())
# what a script does once its environment is there
_PROGRAM = "import sys; from {} import main; sys.exit(main(sys.argv[1:]))"
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    output: str
    errors: str


async def run_command(module: str, *arguments: str, folder: Path = ROOT, **settings: str) -> Ended:
    """Run `main` of a module in this folder, with these settings alone."""
    with TemporaryDirectory() as place:
        said = Path(place)
        process = _CONTEXT.Process(target=_run, args=(module, arguments, _environment(settings), folder, said))
        process.start()
        await asyncio.to_thread(process.join)
        return Ended(process.exitcode or 0, (said / "output").read_text(), (said / "errors").read_text())


async def start_command(module: str, *arguments: str, folder: Path = ROOT, **settings: str) -> Ended:
    """Do the same as `run_command` in a process that has to load the code, as people run a command."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _PROGRAM.format(module), *arguments),
        env={**_environment(settings), "PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    return Ended(process.returncode or 0, output.decode(), errors.decode())


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    return kept | {f"TRADEWIND_{name.upper()}": value for name, value in settings.items()}


def _run(module: str, arguments: Sequence[str], env: Mapping[str, str], folder: Path, said: Path) -> None:
    for stream, name in ((sys.stdout, "output"), (sys.stderr, "errors")):
        opened = os.open(said / name, os.O_CREAT | os.O_WRONLY, 0o600)
        os.dup2(opened, stream.fileno())
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.exit(importlib.import_module(module).main(list(arguments)))
