"""Files in two buckets, and attachments (SPEC 2.6, 2.7, 4.5; CONTRACT 8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from plugins.api import (
    FORBIDDEN,
    MEDIA_TYPE,
    NOT_FOUND,
    PUBLIC,
    SIGNED_IN,
    TOO_LARGE,
    Confined,
    Jobs,
    Message,
    Plugin,
    Refusal,
    Service,
    conflicts,
    integer,
    route,
    text,
)
from plugins.files import attachments, downloads, messages, uploads
from plugins.files.local import DOWNLOAD_AT, PUBLIC_AT, UPLOAD_AT, LocalStorage
from plugins.files.objects import Files
from plugins.files.presence import Presence
from plugins.files.records import (
    ATTACHMENT,
    ATTACHMENT_BODY,
    ATTACHMENT_QUERY,
    ATTACHMENTS,
    KEY_QUERY,
    OBJECTS,
    SIGNATURE_QUERY,
    SIGNED_DOWNLOAD,
    SIGNED_UPLOAD,
    UPLOAD_FORM,
    UPLOAD_QUERY,
    UPLOADED,
)
from plugins.files.settings import FilesSettings
from plugins.files.signatures import Signatures
from plugins.files.storage import Storage
from plugins.files.sweeping import clean_up, sweep
from plugins.files.types import TYPES

_NOT_READABLE, _NOT_PUBLIC, _UNSEEN, _NO_ATTACHMENT = (
    Refusal(NOT_FOUND, when=why)
    for why in (messages.NOT_READABLE, messages.NOT_PUBLIC, messages.RECORD_UNSEEN, messages.NO_ATTACHMENT)
)
_NOT_YOURS = Refusal(FORBIDDEN, messages.NOT_YOURS_TO_DELETE, spares_super=True)
_ANY_TYPE = ", ".join(type.media for type in TYPES)
_PIXEL_BYTES = 4
_DIRECT_QUERY = {
    **KEY_QUERY,
    "content_type": text(max_length=100, required=True, example="application/pdf"),
    "size": integer(minimum=1, required=True, example=12345),
    **{name: field.but(required=True) for name, field in SIGNATURE_QUERY.items()},
}


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Open the storage, clean up after processes that died, and sweep from time to time."""
    settings = service.settings_of(FilesSettings)
    folder = service.settings.data_dir / "files"
    signatures = Signatures(service.signing_secrets)
    service.provide(Signatures, signatures)
    async with _storage(settings, folder, signatures) as storage:
        presence, spool = Presence(folder / "writers"), folder / "looked-at"
        spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        presence.enter()
        # pictures come many at once: they wait for each other. A decoder may set memory aside for two whole pictures
        memory = (service.settings.confined_megabytes << 20) + 2 * _PIXEL_BYTES * settings.max_image_pixels
        proving = service.part(Confined).lane(
            "files.proof", cpu_seconds=20, waiting=200, patience_seconds=20, memory_bytes=memory
        )
        files = Files(service.database, storage, settings, presence, spool, proving)
        service.provide(Files, files)
        service.ready_when("storage", storage.check)

        async def sweep_all() -> None:
            await sweep(service, files)

        async def after_reset(payload: Mapping[str, Any]) -> None:
            if "files" in payload["modules"]:
                await storage.clear()

        service.events.listen("system.data_reset", after_reset)
        service.part(Jobs).spawn("files.clean_up", clean_up(files))
        service.part(Jobs).every(settings.sweep_seconds, "files.sweep", sweep_all)
        try:
            yield
        finally:
            presence.leave()


def _storage(settings: FilesSettings, folder: Path, signatures: Signatures) -> AbstractAsyncContextManager[Storage]:
    if settings.storage == "s3":
        from plugins.files.s3 import s3_storage  # an optional library

        return s3_storage(settings)
    return _local_storage(LocalStorage(folder, signatures, settings.files_base_url))


@asynccontextmanager
async def _local_storage(storage: LocalStorage) -> AsyncIterator[Storage]:
    storage.prepare()
    yield storage


plugin = Plugin(
    name="files",
    title=Message("文件", "Files"),
    settings=FilesSettings,
    start=start,
    collections=(OBJECTS, ATTACHMENTS),
    routes=(
        route(
            "POST /api/upload",
            uploads.upload,
            summary="Upload a file",
            access=SIGNED_IN,
            streamed=True,
            form=UPLOAD_FORM,
            returns=UPLOADED,
            tag="files",
        ),
        route(
            "GET /api/upload/sts",
            uploads.sign,
            summary="An address for a direct upload",
            access=SIGNED_IN,
            query=UPLOAD_QUERY,
            returns=SIGNED_UPLOAD,
            errors=(MEDIA_TYPE, TOO_LARGE),
            tag="files",
        ),
        route(
            f"PUT {UPLOAD_AT}",
            uploads.receive,
            summary="Upload to a signed address of local storage",
            access=PUBLIC,
            streamed=True,
            query=_DIRECT_QUERY,
            errors=(MEDIA_TYPE, TOO_LARGE),
            refusals=(Refusal(FORBIDDEN, messages.OTHER_THAN_SIGNED), *conflicts(messages.UPLOADED_ALREADY)),
            tag="files",
        ),
        route(
            "GET /api/file/sign",
            downloads.sign,
            summary="An address for a download",
            access=SIGNED_IN,
            query=KEY_QUERY,
            returns=SIGNED_DOWNLOAD,
            errors=(MEDIA_TYPE,),
            refusals=(_NOT_READABLE,),
            tag="files",
        ),
        route(
            f"GET {DOWNLOAD_AT}",
            downloads.download,
            summary="Download a file",
            access=SIGNED_IN,
            signed=downloads.is_signed,
            query={**KEY_QUERY, **SIGNATURE_QUERY},
            bare=_ANY_TYPE,
            etag=True,
            ranges=True,
            errors=(MEDIA_TYPE,),
            refusals=(_NOT_READABLE,),
            tag="files",
        ),
        route(
            f"GET {PUBLIC_AT}/{{key}}",
            downloads.public,
            summary="A public file",
            access=PUBLIC,
            bare=_ANY_TYPE,
            etag=True,
            ranges=True,
            errors=(MEDIA_TYPE,),
            refusals=(_NOT_PUBLIC,),
            tag="files",
        ),
        route(
            "GET /api/attachments",
            attachments.list_attachments,
            summary="List the attachments of a record",
            access=SIGNED_IN,
            query=ATTACHMENT_QUERY,
            returns=ATTACHMENT,
            paged=True,
            refusals=(_UNSEEN,),
            tag="files",
        ),
        route(
            "POST /api/attachments",
            attachments.create,
            summary="Attach a file to a record",
            access=SIGNED_IN,
            body=ATTACHMENT_BODY,
            returns=ATTACHMENT,
            refusals=(_UNSEEN, _NOT_READABLE),
            tag="files",
        ),
        route(
            "DELETE /api/attachments/{id}",
            attachments.delete,
            summary="Detach a file from a record",
            access=SIGNED_IN,
            refusals=(_NO_ATTACHMENT, _NOT_YOURS),
            tag="files",
        ),
    ),
)
