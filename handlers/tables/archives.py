"""Checks of a workbook before it is unpacked: a few kilobytes may become gigabytes (ECMA-376, APPNOTE.TXT)."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import BinaryIO

ZIP = b"PK\x03\x04"
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 1_048_576, 16_384, 32_767  # of a worksheet (ECMA-376, and what Excel accepts)
_DIRECTORY_BYTES = 4 << 20
MAX_UNPACKED = 1 << 30
_ALWAYS_ACCEPTED = 64 << 20  # accepted whatever the compression ratio
_MAX_RATIO = 100  # written texts compress to a tenth, empty XML to a thousandth
_END = struct.Struct("<4s4H2LH")  # the end of the directory (APPNOTE.TXT 4.3.16)
_END_MARK, _ZIP64_MARK, _ZIP64_BYTES = b"PK\x05\x06", b"PK\x06\x07", 20
_COMMENT_BYTES = 0xFFFF


class NoWorkbook(ValueError):
    """The file is not an archive of the kind that spreadsheet programs write."""


class TooLargeUnpacked(ValueError):
    """The archive unpacks to far more than a workbook should."""


def is_archive(path: Path) -> bool:
    """Return whether the file begins like a ZIP archive, as every XLSX file does."""
    with path.open("rb") as file:
        return file.read(len(ZIP)) == ZIP


def check_archive(path: Path) -> None:
    """Check the directory at the end of an archive; nothing else is read.

    Raises `NoWorkbook` for a damaged archive, `TooLargeUnpacked` for one that unpacks to too much.
    """
    with path.open("rb") as file:
        _check_directory(file)
        try:
            with zipfile.ZipFile(file) as archive:
                unpacked = sum(part.file_size for part in archive.infolist())
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise NoWorkbook("directory") from error
        if unpacked > min(MAX_UNPACKED, max(_ALWAYS_ACCEPTED, _MAX_RATIO * path.stat().st_size)):
            raise TooLargeUnpacked


def _check_directory(file: BinaryIO) -> None:
    """Check the size of the directory, which is read as a whole."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END.size - _COMMENT_BYTES))
    tail = file.read()
    at = tail.rfind(_END_MARK)
    large = tail[max(0, at - _ZIP64_BYTES) : max(0, at)].startswith(_ZIP64_MARK)  # for archives beyond 4 GiB
    if at < 0 or len(tail) - at < _END.size or large:
        raise NoWorkbook("end of directory")
    if _END.unpack_from(tail, at)[5] > _DIRECTORY_BYTES:
        raise TooLargeUnpacked
    file.seek(0)
