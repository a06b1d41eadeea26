"""Databases that older versions have made: `python -m tests.support.old_database COMMIT` makes one, tests restore them.

The older version serves a demo and some business over HTTP from a checkout in a temporary folder; then all documents are
written to `tests/databases`, each as a line of extended JSON.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bson import json_util
from pymongo import MongoClient

from config.database import Driver
from config.embedded import acquire
from plugins.testing import PASSWORD, SECRET, Client, eventually, expect
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.books import Books
from tests.api.inventory.goods import Goods
from tests.support.server_process import environment

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "databases"
_DATABASE = "old"


def read_documents(path: Path) -> Mapping[str, list[dict[str, Any]]]:
    """The documents of a file, by collection."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            collection, document = json_util.loads(line)
            found[collection].append(document)
    return found


async def restore(driver: Driver, documents: Mapping[str, list[dict[str, Any]]]) -> None:
    """Write these documents into an empty database."""
    for collection, rows in documents.items():
        await driver.insert(collection, rows)


async def _do_business(client: Client) -> None:
    """Enter what later versions store otherwise: open items, payments, shipments, claims."""
    goods, books = await Goods.stocked(client, 9), await Books.fresh(client)
    expect(await goods.deliver(await goods.sale(5, "10.00"), 2))
    expect(await goods.receive(await goods.purchase(3, "4.00")))
    contract = await in_force(client, "100.00")
    expect(await client.post(PLANS, {"contract_id": contract["id"], "amount": "60.00", "due_date": "2026-12-05"}))
    expect(await client.post(PAYMENTS, {"contract_id": contract["id"], "amount": "25.00"}))
    expect(await books.pay_invoice(await books.invoice(), "13.00"))
    await books.claim("submit", "approve")
    expect(await books.pay_claim(await books.claim("submit", "approve")))


async def _serve(source: Path, uri: str, folder: Path) -> None:
    """Run the older server until it has done business."""
    env = environment(uri, folder, MONGODB_DATABASE=_DATABASE, PORT="18765", DEMO="true", PLUGINS="", JWT_SECRET=SECRET)
    process = subprocess.Popen(
        (sys.executable, "server.py"), cwd=source, stdout=subprocess.DEVNULL, env={**env, "PYTHONPATH": str(source)}
    )
    try:
        client = Client("http://127.0.0.1:18765")

        async def is_ready() -> bool:
            try:
                return (await client.get("/api/health/ready")).status == 200
            except OSError:
                return False

        await eventually(is_ready, seconds=60, every=0.5)
        await _do_business(await client.log_in("admin", PASSWORD))
    finally:
        process.terminate()
        process.wait(30)


def make(commit: str) -> Path:
    """Write the file of a commit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source").mkdir()
        archive = subprocess.run(("git", "archive", commit), cwd=ROOT, capture_output=True, check=True)
        subprocess.run(("tar", "-x", "-C", str(folder / "source")), input=archive.stdout, check=True)
        embedded = acquire(folder / "mongodb")
        try:
            asyncio.run(_serve(folder / "source", embedded.uri, folder / "data"))
            return _write(embedded.uri, FOLDER / f"{commit}.json.gz")
        finally:
            embedded.release_and_wait(15)


def _write(uri: str, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    with (
        MongoClient[dict[str, Any]](uri) as client,
        path.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as file,
    ):
        for collection in sorted(client[_DATABASE].list_collection_names()):
            for row in client[_DATABASE][collection].find():
                line = json_util.dumps([collection, row], json_options=json_util.CANONICAL_JSON_OPTIONS)
                file.write(f"{line}\n".encode())
    return path


if __name__ == "__main__":
    print(os.path.relpath(make(sys.argv[1]), ROOT))
