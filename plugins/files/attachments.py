"""Attachments: files bound to business records. Whoever can see the record, and nobody else, sees its attachments."""

from __future__ import annotations

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    SIGNED_IN,
    ApiError,
    Page,
    Refusal,
    Request,
    Route,
    conflicts,
    invalid,
    route,
)
from plugins.api.records import FINAL, Catalogue
from plugins.files.access import attach, get_readable_file, get_visible_record, may_change
from plugins.files.messages import EVIDENCE, KEPT, NO_ATTACHMENT, NOT_READABLE, NOT_YOURS_TO_DELETE, RECORD_UNSEEN
from plugins.files.names import check_key
from plugins.files.objects import Files
from plugins.files.record_types import AttachmentRecord
from plugins.files.records import ATTACHMENT, ATTACHMENT_BODY, ATTACHMENT_QUERY, ATTACHMENTS


async def create(req: Request) -> AttachmentRecord:
    """Bind a file that the caller may read to a record that they can see. The sweep never removes an attached file."""
    body = req.body
    record = await get_visible_record(req, body["biz_type"], body["resource_id"])
    file = await get_readable_file(req, _resolve_key(req))
    if body.get("visibility", file["visibility"]) != file["visibility"]:
        raise invalid("visibility", "invalid")
    return await attach(req, file, body["biz_type"], str(record["id"]), body.get("file_name"))


def _resolve_key(req: Request) -> str:
    """Return the key of the body: given as `object_key`, or by the `url` of a public file."""
    key, url = req.body.get("object_key"), req.body.get("url")
    if not key and not url:
        raise invalid("object_key", "required")
    if not url:
        return str(key)
    linked = check_key(url.rpartition("/")[2])
    if url != req.part(Files).storage.public_url(linked):
        raise ApiError(NOT_FOUND)
    if key and key != linked:
        raise invalid("url", "invalid")
    return linked


async def list_attachments(req: Request) -> Page:
    """Return the attachments of a record. Raises 40400 if the caller cannot see the record."""
    record = await get_visible_record(req, req.query["biz_type"], req.query["resource_id"])
    of_record = {"biz_type": req.query["biz_type"], "resource_id": str(record["id"])}
    return await req.store(ATTACHMENTS).page(req.query, of_record)


async def delete(req: Request) -> None:
    """Delete an attachment; the file stays.

    The caller must see the record, and must have uploaded or attached the file, or be allowed to change such records
    (40300 otherwise). Raises 40901 for a record that is submitted or decided: its attachments are evidence.
    """
    attachment = await req.store(ATTACHMENTS).get(req.path["id"])
    biz_type = attachment["biz_type"]
    collection = req.part(Catalogue).biz_types.get(biz_type)
    if collection is None:
        raise ApiError(NOT_FOUND)
    record = await get_visible_record(req, biz_type, attachment["resource_id"])
    own = req.actor.user_id in (attachment["uploader"]["id"], attachment["creator_id"])
    if not own and not await may_change(req, biz_type):
        raise ApiError(FORBIDDEN, NOT_YOURS_TO_DELETE)

    async def work() -> None:
        """Wait for whoever submits the record in this moment."""
        await req.service.database.lock_all(collection, record["id"])
        now = await req.system_store(collection).get(record["id"])
        if collection.states is not None and collection.states.holds_evidence(now):
            raise ApiError(CONFLICT, EVIDENCE)
        await req.store(ATTACHMENTS).delete(attachment["id"], where={"kept": {"$ne": True}}, reason=KEPT)

    await req.transaction(work)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/attachments",
        list_attachments,
        summary="List the attachments of a record",
        access=SIGNED_IN,
        query=ATTACHMENT_QUERY,
        returns=ATTACHMENT,
        paged=True,
        refusals=(Refusal(NOT_FOUND, hint=RECORD_UNSEEN),),
        tag="files",
    ),
    route(
        "POST /api/attachments",
        create,
        summary="Attach a file to a record",
        access=SIGNED_IN,
        body=ATTACHMENT_BODY,
        returns=ATTACHMENT,
        refusals=(Refusal(NOT_FOUND, hint=RECORD_UNSEEN), Refusal(NOT_FOUND, hint=NOT_READABLE)),
        tag="files",
    ),
    route(
        "DELETE /api/attachments/{id}",
        delete,
        summary="Detach a file from a record",
        description=FINAL,
        access=SIGNED_IN,
        refusals=(
            Refusal(NOT_FOUND, hint=NO_ATTACHMENT),
            Refusal(FORBIDDEN, NOT_YOURS_TO_DELETE, exempt_super=True),
            *conflicts(EVIDENCE, KEPT),
        ),
        tag="files",
    ),
)
