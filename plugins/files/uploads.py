"""Uploads: through the service, or by a signed URL straight to the storage."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    PUBLIC,
    SIGNED_IN,
    ApiError,
    Refusal,
    Request,
    Route,
    conflicts,
    integer,
    route,
    text,
)
from plugins.api.errors import MEDIA_TYPE, TOO_LARGE
from plugins.api.requests import Form, FormFile, Signatures, respond_once
from plugins.files.inspection import check_type, needs_proof, not_accepted
from plugins.files.messages import FILE_TOO_LARGE, OTHER_THAN_SIGNED, UPLOADED_ALREADY
from plugins.files.names import clean_name
from plugins.files.objects import Files
from plugins.files.receiving import Intake
from plugins.files.record_types import StoredFile
from plugins.files.records import KEY_QUERY, SIGNATURE_QUERY, SIGNED_UPLOAD, UPLOAD_FORM, UPLOAD_QUERY, UPLOADED
from plugins.files.storage import Label, Visibility
from plugins.files.types import BY_MEDIA, normalise_media

SIGNED_SECONDS = 900
_DIRECT_QUERY = {
    **KEY_QUERY,
    "content_type": text(max_length=100, required=True, example="application/pdf"),
    "size": integer(minimum=1, required=True, example=12345),
    **{name: field.but(required=True) for name, field in SIGNATURE_QUERY.items()},
}


async def upload(req: Request) -> dict[str, Any]:
    """Store the file of a form. A retry with the same idempotency key does not store it again."""
    files = req.part(Files)
    limit = files.settings.max_upload_bytes
    form = Form(req, limit, ApiError(TOO_LARGE, FILE_TOO_LARGE.filled(bytes=limit)))
    async with AsyncExitStack() as stack:
        async for piece in form:
            if isinstance(piece, FormFile):
                name = clean_name(piece.name, piece.field)
                visibility = form.values.get("visibility")
                intake = await stack.enter_async_context(Intake(files, req.actor, name, piece.media, visibility))
            else:
                await intake.feed(piece)
        await intake.end(form.values["visibility"])
        # compared for the idempotency key, and written to the operation log
        summary = {**form.values, "file_name": name, "size": intake.size, "sha256": intake.sha256}
        req.raw_body = json.dumps(summary, ensure_ascii=False).encode()
        response = await _store_once(req, intake)
        if response["objectKey"] == intake.key:
            intake.accept()
        return response


async def _store_once(req: Request, intake: Intake) -> dict[str, Any]:
    files = req.part(Files)

    async def work() -> bytes:
        return json.dumps(_describe(files, await intake.store())).encode()

    stored = await (respond_once(req, work) if "Idempotency-Key" in req.headers else work())
    response: dict[str, Any] = json.loads(stored)
    return response


def _describe(files: Files, file: StoredFile) -> dict[str, Any]:
    return {
        "visibility": file["visibility"],
        "url": _get_public_url(files, file["visibility"], file["id"]),
        "objectKey": file["id"],
        "fileName": file["name"],
        "size": file["size"],
        "contentType": file["content_type"],
        "sha256": file["sha256"],
    }


def _get_public_url(files: Files, visibility: str, key: str) -> str | None:
    return files.storage.public_url(key) if visibility == "public" else None


def _get_length(req: Request) -> int:
    length = req.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _get_stream(req: Request) -> AsyncIterator[bytes]:
    if req.stream is None:
        raise RuntimeError("the route is not streamed")
    return aiter(req.stream)


async def sign(req: Request) -> dict[str, Any]:
    """Return a URL that accepts exactly this file by PUT, once, for 15 minutes."""
    files, query = req.part(Files), req.query
    visibility: Visibility = query["visibility"]
    name = clean_name(query["file_name"], "file_name")
    media = normalise_media(query["content_type"])
    type = BY_MEDIA.get(media)
    if type is None:
        raise not_accepted(files.settings, media, visibility)
    check_type(files.settings, type, name, "", visibility)
    limit = files.settings.max_upload_bytes
    limit = min(limit, files.settings.max_image_bytes) if needs_proof(type) else limit
    if query["size"] > limit:
        raise ApiError(TOO_LARGE, FILE_TOO_LARGE.filled(bytes=limit))
    label = Label(name, type)
    key = await files.begin(req.actor, label, visibility, "expected", query["size"])
    address = await files.storage.upload_address(visibility, key, label, query["size"], SIGNED_SECONDS)
    return {
        "uploadUrl": address.url,
        "method": "PUT",
        "headers": address.headers,
        "objectKey": key,
        "url": _get_public_url(files, visibility, key),
        "expiresIn": SIGNED_SECONDS,
    }


async def receive(req: Request) -> None:
    """Receive the file of a signed URL of local storage. As with S3, what was not signed is refused with 403."""
    files, query = req.part(Files), req.query
    _check_signature(req)
    file = await files.take(query["object_key"])
    if file is None:
        raise ApiError(CONFLICT, UPLOADED_ALREADY)
    intake = Intake(files, req.actor, file["name"], file["content_type"], file["visibility"], expected=file)
    async with intake:
        async for chunk in _get_stream(req):
            await intake.feed(chunk)
            if intake.size > query["size"]:
                raise ApiError(FORBIDDEN, OTHER_THAN_SIGNED)
        if intake.size != query["size"]:
            raise ApiError(FORBIDDEN, OTHER_THAN_SIGNED)
        await intake.end(file["visibility"])
        await intake.store()
        intake.accept()


def _check_signature(req: Request) -> None:
    query = req.query
    bound = {name: query[name] for name in ("object_key", "content_type", "size")}
    signed = req.part(Signatures).is_valid("files:put", bound, query["expires"], query["signature"])
    same_type = normalise_media(req.headers.get("Content-Type", "")) == query["content_type"]
    length = req.headers.get("Content-Length")
    if not signed or not same_type or (length is not None and _get_length(req) != query["size"]):
        raise ApiError(FORBIDDEN, OTHER_THAN_SIGNED)


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/upload",
        upload,
        summary="Upload a file",
        access=SIGNED_IN,
        streamed=True,
        form=UPLOAD_FORM,
        returns=UPLOADED,
        tag="files",
    ),
    route(
        "GET /api/upload/sts",
        sign,
        summary="Get a signed address for a direct upload",
        access=SIGNED_IN,
        query=UPLOAD_QUERY,
        returns=SIGNED_UPLOAD,
        errors=(MEDIA_TYPE, TOO_LARGE),
        tag="files",
    ),
    route(
        "PUT /api/upload/direct",
        receive,
        summary="Upload to a signed address of local storage",
        access=PUBLIC,
        streamed=True,
        query=_DIRECT_QUERY,
        errors=(MEDIA_TYPE, TOO_LARGE),
        refusals=(Refusal(FORBIDDEN, OTHER_THAN_SIGNED), *conflicts(UPLOADED_ALREADY)),
        tag="files",
    ),
)
