"""Migrations of older databases: whose payments and contracts are in sales rankings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from plugins.api import Collection, Service
from plugins.api.data import Migration, Stage
from plugins.crm.contract_records import CONTRACTS, PAYMENTS

_CAME_INTO_FORCE = {"status": {"$in": ["in_force", "completed", "terminated"]}}


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(PAYMENTS, partial(_name, service, PAYMENTS), {"salesperson_id": None})
    yield Stage(CONTRACTS, partial(_name, service, CONTRACTS), {"salesperson_id": None, **_CAME_INTO_FORCE})


MIGRATIONS = (
    Migration(
        "2026-11-salespeople",
        "Gives payments and contracts their salesperson: the owner of now, as earlier owners cannot be told.",
        _stages,
    ),
)


async def _name(service: Service, collection: Collection, rows: Sequence[dict[str, Any]]) -> int:
    """Make the owners of these records their salespeople."""
    these = {"_id": {"$in": [row["_id"] for row in rows]}, "salesperson_id": None, "owner_id": {"$ne": None}}
    change = [{"$set": {"salesperson_id": "$owner_id"}}]
    return await service.database.driver.update_many(collection.name, these, change)
