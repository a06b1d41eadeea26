"""Reads the Northwind CSV files line by line and repairs obvious faults.

Pure: no network, nothing printed. What was repaired, and what could not be, is noted for the person who runs it.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

ADDRESS = ("address", "city", "region", "postalCode", "country")
COLUMNS = {  # the columns used of each file; a file without one of them cannot be used
    "regions": ("regionID", "regionDescription"),
    "territories": ("territoryID", "regionID"),
    "employee-territories": ("employeeID", "territoryID"),
    "employees": ("employeeID", "firstName", "lastName", "title", "hireDate"),
    "customers": ("customerID", "companyName", "contactName", "contactTitle", *ADDRESS, "phone", "fax"),
    "orders": ("orderID", "customerID", "employeeID", "orderDate", "requiredDate", "shippedDate", "shipName"),
    "order-details": ("orderID", "productID", "unitPrice", "quantity", "discount"),
    "suppliers": ("supplierID", "companyName", "contactName", *ADDRESS, "phone"),
    "categories": ("categoryID", "categoryName"),
    "products": (
        "productID",
        "productName",
        "supplierID",
        "categoryID",
        "quantityPerUnit",
        "unitPrice",
        "unitsInStock",
        "unitsOnOrder",
        "discontinued",
    ),
}
LEFT_OVER = ""  # the key under which a line that cannot be repaired keeps the text after its trusted columns


class DataError(Exception):
    """The folder cannot be used; the message is one line for a person to read."""


class Note(NamedTuple):
    """Something that the person who runs the import should know; `line` counts from 1."""

    kind: Literal["mended", "reported", "decided"]
    file: str
    line: int
    text: str


class Line(NamedTuple):
    """One record of a file: its line number and its cells by column name, `NULL` as an empty string."""

    number: int
    cells: dict[str, str]


def rejoin(cells: list[str], width: int) -> list[str] | None:
    """Undo the split that an unquoted comma caused, or return None if it is not clear which comma that was.

    A comma within a text is followed by a space, and a comma between cells never is. So a cell that begins with a space
    belongs to the one before it.
    """
    whole: list[str] = []
    for cell in cells:
        if whole and cell.startswith(" "):
            whole[-1] += "," + cell
        else:
            whole.append(cell)
    return whole if len(whole) == width else None


def lines_of(folder: Path, name: str, notes: list[Note], trusted: int = 0) -> Iterator[Line]:
    """Yield the records of one file. A line that cannot be repaired is reported.

    Its first `trusted` columns are still used, and the rest of it becomes one text under LEFT_OVER. If `trusted` is 0,
    the line is left out.
    """
    file = f"{name}.csv"
    rows = _rows(folder / file)
    header = [_clean(column) for column in rows[0][1]] if rows else []
    missing = [column for column in COLUMNS[name] if column not in header]
    if missing:
        raise DataError(f"{folder / file} has no column {', '.join(missing)}")
    for number, cells in rows[1:]:
        whole = cells if len(cells) <= len(header) else rejoin(cells, len(header))
        if whole is not None and len(whole) == len(header):
            if whole is not cells:
                notes.append(Note("mended", file, number, "unquoted comma, cells joined again"))
            yield Line(number, dict(zip(header, map(_clean, whole), strict=True)))
            continue
        usable = 0 < trusted <= len(cells)
        kept = f"only {', '.join(header[:trusted])} taken from it" if usable else "left out"
        notes.append(Note("reported", file, number, f"{len(cells)} cells instead of {len(header)}, {kept}"))
        if usable:
            known = dict.fromkeys(header, "") | dict(zip(header, map(_clean, cells[:trusted]), strict=False))
            yield Line(number, known | {LEFT_OVER: ",".join(cells[trusted:])})


def day_of(cell: str) -> str | None:
    """Return the day of a moment such as `1996-07-04 00:00:00.000`, or None if there is none."""
    found = re.match(r"\d{4}-\d\d-\d\d(?= |$)", cell)
    return found.group() if found else None


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the line number and the raw cells of every line that is not blank, the header first."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            return [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from None


def _clean(cell: str) -> str:
    text = unicodedata.normalize("NFC", " ".join(cell.split()))
    return "" if text == "NULL" else text
