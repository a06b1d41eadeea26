"""Makes a workbook of rows: `python -m plugins.crm.rows_to_xlsx OUT`; stdin has a JSON array of rows on each line.

A process of its own: what writes workbooks is Python throughout, and a thread of it would take turns with the event loop.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import orjson
import xlsxwriter  # type: ignore[import-untyped]

MAX_ROWS = 1_048_576  # of a worksheet (ECMA-376)


def write(lines: Iterable[bytes], target: Path) -> None:
    """Write the rows to a file as they come: memory does not grow with them."""
    book = xlsxwriter.Workbook(str(target), {"constant_memory": True, "tmpdir": str(target.parent)})
    sheet = book.add_worksheet()
    rows = (row for line in lines for row in orjson.loads(line))
    for number, row in enumerate(rows):
        if number == MAX_ROWS:
            # the writer would leave them out without a word: no table is better than one that is short
            raise SystemExit(f"a worksheet holds no more than {MAX_ROWS} rows")
        for column, cell in enumerate(row):
            if isinstance(cell, str) or (cell is not None and float(f"{cell:.16G}") != cell):
                # the writer keeps 16 digits of a number
                sheet.write_string(number, column, str(cell))
            elif cell is not None:
                sheet.write_number(number, column, cell)
    book.close()


if __name__ == "__main__":
    os.nice(10)  # requests come first
    write(sys.stdin.buffer, Path(sys.argv[1]))
