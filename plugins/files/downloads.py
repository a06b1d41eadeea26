"""Files on their way out: signed addresses, the download itself, and public files in local mode."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

from plugins.api import ANONYMOUS, NOT_FOUND, Answer, ApiError, Request
from plugins.files.access import readable
from plugins.files.names import checked_key
from plugins.files.objects import File, Files, label_of
from plugins.files.ranges import is_unchanged, wanted_part
from plugins.files.signatures import Signatures
from plugins.files.storage import FOREVER, Visibility

SIGNED_SECONDS = 3600  # SPEC 8
# nothing in a file runs, loads or frames anything, whatever a browser takes it for
_HARMLESS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


async def sign(req: Request) -> dict[str, Any]:
    """An address by which anybody can read a private file for an hour; of a public one its direct link."""
    files = req.part(Files)
    file = await readable(req, req.query["object_key"])
    await _check_content(files, file)
    if file["visibility"] == "public":
        return {"url": files.storage.public_url(file["id"]), "expiresIn": SIGNED_SECONDS}
    url = await files.storage.download_address(file["id"], label_of(file), SIGNED_SECONDS)
    return {"url": url, "expiresIn": SIGNED_SECONDS}


async def _check_content(files: Files, file: File) -> None:
    """40400 for a file that is gone, or that somebody changed by its signed address after it was looked at."""
    found = await files.storage.stat(file["visibility"], file["id"])
    if found is None or (file["sha256"] is None and found.etag != file["etag"]):
        raise ApiError(NOT_FOUND)


def is_signed(req: Request) -> bool:
    """Whether the address itself allows this download; then it needs no token."""
    try:
        given = parse_qs(req.raw_query, max_num_fields=20)
    except ValueError:
        return False
    key, expires, signature = (given.get(name, [""])[0] for name in ("object_key", "expires", "signature"))
    if not (expires.isascii() and expires.isdigit() and len(expires) < 12):
        return False
    return req.part(Signatures).holds("get", {"object_key": key}, int(expires), signature)


async def download(req: Request) -> Answer:
    """A file, or a part of it, for who may read it or has a signed address."""
    key = checked_key(req.query["object_key"])
    if req.actor is ANONYMOUS:
        files = req.part(Files)
        file = await files.settled(await files.find(key))
    else:
        file = await readable(req, key)
    return await _answer(req, file, "private, no-cache")


async def public(req: Request) -> Answer:
    """A public file; its content never changes, so caches may keep it."""
    files = req.part(Files)
    file = await files.find(req.path["key"])
    if file["visibility"] != "public":
        raise ApiError(NOT_FOUND)
    return await _answer(req, await files.settled(file), FOREVER)


async def _answer(req: Request, file: File, cache: str) -> Answer:
    size, tag = file["size"], f'"{file["sha256"] or file["etag"]}"'
    headers = {"ETag": tag, "Cache-Control": cache, **_HARMLESS}
    if is_unchanged(req.headers, tag):
        return Answer(304, b"", headers, file["content_type"])
    part = wanted_part(req.headers, tag, size) if req.method == "GET" else None
    start, stop = part or (0, size)
    headers |= {
        "Accept-Ranges": "bytes",
        "Content-Length": str(stop - start),
        "Content-Disposition": label_of(file).disposition,
    }
    if part:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    stream = _nothing() if req.method == "HEAD" else await _open(req.part(Files), file, start, stop)
    return Answer(206 if part else 200, b"", headers, file["content_type"], stream)


async def _open(files: Files, file: File, start: int, stop: int) -> Any:
    visibility: Visibility = file["visibility"]
    source = await files.storage.open(visibility, file["id"], file["etag"], start, stop)
    if source is None:
        raise ApiError(NOT_FOUND)
    return source


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
