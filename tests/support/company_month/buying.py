"""Purchases of the month: orders and their approval, receipts, what the stock count finds, and what is paid."""

from __future__ import annotations

from decimal import Decimal

from tests.support.company_month.company import Company
from tests.support.company_month.founding import BEARING, BEARINGS, BRACKET, MAIN, SPARES, STEEL
from tests.support.company_month.recorder import Record

INVENTORY, FINANCE = "/api/v1/inventory", "/api/v1/finance"
ORDERS = f"{INVENTORY}/purchase-orders"
Lines = tuple[tuple[str, int, str], ...]  # product, quantity, price


async def buy(company: Company) -> None:
    """The purchaser orders, superiors approve, the storekeeper receives."""
    small = await _order(company, BEARINGS, 22, ((BRACKET, 200, "60.00"), (BEARING, 400, "22.25")))
    await company.decide("han", small, ORDERS)
    await _receive(company, small, 20, ((BRACKET, 150, "60.00"), (BEARING, 400, "22.25")))
    await _receive(company, small, 18, ((BRACKET, 50, "60.00"),))
    large = await _order(company, STEEL, 17, ((BRACKET, 800, "65.00"),))
    await company.decide("han", large, ORDERS)
    await company.decide("chen", large, ORDERS)
    await _receive(company, large, 11, ((BRACKET, 800, "65.00"),))
    refused = await _order(company, STEEL, 9, ((BEARING, 10, "30.00"),), agreed=False)
    await company.decide("han", refused, ORDERS, "reject")
    shown = await company["yang"].get(f"{ORDERS}/{refused['id']}")
    assert (shown["status"], shown["reason"]) == ("draft", "已核对")


async def _order(company: Company, supplier: str, ago: int, lines: Lines, agreed: bool = True) -> Record:
    yang = company["yang"]
    body = {
        "supplier_id": await yang.pick("inventory_suppliers", supplier),
        "warehouse_id": await yang.pick("inventory_warehouses", MAIN),
        "ordered_on": company.dates.day(ago),
        "lines": [
            {"product_id": await yang.pick("inventory_products", name), "quantity": str(quantity), "price": price}
            for name, quantity, price in lines
        ],
    }
    made: Record = await yang.post(ORDERS, body)
    await yang.post(f"{ORDERS}/{made['id']}/submit")
    if agreed:
        amount = sum((quantity * Decimal(price) for _, quantity, price in lines), Decimal(0))
        company.ledger.note("purchase", "yang", amount=amount, day=body["ordered_on"])
    company.ids[f"purchase {supplier}"] = made["id"]
    return made


async def _receive(company: Company, order: Record, ago: int, lines: Lines) -> None:
    body = {
        "day": company.dates.day(ago),
        "lines": [{"product_id": company.ids[name], "quantity": str(quantity)} for name, quantity, _ in lines],
    }
    await company["zhu"].post(f"{ORDERS}/{order['id']}/receive", body)
    for name, quantity, price in lines:
        company.ledger.stock[MAIN].put(name, Decimal(quantity), quantity * Decimal(price))


async def count(company: Company) -> None:
    """Spares move to their own store, whose keeper misses one; the storekeeper misses three brackets."""
    main, spares = company.ledger.stock[MAIN], company.ledger.stock[SPARES]
    zhu, qin = company["zhu"], company["qin"]
    moved = {"product_id": await zhu.pick("inventory_products", BEARING), "quantity": "20"}
    body = {
        "from_warehouse_id": await zhu.pick("inventory_warehouses", MAIN),
        "to_warehouse_id": await zhu.pick("inventory_warehouses", SPARES),
        "lines": [moved],
    }
    await zhu.post(f"{INVENTORY}/transfers", body)
    spares.put(BEARING, Decimal(20), main.take(BEARING, Decimal(20)))
    [row] = await qin.rows(f"{INVENTORY}/stock?warehouse_id={company.ids[SPARES]}")
    assert row["quantity"] == "20"
    for user, warehouse, stock, product, missing in ((qin, SPARES, spares, BEARING, 1), (zhu, MAIN, main, BRACKET, 3)):
        line = {
            "product_id": await user.pick("inventory_products", product),
            "counted": str(stock.held[product][0] - missing),
        }
        at = await user.pick("inventory_warehouses", warehouse)
        await user.post(f"{INVENTORY}/stock-counts", {"warehouse_id": at, "lines": [line]})
        stock.take(product, Decimal(missing))


async def pay_suppliers(company: Company) -> None:
    """The cashier pays one supplier all, the other a part."""
    luo = company["luo"]
    account = await luo.pick("finance_accounts", "基本户")
    for supplier, owed, paid in ((BEARINGS, "20900.00", "20900.00"), (STEEL, "52000.00", "30000.00")):
        [item] = [one for one in await luo.rows(f"{FINANCE}/payables") if one["counterparty"] == supplier]
        assert item["amount"] == owed
        body = {"account_id": account, "amount": paid, "day": company.dates.day(4)}
        done = await luo.post(f"{FINANCE}/payables/{item['id']}/pay", body)
        assert done["status"] == ("paid" if owed == paid else "partly_paid")
        company.ledger.note("voucher", "luo", sign="expense", amount=Decimal(paid), day=company.dates.day(4))
