"""Tables as CSV and XLSX. Everything here blocks: call it in a thread.

A cell that a spreadsheet would run as a formula gets an apostrophe in front; reading takes it off again, so what was
written is read back as it was.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol, cast

import orjson

Cells = Sequence[str | float | None]
CSV_MEDIA = "text/csv; charset=utf-8"
XLSX_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# OWASP: CSV injection. Full-width signs are read as plain ones in East Asian editions, blanks before them are skipped
_FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
_RUN = re.compile(rf"['\s]*{_FORMULA}")
_GUARDED = re.compile(rf"'['\s]*{_FORMULA}")
_CHUNK = 64 << 10
_ZIP = b"PK\x03\x04"
_CONVERT_SECONDS = 300
_ROOT = Path(__file__).parents[2]


class Unreadable(ValueError):
    """The file is neither CSV nor XLSX."""


def harmless(cell: str | float | None) -> str | float | None:
    """A cell that no spreadsheet runs."""
    return f"'{cell}" if isinstance(cell, str) and _RUN.match(cell) else cell


def plain(cell: str) -> str:
    """What `harmless` was given."""
    return cell[1:] if _GUARDED.match(cell) else cell


class Writer(Protocol):
    """A table under way."""

    def add(self, rows: Sequence[Cells]) -> bytes:
        """Append rows; what can be sent of them already."""

    def end(self) -> Iterator[bytes]:
        """The rest."""

    def close(self) -> None:
        """Give back what it holds, whether or not it came to the end."""


class CsvWriter:
    """CSV in UTF-8 with a byte order mark, without which Excel takes it for another encoding."""

    def __init__(self) -> None:
        self._mark = "\ufeff"

    def add(self, rows: Sequence[Cells]) -> bytes:
        """The rows, ready to be sent."""
        text = io.StringIO(newline="")
        text.write(self._mark)
        self._mark = ""
        csv.writer(text).writerows([harmless(cell) for cell in row] for row in rows)
        return text.getvalue().encode()

    def end(self) -> Iterator[bytes]:
        """Nothing is left."""
        return iter(())

    def close(self) -> None:
        """Nothing was opened."""


class XlsxWriter:
    """XLSX, written to a file by a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "table.xlsx"
        command = [sys.executable, "-m", "plugins.crm.rows_to_xlsx", str(self._path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=_ROOT)  # noqa: S603
        self._rows = cast(IO[bytes], self.process.stdin)

    def add(self, rows: Sequence[Cells]) -> bytes:
        """Keep the rows; nothing can be sent before the end."""
        self._rows.write(orjson.dumps([[harmless(cell) for cell in row] for row in rows]) + b"\n")
        return b""

    def end(self) -> Iterator[bytes]:
        """The whole file. Raises `RuntimeError` where it could not be made."""
        self._rows.close()
        if self.process.wait():
            raise RuntimeError(f"the workbook was not written: {self.process.returncode}")
        with self._path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk

    def close(self) -> None:
        """Nobody waits for the table any more, or it is sent."""
        self.process.kill()
        self.process.wait()
        with suppress(BrokenPipeError):
            self._rows.close()


def read_table(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of a CSV or XLSX file, empty lines left out. Raises `Unreadable`."""
    with path.open("rb") as file:
        if file.read(4) == _ZIP:
            yield from _read_xlsx(path)
            return
    with _opened(path) as text:
        reader = csv.reader(text, strict=True)
        try:
            # counted as a spreadsheet does: a cell may have lines of its own
            for number, row in enumerate(reader, start=1):
                if any(cell.strip() for cell in row):
                    yield number, [plain(cell) for cell in row]
        except csv.Error as error:
            raise Unreadable(str(error)) from error


def _opened(path: Path) -> IO[str]:
    """As UTF-8, or as GB 18030, in which Chinese editions of Excel write CSV."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            with path.open(encoding=encoding) as text:
                while text.read(_CHUNK):
                    pass
            return path.open(encoding=encoding, newline="")
        except UnicodeDecodeError:
            continue
    raise Unreadable("encoding")


def _read_xlsx(path: Path) -> Iterator[tuple[int, list[str]]]:
    # in a process of its own: it reads the whole sheet into memory, and a crafted file may be huge unpacked
    converted = path.with_suffix(".csv")
    command = [sys.executable, "-m", "plugins.crm.xlsx_to_csv", str(path), str(converted)]
    try:
        subprocess.run(command, check=True, timeout=_CONVERT_SECONDS, capture_output=True, cwd=_ROOT)  # noqa: S603
    except subprocess.SubprocessError as error:
        raise Unreadable("xlsx") from error
    with converted.open(encoding="utf-8", newline="") as text:
        for row in csv.reader(text):
            yield int(row[0]), [plain(cell) for cell in row[1:]]


def as_text(value: Any) -> str:
    """A cell of a workbook as the text that a person sees."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
