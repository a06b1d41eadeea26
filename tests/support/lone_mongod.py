"""A `mongod` that is no part of a replica set that works, which may become one."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from config.embedded.mongod import find_mongod


@contextmanager
def lone_mongod(folder: Path, *arguments: str, within: Sequence[str | Path] = ()) -> Iterator[str]:
    """The server in a new folder; its address."""
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [find_mongod(), "--dbpath", folder, "--bind_ip", "127.0.0.1", "--port", str(port), "--nounixsocket"]
    log = folder / "log"
    process = subprocess.Popen([*within, *command, "--logpath", log, *arguments], stdout=subprocess.DEVNULL)
    try:
        while not (log.exists() and b'"id":23016,' in log.read_bytes()):
            assert process.poll() is None
            time.sleep(0.02)
        yield f"mongodb://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def make_member(uri: str, name: str = "") -> None:
    """Make the `mongod` there, if it was started with `--replSet rs0`, a replica set of one, which calls it `name`."""
    with MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        members = [{"_id": 0, "host": name or uri.removeprefix("mongodb://").rstrip("/")}]
        client.admin.command("replSetInitiate", {"_id": "rs0", "members": members})
