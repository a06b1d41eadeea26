"""A process that locks a document in a transaction, as an instance does that is killed within one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# changes the document in a transaction, says so, and commits when it is told to
PROGRAM = """
import asyncio, sys
from bson import ObjectId
from config.database import open_driver

async def main(driver, uri, database, collection, id):
    holder = open_driver(driver, uri, database, 60_000)
    async def work():
        found = {"_id": ObjectId(id) if ObjectId.is_valid(id) else id}
        await holder.update_one(collection, found, {"$inc": {"n": 1}})
        print("holds", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
    await holder.transaction(work)
    print("committed", flush=True)
    await holder.close()

asyncio.run(main(*sys.argv[1:]))
"""


@contextmanager
def holder(
    uri: str, database: str, collection: str, id: str, driver: str = "direct"
) -> Iterator[subprocess.Popen[str]]:
    """The process, which has begun to hold the document; it is killed at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, driver, uri, database, collection, id],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "holds\n"
        yield process
    finally:
        process.kill()
        process.communicate()
