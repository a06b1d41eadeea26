"""What the plugin runs for the life of the process: the storage, the worker lane that checks images, and a job."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from plugins.api import Service
from plugins.api.data import Jobs
from plugins.api.ports import Attachments
from plugins.api.requests import Signatures
from plugins.api.workers import Confined, Lane
from plugins.files.access import AttachedFiles
from plugins.files.local import LocalStorage
from plugins.files.objects import Files
from plugins.files.presence import Presence
from plugins.files.settings import FilesSettings
from plugins.files.storage import Storage
from plugins.files.sweeping import clean_up, sweep

_PIXEL_BYTES = 4


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Open the storage, and remove partial files of dead processes."""
    settings = service.settings_of(FilesSettings)
    folder = service.settings.data_dir / "files"
    signatures = Signatures(service.signing_secrets)
    service.provide(Signatures, signatures)
    async with open_storage(settings, folder, signatures) as storage:
        presence, spool = Presence(folder / "writers"), folder / "looked-at"
        spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        presence.enter()
        files = Files(service.database, storage, settings, presence, spool, _create_lane(service, settings))
        service.provide(Files, files)
        service.provide(Attachments, AttachedFiles(service.database))
        service.ready_when("storage", storage.check)
        service.part(Jobs).spawn("files.clean_up", clean_up(files))
        try:
            yield
        finally:
            presence.leave()


async def sweep_all(service: Service) -> None:
    """Remove files that nothing refers to."""
    await sweep(service, service.part(Files))


async def clear_after_reset(service: Service, payload: Mapping[str, Any]) -> None:
    """Remove all files after a data reset that included them."""
    if "files" in payload["modules"]:
        await service.part(Files).storage.clear()


def _create_lane(service: Service, settings: FilesSettings) -> Lane:
    # uploads of images come in bursts, so they queue; a decoder may allocate two whole images
    memory = (service.settings.confined_megabytes << 20) + 2 * _PIXEL_BYTES * settings.max_image_pixels
    return service.part(Confined).lane(
        "files.proof", cpu_seconds=20, waiting=200, patience_seconds=20, memory_bytes=memory
    )


def open_storage(settings: FilesSettings, folder: Path, signatures: Signatures) -> AbstractAsyncContextManager[Storage]:
    """Return a context manager that opens the storage of the settings; local files are below `folder`."""
    if settings.storage == "s3":
        from plugins.files.s3 import open_s3_storage  # an optional library

        return open_s3_storage(settings)
    return _open_local_storage(LocalStorage(folder, signatures, settings.files_base_url))


@asynccontextmanager
async def _open_local_storage(storage: LocalStorage) -> AsyncIterator[Storage]:
    storage.prepare()
    yield storage
