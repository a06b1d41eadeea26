"""The current code on a database that an older commit created, and then the older code on it again."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from config.embedded.folder import Folder
from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread, tell_books
from tests.experiments.fault_injection.load import Load
from tests.support.replica_sets import ROOT, Server, free_ports

NAME = "upgrade"
_OLD = "b4faa2e"
_FILLED_SECONDS = 60

Documents = dict[str, dict[Any, dict[str, Any]]]


async def run(bench: Bench) -> None:
    """Run the old code under load, start the current code on the same folder, compare, and go back to the old code."""
    folder = bench.subfolder("upgrade")
    source = await in_thread(check_out, folder / "old", bench.options.get("old", _OLD))
    if source is None:
        bench.tell(NAME, "run", "left out: this checkout has no history")
        return
    data, port = folder / "data", free_ports(1)[0]
    old = Server(folder, "old", port, source=source, demo="true")
    new = Server(folder, "new", port, demo="true")
    back = Server(folder, "back", port, source=source, demo="true")
    try:
        await in_thread(old.start)
        async with Load([port], workers=4) as load:
            await load.run(10)
            before_lists = await _lists(load.admin)
            before = await in_thread(_documents, data)
            await in_thread(old.stop)
            await in_thread(new.start)
            bench.tell(NAME, "today's code is ready after", f"{new.ready_after:.1f} s")
            load.admin.token = (await Connection(port).log_in("admin", _password(new))).token
            _tell_documents(bench, before, await in_thread(_documents, data))
            _tell_lists(bench, before_lists, await _lists(load.admin))
            record = Folder(data).live_record()
            if record is not None:
                seconds = await in_thread(_fill, new)
                bench.tell(NAME, "fields of later versions are filled in, in the background, after", f"{seconds:.0f} s")
                await tell_books(bench, NAME, load, [new], record.uri)
            await in_thread(new.stop)
            await in_thread(back.start)
            outcomes = Counter(code for code, _ in (await _lists(load.admin)).values())
            bench.tell(NAME, "lists by the old code again", dict(outcomes), "none fails", not outcomes[50000])
    finally:
        for server in (old, new, back):
            await in_thread(server.stop)


def _fill(server: Server) -> float:
    """Wait until the ledgers agree, for a minute at most, and return the seconds.

    A field that is not filled in yet counts as a difference.
    """
    began = time.monotonic()
    while server.ledgers() and time.monotonic() - began < _FILLED_SECONDS:
        time.sleep(1)
    return time.monotonic() - began


def _password(server: Server) -> str:
    return server.env["TRADEWIND_ADMIN_PASSWORD"]


def check_out(folder: Path, commit: str) -> Path | None:
    """Extract the files of a commit into `folder`, or return None if the commit is not available."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode != 0:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def _documents(data: Path) -> Documents:
    record = Folder(data).live_record()
    if record is None:
        raise RuntimeError("no embedded database runs here")
    with MongoClient[dict[str, Any]](record.uri) as client:
        database = client.tradewind
        names = [name for name in database.list_collection_names() if not name.startswith("system.")]
        return {name: {row["_id"]: row for row in database[name].find()} for name in names}


async def _lists(admin: Connection) -> dict[str, tuple[int | None, Any]]:
    """Request every GET without a path parameter, and return its code and total."""
    description = json.loads((ROOT / "docs" / "openapi.json").read_text())
    found = {}
    for path, operations in description["paths"].items():
        if "get" in operations and "{" not in path and not path.endswith("/ws"):
            reply = await admin.call("GET", path)
            found[path] = (reply.code, reply.data.get("total") if isinstance(reply.data, dict) else None)
    return found


def _tell_documents(bench: Bench, before: Documents, after: Documents) -> None:
    lost = {name: len(rows.keys() - after.get(name, {}).keys()) for name, rows in before.items()}
    # sessions, leases and other technical records are created and removed all the time
    kept = {name: count for name, count in lost.items() if count and not name.startswith(("core_", "auth_"))}
    total = sum(map(len, before.values()))
    bench.tell(NAME, "documents", f"{total} before, lost {kept or 0}", "0 lost", not kept)


def _tell_lists(bench: Bench, before: dict[str, Any], after: dict[str, Any]) -> None:
    failed = {path: after[path] for path in before if path in after and before[path][0] == 0 and after[path][0] != 0}
    bench.tell(NAME, "lists that worked and do not any more", failed or 0, "0", not failed)
