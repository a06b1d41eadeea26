"""What a restore says where there is no room; nothing is harmed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.server_process import ROOT
from tests.support.written_backup import write_backup

pytestmark = pytest.mark.gen_test(timeout=120)
# what a script does once its environment is there
COMMAND = "import sys; from plugins.commands.{} import main; sys.exit(main(sys.argv[1:]))"
DISK_MB, DOCUMENTS_MB = 230, 100  # mongod writes them three times: collection, oplog, journal
# a disk of so many megabytes that nobody else sees, which has more room once the first restore has ended
ON_SMALL_DISK = """
mount -t tmpfs -o "size=${1}m" tmpfs "$2"
for into in first first second; do
    code=0
    "$3" -c "$4" "$5" --into "$into" 2>&1 || code=$?
    echo "exit code $code"
    mount -o remount,size=1500m "$2"
done
"""


async def run(command: Sequence[str | Path], folder: Path, **settings: str) -> tuple[int, str]:
    """A command with these settings alone: exit code and output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
    given = {f"TRADEWIND_{name}": value for name, value in {"PLUGINS": "auth,rbac", "DEMO": "true", **settings}.items()}
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        env={**kept, **given, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


async def test_a_full_disk_of_the_embedded_database_is_a_sentence_and_with_room_the_restore_goes_through(
    tmp_path: Path,
) -> None:
    if subprocess.run(("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", tmp_path), check=False).returncode:
        pytest.skip("`unshare -rm` is not permitted here")
    backup, disk = tmp_path / "large.backup", tmp_path / "disk"
    disk.mkdir()
    write_backup(backup, DOCUMENTS_MB)
    within = ("unshare", "-rm", "sh", "-ec", ON_SMALL_DISK, "sh", str(DISK_MB), disk)
    command = (*within, sys.executable, COMMAND.format("restore"), backup)
    _, output = await run(command, tmp_path, DATA_DIR=str(disk))
    full, again, other = output.split("exit code")[:3]
    *progress, told = full.splitlines()
    assert all(line.startswith(("Check: ", "Restore: ")) for line in progress)
    assert told.startswith(f"restore: There is no room for the restored database: {disk} has ")
    assert told.endswith("Make room, drop what was begun, and restore again.")
    assert "A restore into first was killed, or is running: drop that database, or choose another name." in again
    assert "second has 10,000 documents in 1 collections" in other, other
    assert output.splitlines()[-1] == "exit code 0"
