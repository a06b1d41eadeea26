"""Runs the migrations of a server as its instances do, without waiting for each other."""

from __future__ import annotations

from handlers.operations.migrations import Migrations, Progress
from handlers.service import Service
from plugins.finance.migrations import FILLING

OF_FILLING = {"_id": {"$regex": f"^{FILLING.name}/"}}
SALES_ORDERS = f"{FILLING.name}/inventory_sales_orders"  # how far they were looked through


async def fill(service: Service) -> None:
    """Do what is due."""
    await service.part(Migrations)._run_all(Progress(), contract=False, wanted=("due",), tell=None)
