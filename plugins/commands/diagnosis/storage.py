"""The storage of files and the folder of backups: within reach, public files readable, private ones not."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient, HTTPError

from config.database import Driver
from config.settings import Settings
from plugins.api.requests import Signatures
from plugins.commands.diagnosis.findings import Finding
from plugins.files.lifespan import open_storage
from plugins.files.records import OBJECTS
from plugins.files.settings import FilesSettings
from plugins.files.storage import Label, Storage, Visibility
from plugins.files.types import UNKNOWN

_SECONDS = 5.0
_READ = (200, 206)
_NO_RESPONSE = 0


async def check_storage(driver: Driver, settings: Settings, files: FilesSettings) -> AsyncIterator[Finding]:
    """Yield what is wrong with the storage. Of S3 one file of each bucket is asked for without a signature."""
    folder = settings.data_dir / "files"
    if files.storage == "local" and not folder.exists():
        return  # the first start makes it
    async with open_storage(files, folder, Signatures(("",))) as storage:
        try:
            await storage.check()
        except Exception as error:
            yield Finding("error", "storage", files.storage, f"files cannot be read or written: {error}")
            return
        if files.storage == "s3":
            if await _status(driver, storage, "public") not in (*_READ, None):
                advice = "a public file is not given to everybody: allow s3:GetObject, or mend TRADEWIND_S3_PUBLIC_URL"
                yield Finding("error", "storage", files.s3_public_bucket, advice)
            if await _status(driver, storage, "private") in _READ:
                advice = "everybody may read the private bucket: take its policy away"
                yield Finding("error", "storage", files.s3_private_bucket, advice)


async def _status(driver: Driver, storage: Storage, visibility: Visibility) -> int | None:
    """Return the status of a request without a signature for a stored file, or None if none is stored."""
    stored = await driver.find(OBJECTS.name, {"visibility": visibility, "state": "stored"}, limit=1)
    if not stored:
        return None
    key = str(stored[0]["_id"])
    signed = await storage.download_address(key, Label("x", UNKNOWN), 60)
    url = storage.public_url(key) if visibility == "public" else signed.partition("?")[0]
    try:
        response = await AsyncHTTPClient().fetch(
            url, headers={"Range": "bytes=0-0"}, request_timeout=_SECONDS, raise_error=False
        )
    except (HTTPError, OSError):
        return _NO_RESPONSE
    return response.code


def check_backups(settings: Settings) -> Iterator[Finding]:
    """Yield what keeps the service from taking backups by itself, or leaves them open."""
    if not settings.backup_hours:
        return
    folder = Path(settings.backup_folder or settings.data_dir / "backups").absolute()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield Finding("error", "backups", str(folder), f"{there} is no folder in which backups can be written")
    if not settings.backup_key.get_secret_value():
        advice = "backups are not encrypted: make a key with `openssl rand -base64 48`"
        yield Finding("warning", "backups", "TRADEWIND_BACKUP_KEY", advice)
