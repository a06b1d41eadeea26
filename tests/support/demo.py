"""The demo data for tests: entered once for a state of the product and a day, and loaded from a dump after that.

To enter them is ten seconds of work for a server, to load them one. The dump has the documents of every collection and
the data folder; the server makes indexes itself. It is kept beside pytest's cache, under a hash of what makes it.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient

from config.settings import Settings
from plugins.boot.runtime import Running
from plugins.testing import empty_database, serving

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".pytest_cache" / "demo"
MADE_BY = ("config", "handlers", "plugins", "requirements.lock")
BATCH = 1000


@asynccontextmanager
async def serving_demo(uri: str, data_dir: Path, **settings: Any) -> AsyncIterator[Running]:
    """Start a server with all built-in plugins and demo data, as `serving` with `demo=True` does.

    Settings that change the demo data themselves are not for this.
    """
    dump = await _dump(uri)
    async with empty_database(uri) as spare:
        database = settings.setdefault("mongodb_database", spare)
        await asyncio.to_thread(_load, uri, database, dump)
        shutil.copytree(dump / "data", data_dir, dirs_exist_ok=True)
        async with serving(uri, data_dir, demo=True, **settings) as server:
            yield server


async def _dump(uri: str) -> Path:
    """Return the folder of the dump, which is made if there is none yet; other runners wait meanwhile."""
    folder = CACHE / _digest()
    with _alone():
        if not folder.exists():
            _remove_older_than(timedelta(days=1))
            await _make(uri, folder)
    return folder


@contextmanager
def _alone() -> Iterator[None]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_older_than(age: timedelta) -> None:
    """Remove dumps of earlier days; younger ones another run may be loading."""
    for dump in CACHE.glob("*/"):
        if dump.stat().st_mtime < time.time() - age.total_seconds():
            shutil.rmtree(dump)


def _digest() -> str:
    """Name what makes the demo data: the product, its libraries and the day, from which their dates are counted."""
    zone = ZoneInfo(Settings.model_fields["time_zone"].default)
    found = hashlib.sha256(datetime.now(zone).date().isoformat().encode())
    for path in sorted(path for name in MADE_BY for path in _files(ROOT / name)):
        found.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    yield from (one for one in path.rglob("*") if one.is_file() and one.parent.name != "__pycache__")


async def _make(uri: str, folder: Path) -> None:
    with TemporaryDirectory() as unfinished:
        made = Path(unfinished) / "dump"
        made.mkdir()
        async with empty_database(uri) as database:
            async with serving(uri, made / "data", demo=True, mongodb_database=database):
                pass
            await asyncio.to_thread(_save, uri, database, made)
        shutil.move(made, folder)


def _save(uri: str, database: str, folder: Path) -> None:
    with MongoClient[RawBSONDocument](uri, document_class=RawBSONDocument) as client:
        for name in client[database].list_collection_names(filter={"type": "collection"}):
            documents = b"".join(document.raw for document in client[database][name].find())
            if documents:
                (folder / f"{name}.bson").write_bytes(documents)


def _load(uri: str, database: str, folder: Path) -> None:
    with MongoClient[RawBSONDocument](uri, document_class=RawBSONDocument) as client:
        for path in folder.glob("*.bson"):
            documents = bson.decode_all(path.read_bytes(), bson.CodecOptions(document_class=RawBSONDocument))
            for start in range(0, len(documents), BATCH):
                client[database][path.stem].insert_many(documents[start : start + BATCH])
