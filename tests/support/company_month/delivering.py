"""Sales orders of the month, and the goods that go out for them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.support.company_month.company import Company
from tests.support.company_month.founding import BEARING, BRACKET, MAIN
from tests.support.company_month.selling import DEALS, Deal

ORDERS = "/api/v1/inventory/sales-orders"
PRICES = {BRACKET: Decimal("100.00"), BEARING: Decimal("40.50")}


async def order(company: Company) -> None:
    """Sellers order for their customers, and the storekeeper delivers what is to go out now."""
    for deal in DEALS:
        user = company[deal.seller]
        line = {"product_id": await user.pick("inventory_products", deal.product), "quantity": str(deal.ordered)}
        body: dict[str, Any] = {
            "customer_name": deal.customer,
            "customer_id": await user.pick("crm_customers", deal.customer),
            "salesperson_id": user.id,
            "warehouse_id": await user.pick("inventory_warehouses", MAIN),
            "ordered_on": company.dates.day(deal.signed - 2),
            "lines": [line],
        }
        made = await user.post(ORDERS, body)
        await user.post(f"{ORDERS}/{made['id']}/confirm")
        company.ids[f"order {deal.customer}"] = made["id"]
        [customer] = company.ledger.of("customer", name=deal.customer)
        company.ledger.note(
            "sale",
            deal.seller,
            name=customer["name"],
            amount=deal.ordered * PRICES[deal.product],
            day=body["ordered_on"],
        )
        if deal.delivered:
            await deliver(company, deal, deal.delivered)
        if 0 < deal.delivered < deal.ordered:
            await user.post(f"{ORDERS}/{made['id']}/close")
            company.ledger.of("sale", name=deal.customer)[0].values["amount"] = deal.delivered * PRICES[deal.product]


async def deliver(company: Company, deal: Deal, quantity: int) -> None:
    """The storekeeper delivers goods of an order."""
    keeper = company["zhu"]
    [found] = [one for one in await keeper.rows(f"{ORDERS}?status=confirmed") if one["customer_name"] == deal.customer]
    line = {"product_id": company.ids[deal.product], "quantity": str(quantity)}
    await keeper.post(f"{ORDERS}/{found['id']}/deliver", {"lines": [line], "day": company.dates.day(2)})
    company.ledger.stock[MAIN].take(deal.product, Decimal(quantity))


async def deliver_for_heir(company: Company) -> None:
    """The goods go out that a seller had ordered who has left since."""
    [deal] = [one for one in DEALS if one.seller == "sun"]
    await deliver(company, deal, deal.ordered)
