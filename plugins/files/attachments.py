"""Attachments: files bound to business records. Who sees the record sees its attachments, and nobody else does."""

from __future__ import annotations

from typing import Any

from plugins.api import FORBIDDEN, NOT_FOUND, ApiError, Catalogue, Page, Request, invalid
from plugins.files.access import may_change, readable, visible_record
from plugins.files.messages import NOT_YOURS_TO_DELETE
from plugins.files.names import checked_key, clean_name
from plugins.files.objects import File, Files
from plugins.files.records import ATTACHMENTS


async def create(req: Request) -> dict[str, Any]:
    """Bind a file that the caller may read to a record that they see; from then on the file is kept."""
    body = req.body
    record = await visible_record(req, body["biz_type"], body["resource_id"])
    file = await readable(req, _key(req))
    if body.get("visibility", file["visibility"]) != file["visibility"]:
        raise invalid("visibility", "invalid")
    values = _values(req, file, body["biz_type"], str(record["id"]))

    async def work() -> dict[str, Any]:
        if not await req.part(Files).keep(file["id"]):
            raise ApiError(NOT_FOUND)
        return await req.store(ATTACHMENTS).create(values)

    return await req.transaction(work)


def _key(req: Request) -> str:
    """The key that the body names, by itself or by the link of a public file."""
    key, url = req.body.get("object_key"), req.body.get("url")
    if not key and not url:
        raise invalid("object_key", "required")
    if not url:
        return str(key)
    linked = checked_key(url.rpartition("/")[2])
    if url != req.part(Files).storage.public_url(linked):
        raise ApiError(NOT_FOUND)
    if key and key != linked:
        raise invalid("url", "invalid")
    return linked


def _values(req: Request, file: File, biz_type: str, resource_id: str) -> dict[str, Any]:
    name = req.body.get("file_name")
    public = file["visibility"] == "public"
    return {
        "biz_type": biz_type,
        "resource_id": resource_id,
        "file_name": clean_name(name, "file_name") if name is not None else file["name"],
        "object_key": file["id"],
        "url": req.part(Files).storage.public_url(file["id"]) if public else None,
        "visibility": file["visibility"],
        "size": file["size"],
        "content_type": file["content_type"],
        "uploader": {"id": file["uploader_id"], "name": file["uploader_name"]},
    }


async def list_attachments(req: Request) -> Page:
    """The attachments of a record that the caller sees; 40400 for every other record."""
    record = await visible_record(req, req.query["biz_type"], req.query["resource_id"])
    of_record = {"biz_type": req.query["biz_type"], "resource_id": str(record["id"])}
    return await req.store(ATTACHMENTS).page(req.query, of_record)


async def delete(req: Request) -> None:
    """Take an attachment off its record; the file stays.

    It takes a record that the caller sees, and one of: the file is theirs, they attached it, or they may change
    such records (40300 otherwise).
    """
    attachment = await req.store(ATTACHMENTS).get(req.path["id"])
    biz_type = attachment["biz_type"]
    if biz_type not in req.part(Catalogue).biz_types:
        raise ApiError(NOT_FOUND)
    await visible_record(req, biz_type, attachment["resource_id"])
    own = req.actor.user_id in (attachment["uploader"]["id"], attachment["creator_id"])
    if not own and not await may_change(req, biz_type):
        raise ApiError(FORBIDDEN, NOT_YOURS_TO_DELETE)
    await req.store(ATTACHMENTS).delete(attachment["id"])
