"""Reads the Northwind CSV files and mends what is plainly broken in them. Pure: no network, nothing printed.

`read(folder)` gives regions, employees and customers ready to be sent, and a note for every line that
was mended, for every one that could not be, and for every choice the files leave open.
"""

import csv
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

ADDRESS = ("address", "city", "region", "postalCode", "country")
COLUMNS = {  # what is used of each file; without one of these nothing sensible can be made
    "regions": ("regionID", "regionDescription"),
    "territories": ("territoryID", "regionID"),
    "employee-territories": ("employeeID", "territoryID"),
    "employees": ("employeeID", "firstName", "lastName", "title"),
    "customers": ("customerID", "companyName", "contactName", "contactTitle", *ADDRESS, "phone", "fax"),
    "orders": ("orderID", "customerID", "employeeID", "shipName"),
}
LEFT_OVER = ""  # the key under which a line that cannot be mended keeps what follows its trusted columns


class DataError(Exception):
    """The folder cannot be used at all; the message is one line for a person to read."""


class Note(NamedTuple):
    """Something a reader of the result should know; `line` counts from 1."""

    kind: Literal["mended", "reported", "decided"]
    file: str
    line: int
    text: str


class Line(NamedTuple):
    """One record of a file: its line number and its cells by column name, `NULL` as an empty string."""

    number: int
    cells: dict[str, str]


@dataclass(frozen=True)
class Employee:
    """A person of the sales force; `region` is None at the root of the company."""

    number: int
    username: str
    name: str
    title: str
    role: str
    region: str | None


@dataclass(frozen=True)
class Customer:
    """A customer as the service takes it, and the number of the employee who creates it."""

    code: str
    name: str
    phone: str
    address: str
    tags: tuple[str, ...]
    remark: str
    employee: int


@dataclass(frozen=True)
class Northwind:
    """All that the files say, in the order of the files."""

    regions: tuple[str, ...]
    employees: tuple[Employee, ...]
    customers: tuple[Customer, ...]
    notes: tuple[Note, ...]


def read(folder: Path) -> Northwind:
    """Everything in `folder`. Raises DataError for a file that is missing, unreadable or without a column."""
    notes: list[Note] = []
    lines = _lines(folder, "regions", notes)
    regions = {line.cells["regionID"]: line.cells["regionDescription"] for line in lines}
    employees = _employees(folder, regions, notes)
    customers = _customers(folder, employees, notes)
    return Northwind(tuple(regions.values()), employees, customers, tuple(notes))


def rejoin(cells: list[str], width: int) -> list[str] | None:
    """Undo the split that an unquoted comma made; None where it is not plain which comma that was.

    A comma inside a text has a space after it and a comma between cells never has, so the cell that
    begins with a space belongs to the one before it.
    """
    whole: list[str] = []
    for cell in cells:
        if whole and cell.startswith(" "):
            whole[-1] += "," + cell
        else:
            whole.append(cell)
    return whole if len(whole) == width else None


def _lines(folder: Path, name: str, notes: list[Note], trusted: int = 0) -> Iterator[Line]:
    """The records of one file. A line that cannot be mended is reported; its first `trusted` columns
    are still given, the rest of it as one text under LEFT_OVER; with `trusted` 0 it is left out."""
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


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The line number and the raw cells of every line that is not blank, the header first."""
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


def _employees(folder: Path, regions: dict[str, str], notes: list[Note]) -> tuple[Employee, ...]:
    territories = _territories(folder, notes)
    people = []
    for line in _lines(folder, "employees", notes):
        region = _most_covered(territories[line.cells["employeeID"]], regions)
        person = _employee(line, region)
        people.append(person)
        about = f"{person.name}, {person.title}: "
        if person.role == "representative" and "Representative" not in person.title:
            notes.append(Note("decided", "employees.csv", line.number, about + "held as a representative"))
        if region is None:
            text = "no territory, belongs to the company as a whole"
            notes.append(Note("reported", "employees.csv", line.number, about + text))
    for name, count in Counter(person.username for person in people).items():
        if count > 1:
            raise DataError(f"{folder / 'employees.csv'}: {count} people would be the user {name}")
    return tuple(people)


def _territories(folder: Path, notes: list[Note]) -> defaultdict[str, Counter[str]]:
    """For each employee the number of territories in each region. Ids stay texts, as in the files."""
    lines = _lines(folder, "territories", notes)
    regions = {line.cells["territoryID"]: line.cells["regionID"] for line in lines}
    covered: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in _lines(folder, "employee-territories", notes):
        employee, territory = line.cells["employeeID"], line.cells["territoryID"]
        if territory in regions:
            covered[employee][regions[territory]] += 1
        else:
            text = f"unknown territory {territory!r} of employee {employee}, not counted"
            notes.append(Note("reported", "employee-territories.csv", line.number, text))
    return covered


def _most_covered(territories: Counter[str], regions: dict[str, str]) -> str | None:
    """The region that most of the territories lie in; of equals, the one that comes first in regions.csv."""
    best = max(regions, key=lambda number: territories[number], default="")
    return regions[best] if territories[best] else None


def _employee(line: Line, region: str | None) -> Employee:
    cells = line.cells
    if not cells["employeeID"].isdecimal():
        raise DataError(f"employees.csv line {line.number}: {cells['employeeID']!r} is no employee number")
    role = role_of(cells["title"])
    return Employee(
        number=int(cells["employeeID"]),
        username=username(cells["firstName"], cells["lastName"]),
        name=f"{cells['firstName']} {cells['lastName']}",
        title=cells["title"],
        role=role,
        region=region,
    )


def role_of(title: str) -> str:
    """`vice-president`, `manager` or, for everyone else, `representative`: the role that sees least."""
    if title.startswith("Vice President"):
        return "vice-president"
    return "manager" if "Manager" in title else "representative"


def username(first: str, last: str) -> str:
    """`nancy.davolio`: lower case, accents folded, nothing but letters and digits around the dot."""

    def plain(name: str) -> str:
        folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        return "".join(filter(str.isalnum, folded))

    return f"{plain(first)}.{plain(last)}"


def _customers(folder: Path, employees: tuple[Employee, ...], notes: list[Note]) -> tuple[Customer, ...]:
    lines: dict[str, Line] = {}
    for line in _lines(folder, "customers", notes, trusted=2):
        code = line.cells["customerID"]
        if not code or code in lines:
            why = f"{code} again, the first line is kept" if code else "no customerID, left out"
            notes.append(Note("reported", "customers.csv", line.number, why))
            continue
        lines[code] = line
    head = next((person for person in employees if person.role == "vice-president"), None)
    if head is None:
        raise DataError(f"{folder / 'employees.csv'}: no vice president to take customers without orders")
    orders = _orders(folder, set(lines), {str(person.number): person.number for person in employees}, notes)
    return tuple(_customer(line, orders[code], head, notes) for code, line in lines.items())


def _orders(
    folder: Path, customers: set[str], employees: dict[str, int], notes: list[Note]
) -> defaultdict[str, list[tuple[int, str]]]:
    """For each customer the employee and the ship name of every order that names a known one of both."""
    orders: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    seen = set()
    for line in _lines(folder, "orders", notes, trusted=3):
        order, customer, employee = (line.cells[name] for name in ("orderID", "customerID", "employeeID"))
        if order in seen or customer not in customers or employee not in employees:
            why = "again" if order in seen else f"of unknown customer {customer!r} or employee {employee!r}"
            notes.append(Note("reported", "orders.csv", line.number, f"order {order} {why}, not counted"))
            continue
        seen.add(order)
        orders[customer].append((employees[employee], line.cells["shipName"]))
    return orders


def most_orders(employees: Iterable[int]) -> int:
    """The employee number that occurs most; of equals the lowest. Raises ValueError without any."""
    counted = Counter(employees)
    return min(counted, key=lambda number: (-counted[number], number))


def _customer(line: Line, orders: list[tuple[int, str]], head: Employee, notes: list[Note]) -> Customer:
    cells = line.cells
    code = cells["customerID"]
    name = cells["companyName"] or code
    shipped = sorted({ship for _, ship in orders if ship})
    if shipped and name not in shipped:
        text = f"{code} is {name!r} here and {' or '.join(map(repr, shipped))} on its orders, kept as here"
        notes.append(Note("reported", "customers.csv", line.number, text))
    if not orders:
        text = f"{code} never ordered: goes to {head.name}"
        notes.append(Note("decided", "customers.csv", line.number, text))
    return Customer(
        code=code,
        name=name,
        phone=cells["phone"],
        address=", ".join(filter(None, (cells[part] for part in ADDRESS))),
        tags=tuple(filter(None, ("Northwind", cells["country"]))),
        remark=_remark(cells),
        employee=most_orders(employee for employee, _ in orders) if orders else head.number,
    )


def _remark(cells: dict[str, str]) -> str:
    contact = ", ".join(filter(None, (cells["contactName"], cells["contactTitle"])))
    parts = {"Contact": contact, "Fax": cells["fax"], "As in the file": cells.get(LEFT_OVER, "")}
    return "; ".join(f"{label}: {text}" for label, text in parts.items() if text)
