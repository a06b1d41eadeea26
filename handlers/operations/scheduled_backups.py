"""Backups without a crontab: one instance runs the command that takes one when the last backup is old enough.

The command is a separate process with a low priority, so that requests wait neither for it nor for its memory.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import IO

from config.settings import Settings
from handlers.data.database import utc_now
from handlers.operations.process_metrics import last_backup
from handlers.service import Service

log = logging.getLogger("tradewind.backups")
LOOK_SECONDS = 600  # how often to check whether a backup is due, and to try again after a failure
_POLL_SECONDS = 0.5
_END_SECONDS = 10.0  # in which an interrupted backup can remove what it has written
_PRIORITY = 10
_PROJECT = Path(__file__).resolve().parents[2]


class BackupFailed(Exception):
    """The command ended with an error; the message is the last line of its output, or says its exit code."""


async def back_up_if_due(service: Service, command: Sequence[str]) -> None:
    """Take a backup unless the last one, whoever took it, is less than `backup_hours` old. Raises `BackupFailed`.

    `command` are the arguments of Python that take one. It understands `--json` and `--keep`.
    """
    last = await last_backup(service.database.driver)
    if last is not None and utc_now() - last < timedelta(hours=service.settings.backup_hours):
        return
    taken = await _back_up(service.settings, command)
    log.info("backup taken", extra={"file": taken["file"], "bytes": taken["size"], "removed": taken["removed"]})


async def _back_up(settings: Settings, command: Sequence[str]) -> Mapping[str, object]:
    with tempfile.TemporaryFile() as output:
        spawning = asyncio.ensure_future(asyncio.to_thread(_spawn, settings, command, output))
        try:
            process = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            await _end(await spawning)
            raise
        try:
            while process.poll() is None:
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            await _end(process)
        output.seek(0)
        last_line = output.read().decode(errors="replace").strip().rpartition("\n")[2]
    if process.returncode != 0:
        raise BackupFailed(last_line or f"The backup ended with {process.returncode}.")
    taken: Mapping[str, object] = json.loads(last_line)
    return taken


def _spawn(settings: Settings, command: Sequence[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (str(_PROJECT), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, *command, "--json", "--keep", str(settings.backup_keep)],
        env={**os.environ, **settings.variables(), "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    with suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _PRIORITY)
    return process


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the command if it still runs, and kill it if its end takes too long."""
    if process.poll() is None:
        process.terminate()
    for _ in range(int(_END_SECONDS / _POLL_SECONDS)):
        if process.poll() is not None:
            return
        await asyncio.sleep(_POLL_SECONDS)
    process.kill()
