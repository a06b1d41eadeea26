"""Reads the Northwind orders with their lines. Pure: no network, nothing printed.

A line costs unitPrice x quantity x (1 - discount), rounded to the cent, half a cent away from zero; an order costs
the sum of its lines. That is the service's own rule (`handlers/schema/money.py`). Freight is added to it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

from tests.experiments.northwind_load.files import Note, day_of, lines_of

CENT = Decimal("0.01")
_WHOLE_BEFORE_ADDRESS = 6  # the number of columns before the first text that may contain a comma


@dataclass(frozen=True)
class OrderLine:
    """A quantity of a product, at a price less a discount (a fraction); `amount` is the cost of the line."""

    product: str
    unit_price: Decimal
    quantity: Decimal
    discount: Decimal

    @property
    def amount(self) -> Decimal:
        """The cost, rounded to the cent."""
        return price(self.unit_price, self.quantity, self.discount)


@dataclass(frozen=True)
class Order:
    """An order; days are written as `1996-07-04`, None if the file has none. `shipped` is the day of the delivery."""

    number: str
    customer: str
    employee: int
    ship_name: str
    ordered: str | None
    required: str | None
    shipped: str | None
    lines: tuple[OrderLine, ...]
    freight: Decimal = Decimal(0)

    @property
    def amount(self) -> Decimal:
        """The cost of the lines, without freight."""
        return sum((line.amount for line in self.lines), Decimal(0))


def read_orders(
    folder: Path, customers: Collection[str], employees: Mapping[str, int], notes: list[Note]
) -> tuple[Order, ...]:
    """Return every order that refers to a known customer and employee, in the order of the file."""
    orders: dict[str, Order] = {}
    details = _details(folder, notes)
    for line in lines_of(folder, "orders", notes, trusted=_WHOLE_BEFORE_ADDRESS):
        number, customer, employee = (line.cells[name] for name in ("orderID", "customerID", "employeeID"))
        if number in orders or customer not in customers or employee not in employees:
            why = "again" if number in orders else f"of unknown customer {customer!r} or employee {employee!r}"
            notes.append(Note("reported", "orders.csv", line.number, f"order {number} {why}, not counted"))
            continue
        if number not in details:
            notes.append(
                Note("reported", "orders.csv", line.number, f"order {number} has no lines, no contract for it")
            )
        orders[number] = Order(
            number=number,
            customer=customer,
            employee=employees[employee],
            ship_name=line.cells["shipName"],
            ordered=day_of(line.cells["orderDate"]),
            required=day_of(line.cells["requiredDate"]),
            shipped=day_of(line.cells["shippedDate"]),
            lines=tuple(details.get(number, ())),
            freight=_freight(line.cells.get("freight", "")),
        )
    return tuple(orders.values())


def price(unit_price: Decimal, quantity: Decimal, discount: Decimal) -> Decimal:
    """Return the cost of a line, to the cent; `discount` is a fraction, 0.15 for fifteen percent."""
    return (unit_price * quantity * (1 - discount)).quantize(CENT, ROUND_HALF_UP)


def _freight(cell: str) -> Decimal:
    """Return the freight of an order; zero if the cell has no amount."""
    try:
        return Decimal(cell).quantize(CENT, ROUND_HALF_UP)
    except InvalidOperation:
        return Decimal(0)


def _details(folder: Path, notes: list[Note]) -> dict[str, list[OrderLine]]:
    """Return the lines of each order, by its number."""
    details: defaultdict[str, list[OrderLine]] = defaultdict(list)
    for line in lines_of(folder, "order-details", notes):
        try:
            numbers = [Decimal(line.cells[name]) for name in ("unitPrice", "quantity", "discount")]
        except InvalidOperation:
            text = f"a line of order {line.cells['orderID']} has something that is no number, not counted"
            notes.append(Note("reported", "order-details.csv", line.number, text))
            continue
        details[line.cells["orderID"]].append(OrderLine(line.cells["productID"], *numbers))
    return dict(details)
