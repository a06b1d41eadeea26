"""The collections of files and attachments, and the shapes of requests and responses."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    StateMachine,
    Transition,
    boolean,
    choice,
    integer,
    mapping,
    shape,
    text,
    timestamp,
)
from plugins.files.names import MAX_NAME
from plugins.files.record_types import AttachmentRecord, StoredFile

# `arriving`: being uploaded; `expected`: a signed address was given out; `leaving`: being removed by the sweep
FILE_STATES = StateMachine(
    name="files_object",
    initial="arriving",
    states={
        "arriving": ("上传中", "Uploading"),
        "expected": ("待上传", "Awaiting upload"),
        "stored": ("已存储", "Stored"),
        "leaving": ("清理中", "Being removed"),
    },
    transitions={
        "expect": Transition("arriving", "expected"),
        "arrive": Transition("expected", "arriving"),
        # also from `stored`, because a client or the sweep may repeat what was interrupted
        "store": Transition(("arriving", "expected", "stored"), "stored"),
        "leave": Transition(("arriving", "expected", "stored", "leaving"), "leaving"),
    },
    field="state",
)


VISIBILITIES = ("public", "private")
KEY_EXAMPLE = "20261120-0123456789abcdef0123456789abcdef.pdf"
_visibility = choice(*VISIBILITIES, label=("可见范围", "Visibility"), nullable=False)
_name = text(label=("文件名", "File name"), max_length=MAX_NAME, nullable=False, example="合同.pdf")
_key = text(label=("存储键", "Object key"), max_length=100, nullable=False, example=KEY_EXAMPLE)
_size = integer(
    label=("文件大小（字节）", "Size (bytes)"), minimum=0, nullable=False, description="In bytes.", example=12345
)
_media = text(label=("文件类型", "Content type"), max_length=100, nullable=False, example="application/pdf")
_address = text(max_length=2000, nullable=False)
_url = text(
    label=("直接链接", "Direct link"),
    max_length=500,
    description="Direct link of a public file; null for a private one.",
)

OBJECTS: Collection[StoredFile] = Collection(
    name="files_objects",
    title="StoredFile",
    plain=True,
    ids="text",
    fields={
        "visibility": _visibility,
        "name": _name,
        "size": _size,
        "content_type": _media,
        "sha256": text(max_length=64, description="Null for a file that was uploaded directly to S3."),
        "etag": text(max_length=200, description="ETag of this content in the storage."),
        "uploader_id": integer(minimum=0, nullable=False, ref="users", on_delete="keep"),
        "uploader_name": text(max_length=200),
        "attached": boolean(
            nullable=False, description="Whether the file is in use; files that are not are removed after some time."
        ),
        "state": FILE_STATES.choice(),
        "writer": text(max_length=64, description="The process that writes the file during the upload."),
        "created_at": timestamp(nullable=False, sort=True),
    },
    indexes=(Index("attached", "created_at"), Index("state", "writer")),
    states=FILE_STATES,
)

UPLOADER = shape(
    "Uploader",
    id=integer(label=("ID", "ID"), minimum=0, nullable=False),
    name=text(label=("姓名", "Name"), max_length=200),
)

ATTACHMENTS: Collection[AttachmentRecord] = Collection(
    name="files_attachments",
    title="AttachmentRecord",
    noun=Message("附件", "attachment"),
    fields={
        "biz_type": text(label=("业务类型", "Business type"), max_length=64, nullable=False),
        "resource_id": text(label=("所属单据", "Record"), max_length=100, nullable=False),
        "file_name": _name.but(sort=True),
        "object_key": _key,
        "url": _url,
        "visibility": _visibility,
        "size": _size,
        "content_type": _media,
        "uploader": UPLOADER.but(label=("上传人", "Uploader")),
    },
    indexes=(
        Index("biz_type", "resource_id", "-created_at"),
        Index("object_key", "biz_type"),
    ),
    internal=("kept",),  # whether something that stays, such as a comment, names it
)

ATTACHMENT = shape(
    "Attachment", **{name: ATTACHMENTS.all_fields[name] for name in ("id", *ATTACHMENTS.fields, "created_at")}
)
_OF_A_RECORD = {
    "biz_type": text(max_length=64, required=True, example="CUSTOMER", description="Type of the business record."),
    "resource_id": text(
        max_length=100, required=True, example="65f0c0ffee65f0c0ffee65f0", description="`id` of the business record."
    ),
}
ATTACHMENT_BODY = shape(
    "AttachmentCreate",
    **_OF_A_RECORD,
    file_name=_name.but(description="Defaults to the file's own name."),
    object_key=text(
        max_length=100, description="Key of the file; required unless `url` is given.", example=KEY_EXAMPLE
    ),
    url=text(max_length=500, description="Direct link of a public file, instead of `object_key`."),
    visibility=_visibility.but(description="If given, must be the visibility of the file."),
)
ATTACHMENT_QUERY = {
    **_OF_A_RECORD,
    **{
        name: field
        for name, field in ATTACHMENTS.list_query.items()
        if name in ("page", "page_size", "sort", "with_total", "cursor")
    },
}

UPLOADED = shape(
    "FileUpload",
    visibility=_visibility,
    url=_url,
    objectKey=_key,
    fileName=_name,
    size=_size,
    contentType=_media,
    sha256=text(max_length=64, nullable=False),
)
UPLOAD_FORM = shape(
    "FileUploadForm",
    file=text(format="binary", required=True, description="The file, with its name."),
    visibility=choice(*VISIBILITIES, default="private", description="May come before or after `file`."),
)
SIGNED_UPLOAD = shape(
    "SignedUpload",
    uploadUrl=_address,
    method=choice("PUT", nullable=False),
    headers=mapping(text(nullable=False), nullable=False, description="To be sent unchanged with the upload."),
    objectKey=_key,
    url=_url,
    expiresIn=integer(minimum=1, nullable=False, description="In seconds."),
)
UPLOAD_QUERY = {
    "file_name": text(max_length=500, required=True, example="合同.pdf"),
    "content_type": text(max_length=100, required=True, example="application/pdf"),
    "size": integer(
        minimum=1, required=True, example=12345, description="In bytes; the upload must have exactly this size."
    ),
    "visibility": choice(*VISIBILITIES, default="private", example="private"),
}
SIGNED_DOWNLOAD = shape(
    "SignedDownload", url=_address, expiresIn=integer(minimum=1, nullable=False, description="In seconds.")
)
KEY_QUERY = {"object_key": text(max_length=500, required=True, example=KEY_EXAMPLE)}
SIGNATURE_QUERY = {
    "expires": integer(
        minimum=0, example=1795248000, description="From a signed address: when it expires, in seconds since 1970."
    ),
    "signature": text(max_length=100, example="0" * 64, description="The signature in a signed address."),
}
