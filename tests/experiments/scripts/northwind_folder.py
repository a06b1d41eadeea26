"""Where the Northwind files are (TRADEWIND_NORTHWIND, else beside the repository in ../shared/northwind), what is in
them by a reader of its own, and the command that brings them into a service.
"""

import asyncio
import csv
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("TRADEWIND_NORTHWIND") or ROOT.parent / "shared" / "northwind")

needs_folder = pytest.mark.skipif(
    not (FOLDER / "customers.csv").is_file(),
    reason=f"no Northwind files in {FOLDER}; set TRADEWIND_NORTHWIND to their folder",
)


class Run(NamedTuple):
    """How a run of the command ended and what it said."""

    code: int
    out: str
    err: str


async def northwind(*arguments: object, admin_password: str = "") -> Run:
    """Run the command without ever blocking the loop: the service may live on it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.experiments.northwind_load"),
        *map(str, arguments),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TRADEWIND_ADMIN_PASSWORD": admin_password, "PYTHONUTF8": "1"},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Run(process.returncode, out.decode(), err.decode())


def rows(folder: Path, name: str) -> Iterator[list[str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from list(csv.reader(file))[1:]


def copy_since(day: str, folder: Path, target: Path) -> Path:
    """The files with the orders that were made since `day`, or since that of TRADEWIND_NORTHWIND_SINCE.

    All orders, from 1996-01-01 on, take minutes.
    """
    since = os.environ.get("TRADEWIND_NORTHWIND_SINCE", day)
    shutil.copytree(folder, target)
    head, *lines = (folder / "orders.csv").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.split(",")[3] >= since]
    (target / "orders.csv").write_text("".join([head, *kept]), "utf-8")
    return target


def costs(folder: Path) -> dict[str, Decimal]:
    """What each order costs: each line to the cent, half a cent up, by the CSV files alone."""
    orders = {row[0] for row in rows(folder, "orders")}
    found: dict[str, Decimal] = defaultdict(Decimal)
    for order, _, unit_price, quantity, discount in rows(folder, "order-details"):
        if order not in orders:
            continue
        exact = Decimal(unit_price) * Decimal(quantity) * (1 - Decimal(discount))
        found[order] += exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return dict(found)
