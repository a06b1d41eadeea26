"""Files and forms for tests."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from PIL import Image

from plugins.testing import Client, Reply, expect, unique

BOUNDARY = "the-boundary-of-a-test"
Field = tuple[str, str | None, bytes]


def image(kind: str = "PNG", size: tuple[int, int] = (8, 8), **options: Any) -> bytes:
    """A small image."""
    buffer = io.BytesIO()
    Image.new("RGB", size, "red").save(buffer, kind, **options)
    return buffer.getvalue()


def archive(*names: str) -> bytes:
    """A ZIP with empty files of these names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        for name in names:
            opened.writestr(name, b"")
    return buffer.getvalue()


def drawing(inside: str = "", root: str = "") -> bytes:
    """An SVG."""
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {space} {root}>{inside}</svg>".encode()


PNG = image()
PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
DOCX = archive("[Content_Types].xml", "_rels/.rels", "word/document.xml")
XLSX = archive("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml")
RAR = b"Rar!\x1a\x07\x01\x00"  # the first bytes of a type whose content is not checked


def form(*fields: Field, end: bytes = b"--", media: str = "application/octet-stream") -> tuple[bytes, dict[str, str]]:
    """A form of (name, file name, value), and the headers that go with it."""
    body = b"".join(_part(name, file_name, value, media) for name, file_name, value in fields)
    return body + b"--%b%b\r\n" % (BOUNDARY.encode(), end), {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"
    }


def _part(name: str, file_name: str | None, value: bytes, media: str) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
    if file_name is not None:
        head += f'; filename="{file_name}"\r\nContent-Type: {media}'
    return head.encode() + b"\r\n\r\n" + value + b"\r\n"


async def send(client: Client, content: bytes, name: str, visibility: str = "private", **options: Any) -> Reply:
    """Upload a file and return the response."""
    raw, headers = form(("visibility", None, visibility.encode()), ("file", name, content))
    return await client.post("/api/upload", raw=raw, headers={**headers, **options.pop("headers", {})}, **options)


async def upload(client: Client, content: bytes, name: str, visibility: str = "private") -> dict[str, Any]:
    """Upload a file that is accepted."""
    stored: dict[str, Any] = expect(await send(client, content, name, visibility))
    return stored


async def note(client: Client, content: str = "") -> dict[str, Any]:
    """Upload a private text that no other test has."""
    return await upload(client, (content or unique("note")).encode(), "note.txt")


async def customer(client: Client) -> dict[str, Any]:
    """A new customer of this person."""
    created: dict[str, Any] = expect(await client.post("/api/v1/crm/customers", {"name": unique("customer")}))
    return created


async def attach(client: Client, record: dict[str, Any], stored: dict[str, Any], biz_type: str = "CUSTOMER") -> Reply:
    """Attach a file to a record."""
    body = {"biz_type": biz_type, "resource_id": str(record["id"]), "object_key": stored["objectKey"]}
    return await client.post("/api/attachments", body)
