"""Turns the first sheet of a workbook into CSV, each row behind its number: `python -m plugins.crm.xlsx_to_csv IN OUT`.

A process of its own, with a limit on memory: what reads workbooks holds all of them.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
from pathlib import Path

from python_calamine import CalamineWorkbook

from plugins.crm.sheets import as_text

MAX_BYTES = 2 << 30


def convert(source: Path, target: Path) -> None:
    """Write the rows that are not empty."""
    sheet = CalamineWorkbook.from_path(str(source)).get_sheet_by_index(0)
    first = (sheet.start or (0, 0))[0]
    with target.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        for number, row in enumerate(sheet.iter_rows(), start=1 if sheet.start is None else first + 1):
            cells = [as_text(value) for value in row]
            if any(cell.strip() for cell in cells):
                writer.writerow([number, *cells])


if __name__ == "__main__":
    os.nice(10)  # requests come first
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
