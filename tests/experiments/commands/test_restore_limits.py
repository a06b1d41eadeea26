"""What a backup and a restore say where there is no room, and where the oplog has rolled over; nothing is harmed."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from bson import Timestamp

from config.database import open_driver
from tests.support.replica_sets import ReplicaSet
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
    assert all(line.startswith("Restore: ") for line in progress)
    assert told.startswith(f"restore: There is no room for the restored database: {disk} has ")
    assert told.endswith("Make room, drop what was begun, and restore again.")
    assert "A restore into first was killed, or is running: drop that database, or choose another name." in again
    assert "second has 10,000 documents in 1 collections" in other, other
    assert output.splitlines()[-1] == "exit code 0"


async def test_an_oplog_that_rolled_over_is_a_sentence_and_a_whole_backup_begins_anew(tmp_path: Path) -> None:
    # the server keeps the oplog since its last checkpoint
    replica_set = ReplicaSet(tmp_path / "set", members=1, oplog_mb=8, checkpoint_seconds=1)
    folder = tmp_path / "backups"
    folder.mkdir()
    settings = {"MONGODB_URI": replica_set.uri, "MONGODB_DATABASE": "rolling", "DATA_DIR": str(tmp_path)}

    async def do(name: str, *arguments: str) -> tuple[int, str]:
        return await run((sys.executable, "-c", COMMAND.format(name), *arguments), tmp_path, **settings)

    try:
        replica_set.start()
        driver = open_driver("pymongo", replica_set.uri, "rolling", 5000)
        try:
            await driver.insert("test_things", [{"_id": "first"}])
            code, output = await do("backup", str(folder), "--json")
            assert code == 0, output
            told = json.loads(output)
            moment = Timestamp(told["moment"]["seconds"], told["moment"]["increment"])
            with replica_set.client() as client:
                oplog, number = client.local["oplog.rs"], 0
                while (oplog.find_one(sort=[("$natural", 1)]) or {})["ts"] <= moment:
                    number += 1
                    assert number < 2000, "the oplog does not roll over"
                    await driver.insert("test_things", [{"_id": number, "bytes": os.urandom(1_000_000)}])
        finally:
            await driver.close()
        code, output = await do("backup", str(folder), "--changes")
        assert (code, output.count("\n")) == (1, 1), output
        assert "minRetentionHours" in output
        assert [path.suffix for path in folder.iterdir()] == [".backup"]
        code, output = await do("restore", told["file"], "--check", "--until", "2100-01-01T00:00:00Z")
        assert (code, "reach until" in output) == (1, True), output
        code, output = await do("backup", str(folder), "--json")
        assert code == 0, output
        code, output = await do("backup", str(folder), "--changes", "--json")
        assert (code, json.loads(output)["since"]["seconds"] > moment.time) == (0, True), output
    finally:
        replica_set.stop()
