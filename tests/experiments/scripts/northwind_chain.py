"""What the books of the Northwind company show, from the CSV files alone, by the rules that `--books` states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import NamedTuple

from tests.experiments.scripts.northwind_figures import ZERO
from tests.experiments.scripts.northwind_folder import costs, rows

LAST = date(1998, 5, 6)  # the day of the last order
BUCKETS = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90")
TERMS = timedelta(days=14)


class Move(NamedTuple):
    """What changes on a day between the company and a customer; `due` is None for an advance."""

    customer: str
    day: date
    due: date | None
    amount: Decimal


class Chain:
    """The orders that the files hold, what was delivered of them, and what their customers pay by habit."""

    def __init__(self, folder: Path) -> None:
        orders, cost = list(rows(folder, "orders")), costs(folder)
        self.customer = {row[0]: row[1] for row in orders}
        self.freight = {row[0]: Decimal(row[7]) for row in orders}
        self.price = {one: cost[one] + self.freight[one] for one in self.freight}
        self.place = {row[0]: place for place, row in enumerate(rows(folder, "customers"))}
        self.shipped = {row[0]: date.fromisoformat(row[5][:10]) for row in orders if row[5] != "NULL"}
        self.moves = [*self._deliveries(), *self._payments()]

    def discounts(self, folder: Path) -> Decimal:
        """What the discounts take off the prices, each line to the cent."""
        found = ZERO
        for order, _, unit_price, quantity, discount in rows(folder, "order-details"):
            if order in self.customer:
                full = Decimal(unit_price) * Decimal(quantity)
                found += full - (full * (1 - Decimal(discount))).quantize(Decimal("0.01"), ROUND_HALF_UP)
        return found

    def _deliveries(self) -> Iterator[Move]:
        for order, day in self.shipped.items():
            yield Move(self.customer[order], day, day + TERMS, self.price[order])

    def _payments(self) -> Iterator[Move]:
        """At the ends of months: what is due, what is due for a month, half of it, or more of it in full hundreds."""
        self.paid: dict[str, Decimal] = defaultdict(Decimal)
        bundles: dict[tuple[str, date], list[str]] = defaultdict(list)
        for order, day in self.shipped.items():
            late = timedelta(days=30 if self.place[self.customer[order]] % 4 == 1 else 0)
            bundles[self.customer[order], _end_of_month(day + TERMS + late)].append(order)
        for (customer, day), orders in bundles.items():
            if day > LAST:
                continue
            habit, total = self.place[customer] % 4, ZERO
            for order in orders:
                part = self.price[order]
                if habit == 2:
                    part = (part / 2).quantize(Decimal("0.01"), ROUND_HALF_UP)
                self.paid[order] += part
                total += part
                yield Move(customer, day, self.shipped[order] + TERMS, -part)
            if habit == 3 and total % 100:
                yield Move(customer, day, None, -(100 - total % 100))

    def received(self) -> Decimal:
        """All that was paid."""
        return -sum((move.amount for move in self.moves if move.amount < 0), ZERO)

    def ageing(self, on: date) -> dict[str, dict[str, str]]:
        """What is open on a day, by customer, as the service writes it; customers with nothing are left out."""
        found: dict[str, dict[str, Decimal]] = defaultdict(lambda: dict.fromkeys((*BUCKETS, "advances"), ZERO))
        for move in self.moves:
            if move.day > on:
                continue
            if move.due is None:
                found[move.customer]["advances"] -= move.amount
            else:
                past = max((on - move.due).days, 0)
                found[move.customer][BUCKETS[min(-(-past // 30), 4)]] += move.amount
        return {
            customer: {name: f"{amount:.2f}" for name, amount in sums.items()}
            | {"total": f"{sum(sums[name] for name in BUCKETS):.2f}"}
            for customer, sums in found.items()
            if any(sums.values())
        }

    def statement(self, customer: str) -> list[tuple[str, str, str]]:
        """Day, debit and credit of everything between the company and a customer."""
        return sorted(
            (move.day.isoformat(), f"{max(move.amount, ZERO):.2f}", f"{max(-move.amount, ZERO):.2f}")
            for move in self.moves
            if move.customer == customer
        )


def _end_of_month(day: date) -> date:
    while day.month == (day + timedelta(days=1)).month:
        day += timedelta(days=1)
    return day
