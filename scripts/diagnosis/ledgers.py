"""What `scripts/verify-ledgers` does: add up every entry and compare it with what the service keeps as the sum.

Stock against its ledger, account balances against vouchers, paid invoices and payables against their vouchers, voucher
numbers against their periods, what was received of contracts and payment plans against the payments. Reads one database
and changes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable, Driver, open_driver
from config.embedded import EmbeddedError
from config.settings import Settings
from handlers.schema.money import exact
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.finance.documents import INVOICES, OPEN_ITEMS
from plugins.finance.records import ACCOUNTS, PERIODS, VOUCHERS
from plugins.finance.vouchers import compute_balance_changes
from plugins.inventory.records import STOCK, STOCK_ENTRIES
from scripts.diagnosis.report import database_uri

_LIVE = {"deleted": False}
_TIMEOUT_MS = 60_000


def main(arguments: Sequence[str]) -> int:
    """Print every difference; 0 when there is none, 1 when there is, 2 when the database cannot be read."""
    parser = argparse.ArgumentParser(
        prog="scripts/verify-ledgers",
        description="Compares stock with its ledger and balances with vouchers, in the server's database.",
    )
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    given: dict[str, Any] = {"demo": True} if chosen.demo else {}
    try:
        settings = Settings(**given)
        with database_uri(settings) as uri:
            if uri is None:
                raise EmbeddedError(f"there is no database in {settings.data_dir}")
            found = asyncio.run(_verified(settings, uri))
    except (ValidationError, EmbeddedError, ValueError, DatabaseUnavailable) as error:
        print(f"verify-ledgers: {error}", file=sys.stderr)
        return 2
    print("\n".join(found) or "Stock, balances, voucher numbers and what was paid agree with their entries.")
    return 1 if found else 0


async def _verified(settings: Settings, uri: str) -> list[str]:
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, _TIMEOUT_MS)
    try:
        return await differences(driver)
    finally:
        await driver.close()


async def differences(driver: Driver) -> list[str]:
    """A sentence for everything that does not agree, all of it read at one moment."""

    async def read() -> list[str]:
        return [
            *await _stock(driver),
            *await _balances(driver),
            *await _paid(driver, INVOICES.name, "invoice", VOUCHERS.name, "invoice_id"),
            *await _paid(driver, OPEN_ITEMS.name, "payable", VOUCHERS.name, "open_item_id", {"paid_elsewhere": False}),
            *await _paid(driver, CONTRACTS.name, "contract", PAYMENTS.name, "contract_id", field="received_amount"),
            *await _paid(driver, PLANS.name, "payment plan", PAYMENTS.name, "plan_id", field="paid_amount"),
            *await _numbers(driver),
        ]

    return await driver.transaction(read)


async def _stock(driver: Driver) -> list[str]:
    place = {"product_id": "$product_id", "warehouse_id": "$warehouse_id"}
    sums = {"quantity": {"$sum": "$quantity"}, "value": {"$sum": "$value"}}
    rows = await driver.aggregate(STOCK_ENTRIES.name, [{"$match": _LIVE}, {"$group": {"_id": place, **sums}}])
    entered = {_place(row["_id"]): row for row in rows}
    kept = {_place(row): row for row in await driver.find(STOCK.name, _LIVE)}
    found = []
    for product_id, warehouse_id in sorted(entered.keys() | kept.keys()):
        row = kept.get((product_id, warehouse_id), {})
        name = f"stock of product {product_id} in warehouse {warehouse_id}"
        ledger = entered.get((product_id, warehouse_id), {})
        found += [fault for field in sums for fault in _unlike(name, field, row.get(field), ledger.get(field))]
        if exact(row.get("quantity")) < 0:
            found.append(f"{name}: the quantity {row['quantity']} is below zero")
    return found


def _place(document: Mapping[str, Any]) -> tuple[Any, Any]:
    return document["product_id"], document["warehouse_id"]


async def _balances(driver: Driver) -> list[str]:
    sides = {"account_id": "$account_id", "to_account_id": "$to_account_id", "kind": "$kind"}
    rows = await driver.aggregate(
        VOUCHERS.name, [{"$match": _LIVE}, {"$group": {"_id": sides, "amount": {"$sum": "$amount"}}}]
    )
    booked: dict[Any, Decimal] = defaultdict(Decimal)
    for row in rows:
        for account_id, change in compute_balance_changes({**row["_id"], "amount": row["amount"]}).items():
            booked[account_id] += change
    kept = {account["_id"]: account["balance"] for account in await driver.find(ACCOUNTS.name, _LIVE)}
    return [
        fault
        for id in sorted(booked.keys() | kept.keys())
        for fault in _unlike(f"account {id}", "balance", kept.get(id), booked[id])
    ]


async def _paid(
    driver: Driver,
    of: str,
    noun: str,
    entries: str,
    named_by: str,
    which: Mapping[str, Any] | None = None,
    field: str = "paid",
) -> list[str]:
    """What is kept as paid in `field` against the entries that name the document in `named_by`."""
    sums = {"$group": {"_id": f"${named_by}", "amount": {"$sum": "$amount"}}}
    rows = await driver.aggregate(entries, [{"$match": {**_LIVE, named_by: {"$ne": None}}}, sums])
    entered = {row["_id"]: row["amount"] for row in rows}
    return [
        fault
        for one in await driver.find(of, {**_LIVE, **(which or {})}, fields=[field])
        for fault in _unlike(f"{noun} {one['_id']}", field, one[field], entered.get(one["_id"]))
    ]


async def _numbers(driver: Driver) -> list[str]:
    """Months whose vouchers are not numbered from 1 up to the last: numbers are unique, so counting them tells."""
    month = {"$group": {"_id": {"$substrBytes": ["$number", 0, 7]}, "count": {"$sum": 1}, "last": {"$max": "$number"}}}
    given = {row["_id"]: row for row in await driver.aggregate(VOUCHERS.name, [month])}
    last = {period["_id"]: period["last_number"] for period in await driver.find(PERIODS.name, _LIVE)}
    found = []
    for name in sorted(given.keys() | last.keys()):
        row = given.get(name, {"count": 0, "last": f"{name}-0"})
        highest = int(row["last"].rpartition("-")[2])
        if not row["count"] == highest == last.get(name, 0):
            found.append(
                f"period {name}: {row['count']} vouchers, the highest number is {highest}, "
                f"the last one given {last.get(name, 0)}"
            )
    return found


def _unlike(name: str, field: str, kept: Any, entered: Any) -> list[str]:
    amounts = [value if isinstance(value, Decimal) else exact(value) for value in (kept, entered)]
    if amounts[0] == amounts[1]:
        return []
    return [f"{name}: the {field} is {amounts[0]:f}, its entries add up to {amounts[1]:f}"]
