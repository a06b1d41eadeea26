"""Compares what the service acknowledged with what is in the database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from bson import ObjectId
from pymongo import MongoClient, ReadPreference
from pymongo.database import Database
from pymongo.read_concern import ReadConcern

from tests.experiments.fault_injection.load import Load, State

_DATABASE = "tradewind"


class Verdict:
    """The number of writes that were compared, and those that differ from what was acknowledged."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.faults: list[tuple[Any, ...]] = []

    def compare(self, what: str, facts: Mapping[str, State], stored: Iterable[str]) -> None:
        """Check that every acknowledged mark is stored once, no mark twice, and no refused mark at all."""
        counts = Counter(stored)
        for mark, state in facts.items():
            count = counts[mark]
            self.acknowledged += state == "acknowledged"
            if count > 1:
                self.faults.append((f"{what} stored twice", mark, state, count))
            elif state == "acknowledged" and count == 0:
                self.faults.append((f"{what} lost", mark))
            elif state == "refused" and count:
                self.faults.append((f"{what} refused, and stored", mark))


def verify(load: Load, uri: str, name: str = _DATABASE) -> Verdict:
    """Look up every write of a load that has stopped."""
    verdict = Verdict()
    with MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=40_000) as client:
        database = client.get_database(
            name, read_concern=ReadConcern("majority"), read_preference=ReadPreference.PRIMARY
        )
        marked = {"$regex": f"^{load.mark}"}
        customers = database.crm_customers.find({"code": marked, "deleted": False}, {"code": 1})
        verdict.compare("customer", load.facts.customers, (row["code"] for row in customers))
        vouchers = list(database.finance_vouchers.find({"counterparty": marked}, {"counterparty": 1, "number": 1}))
        verdict.compare("voucher", load.facts.vouchers, (row["counterparty"] for row in vouchers))
        if len({row["number"] for row in vouchers}) != len(vouchers):
            verdict.faults.append(("two vouchers have one number",))
        verdict.compare("shipment", load.facts.shipped, _shipments(database))
        agreed = database.approval_instances.find({"title": marked, "status": "approved"}, {"_id": 1})
        verdict.compare("approval", load.facts.agreed, (str(row["_id"]) for row in agreed))
        _verify_payments(load, database, verdict)
        _verify_patches(load, database, verdict)
    return verdict


def _shipments(database: Database[dict[str, Any]]) -> list[str]:
    """Return the order id of each receipt and delivery."""
    collections = (database.inventory_receipts, database.inventory_deliveries)
    return [str(row["order_id"]) for collection in collections for row in collection.find({}, {"order_id": 1})]


def _verify_payments(load: Load, database: Database[dict[str, Any]], verdict: Verdict) -> None:
    marked = {"$regex": f"^{load.mark}"}
    sums: dict[ObjectId, Decimal] = defaultdict(Decimal)
    stored = []
    for row in database.crm_payments.find({"remark": marked, "deleted": False}):
        stored.append(row["remark"])
        sums[row["contract_id"]] += row["amount"].to_decimal()
    verdict.compare("payment", load.facts.payments, stored)
    for row in database.crm_contracts.find({"name": marked, "deleted": False}, {"received_amount": 1}):
        if row["received_amount"].to_decimal() != sums[row["_id"]]:
            verdict.faults.append(("a contract's sum is wrong", str(row["_id"])))


def _verify_patches(load: Load, database: Database[dict[str, Any]], verdict: Verdict) -> None:
    for record in load.facts.patched.values():
        row = database.crm_customers.find_one({"_id": ObjectId(record.id)}, {"version": 1, "remark": 1})
        verdict.acknowledged += 1
        if row is None or row["version"] < record.version:
            verdict.faults.append(("a change was lost", record, row))
        elif row["version"] == record.version and record.remark and row["remark"] != record.remark:
            verdict.faults.append(("another change took its place", record, row))
        elif row["version"] > record.version and row["remark"] not in record.maybe:
            verdict.faults.append(("a change that nobody sent", record, row))
