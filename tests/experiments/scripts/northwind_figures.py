"""What the dashboards show of the Northwind company, from the CSV files alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.experiments.scripts.northwind_folder import costs, rows

TODAY = datetime.now(UTC).astimezone(ZoneInfo("Asia/Shanghai")).date()
ZERO = Decimal(0)


class Files:
    """What the files say, with all days moved so that the last order was made today."""

    def __init__(self, folder: Path) -> None:
        self.cost = costs(folder)
        orders = list(rows(folder, "orders"))
        self._later = TODAY - max(date.fromisoformat(row[3][:10]) for row in orders)
        self.seller = {row[0]: row[2] for row in orders}
        self.ordered = {row[0]: self._day(row[3]) for row in orders}
        self.shipped = {row[0]: self._day(row[5]) for row in orders if row[5] != "NULL"}
        self.products = list(rows(folder, "products"))
        self.hired = {row[0]: self._day(row[6]) for row in rows(folder, "employees")}
        self.names = {row[0]: f"{row[2]} {row[1]}" for row in rows(folder, "employees")}
        region = {row[0]: row[2] for row in rows(folder, "territories")}
        titles = dict(rows(folder, "regions"))
        self.department = {row[0]: titles[region[row[1]]] for row in rows(folder, "employee-territories")}

    def _day(self, moment: str) -> str:
        return (date.fromisoformat(moment[:10]) + self._later).isoformat()

    def received(self) -> Iterator[tuple[str, str, Decimal]]:
        """Seller, day and amount of each payment: an order is paid in full when it is shipped."""
        return ((self.seller[one], day, self.cost[one]) for one, day in self.shipped.items())

    def signed(self) -> Iterator[tuple[str, str, Decimal]]:
        """Seller, day and amount of each contract: every order is one."""
        return ((self.seller[one], day, self.cost[one]) for one, day in self.ordered.items())


def money(amounts: Iterable[Decimal]) -> str:
    return f"{sum(amounts, ZERO):.2f}"


def months(count: int) -> list[str]:
    last = TODAY.year * 12 + TODAY.month - 1
    return [f"{month // 12}-{month % 12 + 1:02}" for month in range(last - count + 1, last + 1)]


def by_month(rows: Iterable[tuple[str, str, Decimal]]) -> Mapping[str, list[Decimal]]:
    found = defaultdict(list)
    for _, day, amount in rows:
        found[day[:7]].append(amount)
    return found


def ranked(files: Files, rows: Iterable[tuple[str, str, Decimal]]) -> list[tuple[str, str, int]]:
    amounts = defaultdict(list)
    for seller, _, amount in rows:
        amounts[seller].append(amount)
    order = sorted(amounts, key=lambda seller: -sum(amounts[seller]))
    return [(files.names[seller], money(amounts[seller]), len(amounts[seller])) for seller in order]
