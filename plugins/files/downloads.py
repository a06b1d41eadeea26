"""Downloads: signed addresses, the download itself, and public files of local storage.

Conditional requests and ranges follow RFC 9110 sections 13 and 14.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qs

from plugins.api import NOT_FOUND, PUBLIC, SIGNED_IN, ApiError, Refusal, Request, Response, Route, route
from plugins.api.errors import MEDIA_TYPE, RANGE
from plugins.api.requests import ANONYMOUS, Signatures
from plugins.files.access import get_readable_file
from plugins.files.messages import NOT_PUBLIC, NOT_READABLE
from plugins.files.names import check_key
from plugins.files.objects import Files, get_label
from plugins.files.record_types import StoredFile
from plugins.files.records import KEY_QUERY, SIGNATURE_QUERY, SIGNED_DOWNLOAD
from plugins.files.storage import FOREVER, Visibility
from plugins.files.types import TYPES

_ONE_RANGE = re.compile(r"bytes\s*=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.ASCII | re.IGNORECASE)


def is_unchanged(headers: Mapping[str, str], tag: str) -> bool:
    """Return whether the client has this content already: `If-None-Match`, by weak comparison."""
    known = [part.strip().removeprefix("W/") for part in headers.get("If-None-Match", "").split(",")]
    return "*" in known or tag in known


def parse_range(headers: Mapping[str, str], tag: str, size: int) -> tuple[int, int] | None:
    """Return the first byte that the client wants and the byte after the last; None for the whole content.

    Several ranges, other units and invalid values get the whole content, and so does a range of content that has
    changed (`If-Range`). Raises 41600 for a range that begins beyond the end.
    """
    found = _ONE_RANGE.fullmatch(headers.get("Range", ""))
    if found is None or headers.get("If-Range", tag) != tag:
        return None
    first, last = found.groups()
    if not first and not last:
        return None
    start = int(first) if first else max(0, size - int(last))
    stop = min(int(last) + 1, size) if first and last else size
    if first and last and int(last) < int(first):
        return None
    if start >= size:
        raise ApiError(RANGE, headers={"Content-Range": f"bytes */{size}"})
    return start, stop


SIGNED_SECONDS = 3600
# browsers run, load and frame nothing in the file, whatever type they take it for
_SANDBOX = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


async def sign(req: Request) -> dict[str, Any]:
    """Return a URL by which anybody can read a private file for an hour, or the direct link of a public file."""
    files = req.part(Files)
    file = await get_readable_file(req, req.query["object_key"])
    await _check_content(files, file)
    if file["visibility"] == "public":
        return {"url": files.storage.public_url(file["id"]), "expiresIn": SIGNED_SECONDS}
    url = await files.storage.download_address(file["id"], get_label(file), SIGNED_SECONDS)
    return {"url": url, "expiresIn": SIGNED_SECONDS}


async def _check_content(files: Files, file: StoredFile) -> None:
    """Raise 40400 if the file is gone, or was overwritten by its signed address after it was checked."""
    found = await files.storage.stat(file["visibility"], file["id"])
    if found is None or (file["sha256"] is None and found.etag != file["etag"]):
        raise ApiError(NOT_FOUND)


def is_signed(req: Request) -> bool:
    """Return whether the URL has a valid signature for this download; then the request needs no token."""
    try:
        given = parse_qs(req.raw_query, max_num_fields=20)
    except ValueError:
        return False
    key, expires, signature = (given.get(name, [""])[0] for name in ("object_key", "expires", "signature"))
    if not (expires.isascii() and expires.isdigit() and len(expires) < 12):
        return False
    return req.part(Signatures).is_valid("files:get", {"object_key": key}, int(expires), signature)


async def download(req: Request) -> Response:
    """Send a file, or a range of it, to callers who may read it or have a signed URL."""
    key = check_key(req.query["object_key"])
    if req.actor is ANONYMOUS:
        files = req.part(Files)
        file = await files.settle(await files.find(key))
    else:
        file = await get_readable_file(req, key)
    return await _respond(req, file, "private, no-cache")


async def read_public(req: Request) -> Response:
    """Send a public file. Its content never changes, so caches may keep it."""
    files = req.part(Files)
    file = await files.find(req.path["key"])
    if file["visibility"] != "public":
        raise ApiError(NOT_FOUND)
    return await _respond(req, await files.settle(file), FOREVER)


async def _respond(req: Request, file: StoredFile, cache: str) -> Response:
    size, tag = file["size"], f'"{file["sha256"] or file["etag"]}"'
    headers = {"ETag": tag, "Cache-Control": cache, **_SANDBOX}
    if is_unchanged(req.headers, tag):
        return Response(304, b"", headers, file["content_type"])
    part = parse_range(req.headers, tag, size) if req.method == "GET" else None
    start, stop = part or (0, size)
    headers |= {
        "Accept-Ranges": "bytes",
        "Content-Length": str(stop - start),
        "Content-Disposition": get_label(file).disposition,
    }
    if part:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    stream = _stream_nothing() if req.method == "HEAD" else await _open_source(req.part(Files), file, start, stop)
    return Response(206 if part else 200, b"", headers, file["content_type"], stream)


async def _open_source(files: Files, file: StoredFile, start: int, stop: int) -> Any:
    visibility: Visibility = file["visibility"]
    source = await files.storage.open(visibility, file["id"], file["etag"] or "", start, stop)
    if source is None:
        raise ApiError(NOT_FOUND)
    return source


async def _stream_nothing() -> AsyncIterator[bytes]:
    return
    yield b""


_ANY_TYPE = ", ".join(type.media for type in TYPES)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/file/sign",
        sign,
        summary="Get a signed address for a download",
        access=SIGNED_IN,
        query=KEY_QUERY,
        returns=SIGNED_DOWNLOAD,
        errors=(MEDIA_TYPE,),
        refusals=(Refusal(NOT_FOUND, hint=NOT_READABLE),),
        tag="files",
    ),
    route(
        "GET /api/file/dl",
        download,
        summary="Download a file",
        access=SIGNED_IN,
        signed=is_signed,
        query={**KEY_QUERY, **SIGNATURE_QUERY},
        bare=_ANY_TYPE,
        etag=True,
        ranges=True,
        errors=(MEDIA_TYPE,),
        refusals=(Refusal(NOT_FOUND, hint=NOT_READABLE),),
        tag="files",
    ),
    route(
        "GET /api/files/public/{key}",
        read_public,
        summary="Download a public file",
        access=PUBLIC,
        bare=_ANY_TYPE,
        etag=True,
        ranges=True,
        errors=(MEDIA_TYPE,),
        refusals=(Refusal(NOT_FOUND, hint=NOT_PUBLIC),),
        tag="files",
    ),
)
