"""Runs the blocks of docs/operations/rehearsals.md on a service of its own: `--rehearsals` of `following`.

Everything is in one folder; the backups are on a small disk that only the shell and its children see. Small commands
replace systemd and mongosh, and do what the page asks of them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.experiments.following import OPERATIONS, ROOT, blocks
from tests.support.replica_sets import ReplicaSet, free_ports

REHEARSALS = OPERATIONS / "rehearsals.md"
_MOST_SECONDS = 900
_SMALL_DISK = 'mount -t tmpfs -o size=200m tmpfs "$backups" && exec bash -eu -o pipefail "$0"'
_TRADEWIND = '#!/bin/sh\nPYTHONPATH={root} exec {python} -m plugins.commands "$@"\n'
# replaces systemctl: it starts and stops the service, and knows its process id and that of the primary
_SYSTEMCTL = r"""#!/bin/bash
cd {folder}
stop() {{ kill -TERM "$(cat service.pid)" && while kill -0 "$(cat service.pid)" 2> /dev/null; do sleep 0.1; done; }}
start() {{
    while IFS= read -r line; do export "$line"; done < settings
    tradewind supervise --processes 2 --port {port} >> service.log 2>&1 < /dev/null &
    echo $! > service.pid
}}
case "$1 ${{!#}}" in
    "show tradewind") cat service.pid ;;
    "show mongod") cat "member-$({python} {folder}/bin/mongosh "$(sed -n 's/^TRADEWIND_MONGODB_URI=//p' settings)" primary)" ;;
    "start mongod") touch start-member ;;
    "start tradewind") start ;;
    "stop tradewind") stop ;;
    "restart tradewind") stop; start ;;
    *) exit 64 ;;
esac
"""
# replaces mongosh: it knows the expressions of the page
_MONGOSH = """#!{python}
import sys
from pymongo import MongoClient
client, asked = MongoClient(sys.argv[1]), sys.argv[-1]
client.admin.command("ping")
if asked == "primary":
    print(client.primary[1])
elif asked == "rs.stepDown()":
    client.admin.command("replSetStepDown", 10, secondaryCatchUpPeriodSecs=5)
elif asked == 'db.getSiblingDB("before").dropDatabase()':
    client.drop_database("before")
else:
    sys.exit(f"not on the page: {{asked}}")
"""
_FIRST = """\
trap 'systemctl stop tradewind' EXIT
echo '      the service starts and takes its first backup'
systemctl start tradewind
for second in $(seq 120); do ls "$backups"/*.backup 2> /dev/null && break; sleep 1; done
"""


def rehearse(folder: Path) -> int:
    """Do all rehearsals in this folder, which must exist, and return the exit code."""
    members = ReplicaSet(folder / "members", election_ms=2000)
    try:
        members.start()
        _prepare(folder, members.uri)
        began = time.monotonic()
        code = _run(folder, members)
    finally:
        members.stop()
    told = "Every rehearsal ends as its page says" if code == 0 else f"FAIL  the shell ended with {code}"
    print(f"{told}, {time.monotonic() - began:.0f} s.", flush=True)
    return int(code != 0)


def _prepare(folder: Path, uri: str) -> None:
    """Write the settings, the commands, and the page as a script."""
    given = {
        "MONGODB_URI": uri,
        "DATA_DIR": str(folder / "data"),
        "JWT_SECRET": secrets.token_urlsafe(48),
        "ADMIN_PASSWORD": f"Aa1-{secrets.token_hex(12)}",
        "BACKUP_KEY": secrets.token_urlsafe(48),
        "BACKUP_FOLDER": str(folder / "backups"),
        "BACKUP_HOURS": "24",
    }
    (folder / "settings").write_text("".join(f"TRADEWIND_{name}={value}\n" for name, value in given.items()))
    (folder / "backup.key").write_text(given["BACKUP_KEY"])
    (folder / "backup.key").chmod(0o600)
    for name in ("bin", "backups"):
        (folder / name).mkdir()
    named = {"root": ROOT, "python": sys.executable, "folder": folder, "port": free_ports(1)[0]}
    (folder / "port").write_text(str(named["port"]))
    for name, text in {"tradewind": _TRADEWIND, "systemctl": _SYSTEMCTL, "mongosh": _MONGOSH}.items():
        (folder / "bin" / name).write_text(text.format(**named))
        (folder / "bin" / name).chmod(0o700)
    (folder / "rehearsals.sh").write_text(_FIRST + "".join(_script(folder)))


def _script(folder: Path) -> Iterator[str]:
    for number, block in enumerate(blocks(REHEARSALS.read_text())):
        (folder / f"block-{number}").write_text(block.text)
        yield f"echo '      {block.heading or 'Before'}'; . ./block-{number}\n"


def _run(folder: Path, members: ReplicaSet) -> int:
    """Run the script, restarting the dead member when the script asks for it; return the exit code."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    given = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "backups": str(folder / "backups"),
        "settings": str(folder / "settings"),
        "key": str(folder / "backup.key"),
        "url": f"http://127.0.0.1:{(folder / 'port').read_text()}",
    }
    command = ["unshare", "-rm", "sh", "-ec", _SMALL_DISK, str(folder / "rehearsals.sh")]
    shell = subprocess.Popen(
        command, cwd=folder, env={**kept, **given}, stdin=subprocess.DEVNULL, start_new_session=True
    )
    end = time.monotonic() + _MOST_SECONDS
    try:
        while shell.poll() is None and time.monotonic() < end:
            for port, process in members.processes.items():
                (folder / f"member-{port}").write_text(f"{process.pid}\n")
            if (folder / "start-member").exists():
                (folder / "start-member").unlink()
                for port in [port for port, process in members.processes.items() if process.poll() is not None]:
                    members.start_member(port)
            time.sleep(0.1)
    finally:
        with suppress(ProcessLookupError):  # processes that the page has started and not ended
            os.killpg(shell.pid, signal.SIGTERM)
    return shell.wait()


def is_possible() -> str:
    """Return why rehearsals are not possible on this machine, or "" if they are."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        return "`unshare -rm` is not permitted on this machine: there is nowhere to mount a small disk."
    return ""
