"""Tables that cost far more than their size, and many at once: refused, or handled without harm to other requests."""

from __future__ import annotations

import asyncio
import io
import struct
import time
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from handlers.tables.archives import NoWorkbook, TooLargeUnpacked, check_archive
from plugins.boot.runtime import Running
from plugins.crm.customer_tables import IMPORT_ROWS
from plugins.testing import Client, People, Reply, expect, unique
from tests.api.crm.sales import CUSTOMERS, customer, seller
from tests.api.crm.tables import as_csv, as_xlsx, form, import_table, read_xlsx
from tests.support.processes import workers

pytestmark = pytest.mark.gen_test(timeout=60)
SHARED, SHEET = "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"
LETTERS = 200_000


async def imported(client: Client, content: bytes, **flags: str) -> Reply:
    raw, headers = form({**flags, "file": ("table", content)})
    return await client.post(f"{CUSTOMERS}/import", raw=raw, headers=headers)


def changed(parts: dict[str, bytes], rows: int = 1) -> bytes:
    """A workbook with some parts replaced."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(as_xlsx([["name"]] * rows))) as workbook,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as other,
    ):
        for part in workbook.namelist():
            other.writestr(part, parts.get(part) or workbook.read(part))
    return target.getvalue()


def one_text_in_every_cell(length: int, cells: int) -> bytes:
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    texts = f"<sst {space}><si><t>name</t></si><si><t>{'x' * length}</t></si></sst>"
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>{int(n > 1)}</v></c></row>' for n in range(1, cells + 1))
    sheet = f"<worksheet {space}><sheetData>{rows}</sheetData></worksheet>"
    return changed({SHARED: texts.encode(), SHEET: sheet.encode()})


def far_apart() -> bytes:
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    return changed({SHEET: f"<worksheet {space}><sheetData>{cells}</sheetData></worksheet>".encode()})


def lying(workbook: bytes) -> bytes:
    """The same archive with a directory that claims one byte for each part."""
    raw = bytearray(workbook)
    at = raw.find(b"PK\x01\x02")
    while at >= 0:
        raw[at + 24 : at + 28] = struct.pack("<L", 1)
        at = raw.find(b"PK\x01\x02", at + 1)
    return bytes(raw)


@cache
def padded() -> bytes:
    return changed({SHEET: b"<worksheet>" + b" " * (400 << 20) + b"</worksheet>"})


BOMBS: dict[str, Callable[[], bytes]] = {  # made in the test alone: each takes up to a second
    "one text in every cell": lambda: one_text_in_every_cell(LETTERS, 2000),
    "a short text in very many cells": lambda: one_text_in_every_cell(30_000, 100_000),
    "a large part": padded,
    "a large part that says it is small": lambda: lying(padded()),
    "two cells far apart": far_apart,
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
async def test_a_small_file_that_is_huge_unpacked_is_refused(make: Callable[[], bytes], people: People) -> None:
    mine = await seller(people)
    reply = await imported(mine, make())
    assert reply.code in (41300, 41500)
    assert expect(await mine.get(f"{CUSTOMERS}/imports"))["items"] == []


def test_a_huge_directory_is_refused_at_once_and_without_memory(tmp_path: Path) -> None:
    path, took = tmp_path / "table", []
    path.write_bytes(padded())
    tracemalloc.start()
    for _ in range(3):
        began = time.process_time()
        with pytest.raises(TooLargeUnpacked):
            check_archive(path)
        took.append(time.process_time() - began)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (min(took) < 0.1, peak < 50 << 20) == (True, True)


def end_of_directory(size: int, offset: int = 0) -> bytes:
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, size, offset, 0)


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"PK\x03\x04", NoWorkbook),
        (b"PK\x03\x04" + b"x" * 200_000, NoWorkbook),
        (b"PK\x03\x04" + end_of_directory(5 << 20), TooLargeUnpacked),
        (b"PK\x03\x04" + end_of_directory(100, 1000), NoWorkbook),
        (b"PK\x03\x04" + b"PK\x06\x07" + b"\0" * 16 + end_of_directory(0), NoWorkbook),
        (as_xlsx([["name"]])[:-1], NoWorkbook),
    ],
)
def test_an_archive_with_another_directory_is_not_a_workbook(
    content: bytes, refusal: type[Exception], tmp_path: Path
) -> None:
    (tmp_path / "table").write_bytes(content)
    with pytest.raises(refusal):
        check_archive(tmp_path / "table")


# -- headers and rows


@pytest.mark.parametrize("header", ["name", "", "unknown"])
async def test_a_header_of_very_many_columns_takes_linear_time(header: str, people: People) -> None:
    mine = await seller(people)
    began = time.process_time()
    reply = await imported(mine, ",".join([header] * 60_000 + ["end"]).encode())
    assert time.process_time() - began < 2
    expect(reply, 40001)
    assert len(reply.data["errors"]) <= 20


async def test_rows_that_are_far_too_long_fail_alone(people: People) -> None:
    mine = await seller(people)
    long = [["x" * 120_000, "y" * 120_000]] * 200
    report = await import_table(mine, as_csv([["name", "remark"], *long, ["short", ""]]))
    assert (report["total"], report["created"], report["failed"]) == (201, 1, 200)
    assert {(error["column"], error["rule"]) for error in report["errors"]} == {
        ("name", "maxLength"),
        ("remark", "maxLength"),
    }


async def test_rows_of_very_many_cells_fail_alone(people: People) -> None:
    mine = await seller(people)
    wide = [["x"] * 130_000] * 20
    report = await import_table(mine, as_csv([["name"], *wide, ["a"], ["b", *[""] * 130_000, "x"]]))
    assert (report["created"], report["failed"]) == (1, 21)
    assert {error["rule"] for error in report["errors"]} == {"unknown"}
    assert len(report["errors"]) <= 21 * 20


@pytest.mark.parametrize(
    ("column", "cell", "rule"),
    [
        ("owner_id", "0" * 200 + "1", "type"),
        ("owner_id", "1_0", "type"),
        ("owner_id", "٣", "type"),
        ("location.lng", "1_0", "type"),
        ("location.lng", "nan", "type"),
        ("tags", "[" * 3000, "maxLength"),
        ("tags", "[" * 30_000, "maxLength"),
        ("phone", "1" * 100_000, "maxLength"),
    ],
)
async def test_cells_are_not_confused_with_each_other(column: str, cell: str, rule: str, people: People) -> None:
    mine = await seller(people)
    report = await import_table(mine, as_csv([["name", column], ["a", cell]]))
    assert report["created"] == 0
    assert rule in {error["rule"] for error in report["errors"]}


async def test_a_large_atomic_import_is_refused_before_rows_are_queued(people: People, tradewind: Running) -> None:
    mine = await seller(people)
    kept = await tradewind.service.database.store(IMPORT_ROWS).count()
    reply = await imported(mine, as_csv([["name"], *[[f"n{number}"] for number in range(5001)]]), atomic="true")
    expect(reply, 40001)
    assert reply.fields == {"atomic"}
    assert await tradewind.service.database.store(IMPORT_ROWS).count() == kept
    assert expect(await mine.get(f"{CUSTOMERS}/imports"))["items"] == []


# -- many at once


async def most_workers(ended: asyncio.Event) -> int:
    most = 0
    while not ended.is_set():
        most = max(most, len(workers()))
        await asyncio.sleep(0.02)
    return most


async def test_sixty_concurrent_exports_use_few_processes_and_others_are_refused(people: People) -> None:
    mine, other, ended = await seller(people), await seller(people), asyncio.Event()
    await customer(other, name=unique("theirs"))
    before, counting = len(workers()), asyncio.create_task(most_workers(ended))
    exports = [asyncio.create_task(mine.get(f"{CUSTOMERS}/export?format=xlsx")) for _ in range(60)]
    theirs = await other.get(f"{CUSTOMERS}/export?format=xlsx")
    replies = await asyncio.gather(*exports)
    ended.set()
    assert await counting - before <= 2
    assert len(read_xlsx(theirs.body)) == 2
    codes = Counter(reply.status for reply in replies)
    assert set(codes) <= {200, 429, 503}
    assert codes[200] >= 1
    assert all(int(reply.headers["Retry-After"]) > 0 for reply in replies if reply.status != 200)


async def test_imports_take_no_thread_that_files_are_served_by(people: People) -> None:
    table = as_xlsx([["unknown", "remark"], *[[f"n{number}", "x" * 50] for number in range(40_000)]])
    sellers = [await seller(people) for _ in range(4)]
    imports = [asyncio.create_task(imported(one, table)) for one in sellers * 2]
    waits = []
    while not all(one.done() for one in imports):
        began = time.perf_counter()
        waits.append(await asyncio.to_thread(time.perf_counter) - began)
        await asyncio.sleep(0.02)
    assert max(waits) < 1
    for reply in await asyncio.gather(*imports):
        expect(reply, 40001)
