"""Files on their way in: through the service, or by a signed address straight to the storage."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    MEDIA_TYPE,
    TOO_LARGE,
    ApiError,
    Form,
    FormFile,
    Request,
    answer_once,
)
from plugins.files.inspection import check_type, needs_proof
from plugins.files.messages import FILE_TOO_LARGE, OTHER_THAN_SIGNED, TYPE_REFUSED, UPLOADED_ALREADY
from plugins.files.names import clean_name
from plugins.files.objects import File, Files
from plugins.files.receiving import Intake
from plugins.files.signatures import Signatures
from plugins.files.storage import Label, Visibility
from plugins.files.types import BY_MEDIA, canonical

SIGNED_SECONDS = 900  # SPEC 8


async def upload(req: Request) -> dict[str, Any]:
    """Take in the one file of a form; a retry with the same idempotency key stores it once."""
    files = req.part(Files)
    limit = files.settings.max_upload_bytes
    form = Form(req, limit, ApiError(TOO_LARGE, FILE_TOO_LARGE.filled(bytes=limit)))
    async with AsyncExitStack() as stack:
        async for piece in form:
            if isinstance(piece, FormFile):
                name = clean_name(piece.name, piece.field)
                told = form.values.get("visibility")
                intake = await stack.enter_async_context(Intake(files, req.actor, name, piece.media, told))
            else:
                await intake.feed(piece)
        await intake.end(form.values["visibility"])
        # what the idempotency key stands for, and what the operation log tells
        said = {**form.values, "file_name": name, "size": intake.size, "sha256": intake.sha256}
        req.raw_body = json.dumps(said, ensure_ascii=False).encode()
        answer = await _stored_once(req, intake)
        if answer["objectKey"] == intake.key:
            intake.accept()
        return answer


async def _stored_once(req: Request, intake: Intake) -> dict[str, Any]:
    files = req.part(Files)

    async def work() -> bytes:
        return json.dumps(_uploaded(files, await intake.store())).encode()

    stored = await (answer_once(req, work) if "Idempotency-Key" in req.headers else work())
    answer: dict[str, Any] = json.loads(stored)
    return answer


def _uploaded(files: Files, file: File) -> dict[str, Any]:
    return {
        "visibility": file["visibility"],
        "url": _url(files, file["visibility"], file["id"]),
        "objectKey": file["id"],
        "fileName": file["name"],
        "size": file["size"],
        "contentType": file["content_type"],
        "sha256": file["sha256"],
    }


def _url(files: Files, visibility: str, key: str) -> str | None:
    return files.storage.public_url(key) if visibility == "public" else None


def _length(req: Request) -> int:
    length = req.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _stream(req: Request) -> AsyncIterator[bytes]:
    if req.stream is None:
        raise RuntimeError("the route is not streamed")
    return aiter(req.stream)


async def sign(req: Request) -> dict[str, Any]:
    """An address that takes just this file by PUT, once, for 15 minutes."""
    files, query = req.part(Files), req.query
    visibility: Visibility = query["visibility"]
    name = clean_name(query["file_name"], "file_name")
    type = BY_MEDIA.get(canonical(query["content_type"]))
    if type is None:
        raise ApiError(MEDIA_TYPE, TYPE_REFUSED.filled(type=""))
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
        "url": _url(files, visibility, key),
        "expiresIn": SIGNED_SECONDS,
    }


async def receive(req: Request) -> None:
    """Take in the file of a signed address, in local mode: as S3 does, 403 for whatever was not signed."""
    files, query = req.part(Files), req.query
    _check_signature(req)
    file = await files.take(query["object_key"])
    if file is None:
        raise ApiError(CONFLICT, UPLOADED_ALREADY)
    intake = Intake(files, req.actor, file["name"], file["content_type"], file["visibility"], awaited=file)
    async with intake:
        async for chunk in _stream(req):
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
    signed = req.part(Signatures).holds("put", bound, query["expires"], query["signature"])
    said = canonical(req.headers.get("Content-Type", "")) == query["content_type"]
    length = req.headers.get("Content-Length")
    if not signed or not said or (length is not None and _length(req) != query["size"]):
        raise ApiError(FORBIDDEN, OTHER_THAN_SIGNED)
