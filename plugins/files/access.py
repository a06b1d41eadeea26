"""Who may read a file, and who may see a business record. All access checks of files are in this module."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from plugins.api import NOT_FOUND, ApiError, Collection, Request, invalid
from plugins.api.data import Database
from plugins.api.errors import TOO_LARGE, refusal
from plugins.api.ports import AttachedFile, Attachments, Authorizer, pass_for
from plugins.api.records import Catalogue
from plugins.files.messages import FILE_TOO_LARGE
from plugins.files.names import clean_name
from plugins.files.objects import Files
from plugins.files.record_types import AttachmentRecord, StoredFile
from plugins.files.records import ATTACHMENTS, OBJECTS

_CHANGES = ("PATCH", "PUT")
_MOST_PASSED = 100  # how many of the records that a file is attached to are looked at for a pass


async def may_read(req: Request, file: StoredFile) -> bool:
    """Return whether the caller may read a file: a public one, their own, or one attached to a record they may see."""
    if file["visibility"] == "public" or file["uploader_id"] == req.actor.user_id:
        return True
    attached: defaultdict[str, list[str]] = defaultdict(list)
    for attachment in await req.system_store(ATTACHMENTS).find({"object_key": file["id"]}):
        attached[attachment["biz_type"]].append(attachment["resource_id"])
    for biz_type, ids in attached.items():
        if biz_type in req.part(Catalogue).biz_types and await _can_see_any(req, biz_type, ids):
            return True
    return False


class AttachedFiles(Attachments):
    """The files of records."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def exist(self, biz_type: str, resource_id: str) -> bool:
        """Return whether a file is attached to the record."""
        of_record = {"biz_type": biz_type, "resource_id": resource_id}
        return await self._database.store(ATTACHMENTS).find_one(of_record) is not None

    async def keep(self, biz_type: str, resource_id: str, ids: Sequence[str]) -> list[AttachedFile]:
        """Return those of the attachments that are the record's. From then on nobody can remove them."""
        store, named = self._database.store(ATTACHMENTS), [ATTACHMENTS.parse_id(id) for id in ids]
        these = {"_id": {"$in": named}, "biz_type": biz_type, "resource_id": resource_id}
        await store.update_many(these, {"$set": {"kept": True}}, unversioned=True)
        return [
            {"id": str(one["id"]), "file_name": one["file_name"], "object_key": one["object_key"]}
            for one in await store.find(these, sort="created_at")
        ]

    async def uploaded(self, key: str, user_id: int) -> bool:
        """Return whether this person has uploaded a file, which is stored under this key."""
        theirs = {"_id": key.rpartition("/")[2], "uploader_id": user_id, "state": "stored"}
        return await self._database.store(OBJECTS).find_one(theirs) is not None

    async def read(self, req: Request, key: str, most: int) -> bytes:
        """Return the content of a file. Raises 40400 if the caller may not read it, and 41300 if it is too large."""
        file = await get_readable_file(req, key)
        if file["size"] > most:
            raise ApiError(TOO_LARGE, FILE_TOO_LARGE.filled(bytes=most))
        return await req.part(Files).read(file)

    async def attach(self, req: Request, key: str, biz_type: str, resource_id: str) -> None:
        """Attach a file to a record that the caller has just made. Raises 40400 if they may not read it."""
        await attach(req, await get_readable_file(req, key), biz_type, resource_id)


async def get_readable_file(req: Request, key: str) -> StoredFile:
    """Return the file of this key. Raises 40400 if there is none, or the caller may not read it."""
    files = req.part(Files)
    file = await files.find(key)
    if not await may_read(req, file):
        raise ApiError(NOT_FOUND)
    return await files.settle(file)


async def attach(
    req: Request, file: StoredFile, biz_type: str, resource_id: str, name: str | None = None
) -> AttachmentRecord:
    """Bind a file to a record, under its own name unless one is given. Raises 40400 for a file that is gone."""
    public = file["visibility"] == "public"
    values = {
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

    async def work() -> AttachmentRecord:
        if not await req.part(Files).mark_attached(file["id"]):
            raise ApiError(NOT_FOUND)
        return await req.store(ATTACHMENTS).create(values)

    return await req.transaction(work)


async def get_visible_record(req: Request, biz_type: str, resource_id: str) -> dict[str, Any]:
    """Return the business record. Raises 40400 if the caller may not see it, 40001 if no plugin registered the type.

    Seeing a record takes both a permission to list or read such records and a data scope that includes it. For requests
    that only read, it is enough that the caller is asked about the record.
    """
    collection = req.part(Catalogue).biz_types.get(biz_type)
    if collection is None:
        raise invalid("biz_type", "enum")
    if not await _has_permission(req, collection, ("GET",)) and not await _is_asked(req, collection, resource_id):
        raise ApiError(NOT_FOUND)
    return await req.store(collection).get(resource_id)


async def _is_asked(req: Request, collection: Collection, resource_id: str) -> bool:
    passage = req.passage
    return passage is not None and await pass_for(passage, req.service, collection, resource_id) is not None


async def may_change(req: Request, biz_type: str) -> bool:
    """Return whether the caller may change records of this type that they can see."""
    return await _has_permission(req, req.part(Catalogue).biz_types[biz_type], _CHANGES)


async def _can_see_any(req: Request, biz_type: str, ids: Sequence[str]) -> bool:
    collection = req.part(Catalogue).biz_types[biz_type]
    attached = {"_id": {"$in": [collection.parse_id(id) for id in ids]}}
    if await _has_permission(req, collection, ("GET",)) and await req.store(collection).count(attached) > 0:
        return True
    passage = req.passage
    if passage is None or not passage.concerns(collection):
        return False
    rows = await req.system_store(collection).find(attached, limit=_MOST_PASSED, fields=passage.fields_of(collection))
    return await passage.admits(collection, *rows)


async def _has_permission(req: Request, collection: Collection, methods: Sequence[str]) -> bool:
    authorizer = req.part(Authorizer)
    for route in req.part(Catalogue).routes:
        matches = route.collection == collection.name and route.method in methods
        if matches and await refusal(req.actor, route, authorizer) is None:
            return True
    return False
