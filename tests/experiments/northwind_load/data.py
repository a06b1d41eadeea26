"""Reads the Northwind CSV files and repairs obvious faults. Pure: no network, nothing printed.

`read(folder)` returns regions, employees, customers, orders and goods, ready to be sent, and a note for every line that
was repaired, for every line that could not be, and for every choice that the files leave open.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from tests.experiments.northwind_load.files import ADDRESS, LEFT_OVER, DataError, Line, Note, day_of, lines_of
from tests.experiments.northwind_load.goods import Goods, read_goods
from tests.experiments.northwind_load.orders import Order, read_orders


@dataclass(frozen=True)
class Employee:
    """A person of the sales force; `region` is None for those who belong to the company as a whole."""

    number: int
    username: str
    name: str
    title: str
    role: str
    region: str | None
    hired: str | None


@dataclass(frozen=True)
class Customer:
    """A customer in the form that the service accepts, its contact, and the number of the employee who creates both."""

    code: str
    name: str
    phone: str
    address: str
    tags: tuple[str, ...]
    remark: str
    contact: str
    contact_title: str
    employee: int


@dataclass(frozen=True)
class Northwind:
    """The content of all files, in the order of the files."""

    regions: tuple[str, ...]
    employees: tuple[Employee, ...]
    customers: tuple[Customer, ...]
    orders: tuple[Order, ...]
    goods: Goods
    notes: tuple[Note, ...]


def read(folder: Path) -> Northwind:
    """Read everything in `folder`. Raises `DataError` for a file that is missing, unreadable or lacks a column."""
    notes: list[Note] = []
    lines = lines_of(folder, "regions", notes)
    regions = {line.cells["regionID"]: line.cells["regionDescription"] for line in lines}
    employees = _employees(folder, regions, notes)
    codes = _customer_lines(folder, notes)
    orders = read_orders(folder, codes, {str(person.number): person.number for person in employees}, notes)
    customers = _customers(folder, codes, employees, orders, notes)
    goods = read_goods(folder, notes)
    return Northwind(tuple(regions.values()), employees, customers, orders, goods, tuple(notes))


def until(northwind: Northwind, last: date) -> Northwind:
    """Return the same company with all days moved, so that the last order was made on the day `last`."""
    ordered = [date.fromisoformat(order.ordered) for order in northwind.orders if order.ordered]
    later = last - max(ordered, default=last)

    def moved(day: str | None) -> str | None:
        return (date.fromisoformat(day) + later).isoformat() if day else None

    orders = tuple(
        replace(one, ordered=moved(one.ordered), required=moved(one.required), shipped=moved(one.shipped))
        for one in northwind.orders
    )
    employees = tuple(replace(person, hired=moved(person.hired)) for person in northwind.employees)
    return replace(northwind, employees=employees, orders=orders)


def _employees(folder: Path, regions: dict[str, str], notes: list[Note]) -> tuple[Employee, ...]:
    territories = _territories(folder, notes)
    people = []
    for line in lines_of(folder, "employees", notes):
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
    """Return the number of territories in each region, by employee. Ids stay texts, as in the files."""
    lines = lines_of(folder, "territories", notes)
    regions = {line.cells["territoryID"]: line.cells["regionID"] for line in lines}
    covered: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines_of(folder, "employee-territories", notes):
        employee, territory = line.cells["employeeID"], line.cells["territoryID"]
        if territory in regions:
            covered[employee][regions[territory]] += 1
        else:
            text = f"unknown territory {territory!r} of employee {employee}, not counted"
            notes.append(Note("reported", "employee-territories.csv", line.number, text))
    return covered


def _most_covered(territories: Counter[str], regions: dict[str, str]) -> str | None:
    """Return the region with most of the territories; among equals, the one that comes first in regions.csv."""
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
        hired=day_of(cells["hireDate"]),
    )


def role_of(title: str) -> str:
    """Return `vice-president`, `manager` or, for everyone else, `representative`, the role that sees least."""
    if title.startswith("Vice President"):
        return "vice-president"
    return "manager" if "Manager" in title else "representative"


def username(first: str, last: str) -> str:
    """Return a name such as `nancy.davolio`: lower case, without accents, only letters and digits around the dot."""

    def plain(name: str) -> str:
        folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        return "".join(filter(str.isalnum, folded))

    return f"{plain(first)}.{plain(last)}"


def _customer_lines(folder: Path, notes: list[Note]) -> dict[str, Line]:
    """Return the line of each customer, by its code."""
    lines: dict[str, Line] = {}
    for line in lines_of(folder, "customers", notes, trusted=2):
        code = line.cells["customerID"]
        if not code or code in lines:
            why = f"{code} again, the first line is kept" if code else "no customerID, left out"
            notes.append(Note("reported", "customers.csv", line.number, why))
            continue
        lines[code] = line
    return lines


def _customers(
    folder: Path, lines: dict[str, Line], employees: Iterable[Employee], orders: Iterable[Order], notes: list[Note]
) -> tuple[Customer, ...]:
    head = next((person for person in employees if person.role == "vice-president"), None)
    if head is None:
        raise DataError(f"{folder / 'employees.csv'}: no vice president to take customers without orders")
    of_customer: defaultdict[str, list[Order]] = defaultdict(list)
    for order in orders:
        of_customer[order.customer].append(order)
    return tuple(_customer(line, of_customer[code], head, notes) for code, line in lines.items())


def most_orders(employees: Iterable[int]) -> int:
    """Return the most frequent employee number; among equals the lowest. Raises `ValueError` if there are none."""
    counted = Counter(employees)
    return min(counted, key=lambda number: (-counted[number], number))


def _customer(line: Line, orders: Sequence[Order], head: Employee, notes: list[Note]) -> Customer:
    cells = line.cells
    code = cells["customerID"]
    name = cells["companyName"] or code
    shipped = sorted({order.ship_name for order in orders if order.ship_name})
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
        contact=cells["contactName"],
        contact_title=cells["contactTitle"],
        employee=most_orders(order.employee for order in orders) if orders else head.number,
    )


def _remark(cells: dict[str, str]) -> str:
    parts = {"Fax": cells["fax"], "As in the file": cells.get(LEFT_OVER, "")}
    return "; ".join(f"{label}: {text}" for label, text in parts.items() if text)
