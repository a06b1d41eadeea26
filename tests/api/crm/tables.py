"""Tables as clients send and receive them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import xlsxwriter
from python_calamine import CalamineWorkbook

from plugins.testing import Client, expect

CUSTOMERS = "/api/v1/crm/customers"
BOUNDARY = "tables-boundary"
Part = str | tuple[str, bytes]


def form(parts: Mapping[str, Part]) -> tuple[bytes, dict[str, str]]:
    """A multipart body and its headers. A file is a pair of name and content."""
    body = b""
    for name, part in parts.items():
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
        head += f'; filename="{part[0]}"' if isinstance(part, tuple) else ""
        body += head.encode() + b"\r\n\r\n" + (part[1] if isinstance(part, tuple) else part.encode()) + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def as_csv(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def as_xlsx(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as a workbook."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    return file.getvalue()


def read_csv(raw: bytes) -> list[list[str]]:
    """The rows of a CSV file."""
    return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def read_xlsx(raw: bytes) -> list[list[Any]]:
    """The rows of a workbook's first sheet."""
    return CalamineWorkbook.from_filelike(io.BytesIO(raw)).get_sheet_by_index(0).to_python()


async def import_table(client: Client, content: bytes, name: str = "customers.csv", **flags: str) -> dict[str, Any]:
    """The report of an import."""
    raw, headers = form({**flags, "file": (name, content)})
    report: dict[str, Any] = expect(await client.post(f"{CUSTOMERS}/import", raw=raw, headers=headers))
    return report
